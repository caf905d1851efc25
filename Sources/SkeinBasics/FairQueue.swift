/// Things that wait: each owner's in their order, and the owners take turns, each with one. So an owner
/// with many keeps another waiting for one of them, not for all. Pure.
package struct FairQueue<Owner: Hashable, Item> {
    private var items: [Owner: Ring<Item>] = [:]
    /// Those with something that waits, the next one first.
    private var order = Ring<Owner>()
    package private(set) var count = 0

    package init() {}

    package mutating func add(_ item: Item, for owner: Owner) {
        if items[owner] == nil { order.append(owner) }
        items[owner, default: Ring()].append(item)
        count += 1
    }

    /// Takes out what is next; nil if nothing waits.
    package mutating func next() -> Item? {
        guard let owner = order.popFirst(), let item = items[owner]?.popFirst() else { return nil }
        count -= 1
        if items[owner]?.isEmpty ?? true {
            items[owner] = nil
        } else {
            order.append(owner)
        }
        return item
    }
}

extension FairQueue: Sendable where Owner: Sendable, Item: Sendable {}
