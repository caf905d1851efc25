import SkeinBasics
import SkeinTraining

/// A thread that handles items in order, one at a time: work that the network's thread must not do.
///
/// Its queue has no limit of its own; callers must bound what they give.
package final class SerialThread<Item: Sendable>: Sendable {
    private struct State: Sendable {
        var items: [Item] = []
        var isClosed = false
    }

    private let state = Condition(State())
    /// Set when the system has refused the thread.
    private let performHere: (@Sendable (Item) -> Void)?

    /// Starts the thread; `perform` is called on it with each item, or by `give` if the system
    /// refuses a thread.
    package init(_ name: String, _ perform: @escaping @Sendable (Item) -> Void) {
        let state = state
        let isStarted = SystemThread.start(name) {
            while let item = Self.next(state) { perform(item) }
        }
        performHere = isStarted ? nil : perform
    }

    /// Queues an item behind the earlier ones.
    package func give(_ item: Item) {
        if let performHere { return performHere(item) }
        state.change { $0.items.append(item) }
    }

    /// Ends the thread; items that it has not begun are dropped.
    package func close() {
        state.change { $0.isClosed = true }
    }

    private static func next(_ state: Condition<State>) -> Item? {
        state.wait { state -> Item?? in
            if state.isClosed { return .some(nil) }
            return state.items.isEmpty ? nil : .some(state.items.removeFirst())
        }
    }
}
