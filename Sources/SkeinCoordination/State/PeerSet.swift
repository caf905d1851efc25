/// A set of peers that has the same order in every process.
struct PeerSet: Sendable {
    private(set) var members: [PeerID] = []
    private var places: [PeerID: Int] = [:]

    var isEmpty: Bool { members.isEmpty }
    var count: Int { members.count }

    func contains(_ peer: PeerID) -> Bool { places[peer] != nil }

    /// Adds or removes a peer; the last one fills the gap.
    mutating func set(_ peer: PeerID, _ isMember: Bool) {
        if isMember {
            guard places[peer] == nil else { return }
            places[peer] = members.count
            members.append(peer)
        } else {
            guard let place = places.removeValue(forKey: peer) else { return }
            let last = members.removeLast()
            if last != peer {
                members[place] = last
                places[last] = place
            }
        }
    }
}

/// A binary heap of indices, the smallest on top.
struct IndexHeap: Sendable {
    private var items: [Int] = []

    var top: Int? { items.first }

    mutating func push(_ item: Int) {
        items.append(item)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child] < items[parent] else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    mutating func pop() -> Int? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return first }
        items[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < items.count else { break }
            if child + 1 < items.count, items[child + 1] < items[child] { child += 1 }
            guard items[child] < items[parent] else { break }
            items.swapAt(child, parent)
            parent = child
        }
        return first
    }
}
