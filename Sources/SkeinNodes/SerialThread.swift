import Foundation
import SkeinBasics
import SkeinTraining

/// A thread that takes what it is given in order, one at a time: what the network's thread must not
/// do itself.
///
/// Holds what has been given and is not done yet; whoever gives sees to it that this is bounded.
package final class SerialThread<Item: Sendable>: Sendable {
    private struct State: Sendable {
        var items: [Item] = []
        var isClosed = false
    }

    private let state = Condition(State())

    /// Starts the thread; `perform` is called on it with each item.
    package init(_ name: String, _ perform: @escaping @Sendable (Item) -> Void) {
        let state = state
        let thread = Thread {
            while let item = Self.next(state) { perform(item) }
        }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Has an item done after those that were given before.
    package func give(_ item: Item) {
        state.change { $0.items.append(item) }
    }

    /// Ends the thread; what it has not begun is not done any more.
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
