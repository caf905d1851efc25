/// Whose request it is, for those who take turns.
package enum RequestOwner: Hashable, Sendable {
    /// Without keys all requests are alike.
    case everybody
    case key(String)
}

/// Things that wait: each owner's in their order, and the owners take turns, each with one. So an owner
/// with many keeps another waiting for one of them, not for all. Pure.
package struct FairQueue<Owner: Hashable, Item> {
    /// Arrays and no slices, which would keep what was taken out of them: what waits is a few hundred.
    private var items: [Owner: [Item]] = [:]
    /// Those with something that waits, the next one first.
    private var order: [Owner] = []

    package init() {}

    package var count: Int { items.values.reduce(0) { $0 + $1.count } }

    package mutating func add(_ item: Item, for owner: Owner) {
        if items[owner] == nil { order.append(owner) }
        items[owner, default: []].append(item)
    }

    /// Takes out what is next; nil if nothing waits.
    package mutating func next() -> Item? {
        guard !order.isEmpty else { return nil }
        let owner = order.removeFirst()
        let item = items[owner]?.removeFirst()
        if items[owner]?.isEmpty ?? true {
            items[owner] = nil
        } else {
            order.append(owner)
        }
        return item
    }
}

extension FairQueue: Sendable where Owner: Sendable, Item: Sendable {}
