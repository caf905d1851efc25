/// Numbers of connections in the order in which they joined; each operation but `first(where:)` costs
/// the same however many there are. Pure.
struct WaitingQueue {
    private struct Place {
        var before: Int32 = -1
        var after: Int32 = -1
        var isTaken = false
    }

    private var places: [Place] = []
    private var head: Int32 = -1
    private var tail: Int32 = -1
    private(set) var count = 0

    /// Who joined first.
    var first: Int? { head < 0 ? nil : Int(head) }

    /// The first, in their order, for whom this holds.
    func first(where isWanted: (Int) -> Bool) -> Int? {
        var next = head
        while next >= 0 {
            if isWanted(Int(next)) { return Int(next) }
            next = places[Int(next)].after
        }
        return nil
    }

    /// The first ones in their order, at most `count`.
    func prefix(_ count: Int) -> [Int] {
        var slots: [Int] = []
        _ = first { slot in
            if slots.count < count { slots.append(slot) }
            return slots.count >= count
        }
        return slots
    }

    func contains(_ slot: Int) -> Bool { slot < places.count && places[slot].isTaken }

    /// Joins at the end, also from a place further ahead.
    mutating func join(_ slot: Int) {
        leave(slot)
        while places.count <= slot { places.append(Place()) }
        let number = Int32(slot)
        places[slot] = Place(before: tail, after: -1, isTaken: true)
        if tail >= 0 { places[Int(tail)].after = number } else { head = number }
        tail = number
        count += 1
    }

    /// Leaves; does nothing if it does not wait.
    mutating func leave(_ slot: Int) {
        guard contains(slot) else { return }
        let place = places[slot]
        if place.before >= 0 {
            places[Int(place.before)].after = place.after
        } else {
            head = place.after
        }
        if place.after >= 0 {
            places[Int(place.after)].before = place.before
        } else {
            tail = place.before
        }
        places[slot] = Place()
        count -= 1
    }
}
