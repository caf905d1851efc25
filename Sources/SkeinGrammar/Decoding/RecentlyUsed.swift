/// A cache with a limit on what its values weigh; the least recently used ones leave first.
struct RecentlyUsed<Key: Hashable, Value> {
    private struct Entry {
        var key: Key
        var value: Value
        var weight: Int
        var older: Int
        var newer: Int
    }

    /// The sum of weights that is never exceeded.
    let limit: Int
    private(set) var weight = 0
    private var places: [Key: Int] = [:]
    private var entries: [Entry?] = []
    private var free: [Int] = []
    private var oldest = -1
    private var newest = -1

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { places.count }

    /// The value of a key, which is now the most recently used.
    mutating func value(for key: Key) -> Value? {
        guard let place = places[key], let entry = entries[place] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return entry.value
    }

    /// Keeps a value, unless it weighs more than the limit by itself.
    mutating func insert(_ value: Value, for key: Key, weight: Int) {
        if let place = places[key] { remove(place) }
        guard weight <= limit else { return }
        while self.weight + weight > limit, oldest >= 0 { remove(oldest) }
        let entry = Entry(key: key, value: value, weight: weight, older: -1, newer: -1)
        let place: Int
        if let reused = free.popLast() {
            place = reused
            entries[place] = entry
        } else {
            place = entries.count
            entries.append(entry)
        }
        places[key] = place
        self.weight += weight
        link(place)
    }

    mutating func removeAll() {
        self = RecentlyUsed(limit: limit)
    }

    private mutating func remove(_ place: Int) {
        guard let entry = entries[place] else { return }
        unlink(place)
        places[entry.key] = nil
        weight -= entry.weight
        entries[place] = nil
        free.append(place)
    }

    private mutating func unlink(_ place: Int) {
        guard let entry = entries[place] else { return }
        if entry.older >= 0 {
            entries[entry.older]?.newer = entry.newer
        } else {
            oldest = entry.newer
        }
        if entry.newer >= 0 {
            entries[entry.newer]?.older = entry.older
        } else {
            newest = entry.older
        }
    }

    private mutating func link(_ place: Int) {
        entries[place]?.older = newest
        entries[place]?.newer = -1
        if newest >= 0 { entries[newest]?.newer = place } else { oldest = place }
        newest = place
    }
}
