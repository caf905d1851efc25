/// First in, first out: an array's `removeFirst` would move all that stays.
package struct Ring<Element> {
    /// Those from `first` on, around the end, are taken; the others are nil, so that nothing outlives
    /// its removal.
    private var slots: [Element?] = []
    private var first = 0
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// All elements, the first one first.
    package var elements: [Element] {
        (0..<count).compactMap { slots[(first + $0) % slots.count] }
    }

    package mutating func append(_ element: Element) {
        if count == slots.count {
            slots = elements + [Element?](repeating: nil, count: max(4, count))
            first = 0
        }
        slots[(first + count) % slots.count] = element
        count += 1
    }

    /// Takes out the first element; nil if there is none.
    package mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        defer {
            slots[first] = nil
            first = (first + 1) % slots.count
            count -= 1
        }
        return slots[first]
    }
}

extension Ring: Sendable where Element: Sendable {}
