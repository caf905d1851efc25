import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// What the network's thread hands to the training loop's.
///
/// Holds at most the results of one round: for each piece the coordinator's state lets through one
/// result at a time.
package final class RunInbox: Sendable {
    enum Item: Sendable {
        /// A result to unpack and check.
        case check(ReceivedResult)
        /// A result to use although it is doubtful.
        case deliver(ReceivedResult)
        /// A piece of this round is computed again, because two of its results differ.
        case disputed(round: UInt64)
        /// Such a dispute is over: it is known, or never will be, which result is right.
        case settled(round: UInt64)
        /// An accepted result of this round is wrong.
        case spoiled(round: UInt64)
        /// A worker needs the parameters of this version in full.
        case snapshotWanted(version: UInt64)
        /// A worker lacks the state of a lease.
        case stateWanted(PeerID, WorkKey)
        /// Nothing more will come.
        case failed(any Error & Sendable)
        /// Time passed.
        case pulse
    }

    private let items = Condition<[Item]>([])
    /// Called by `take` to let the world go on until the condition holds; nil: the thread sleeps.
    private let wait: (@Sendable (_ isReady: () -> Bool) throws -> Void)?

    /// - Parameter wait: for use where both threads are one, as in a simulation.
    package init(wait: (@Sendable (_ isReady: () -> Bool) throws -> Void)? = nil) {
        self.wait = wait
    }

    /// Items that nothing has taken.
    package var count: Int { items.change(waking: false) { $0.count } }

    func put(_ item: Item) {
        items.change { items in
            if case .pulse = item, !items.isEmpty { return }
            items.append(item)
        }
    }

    /// Removes and returns the first item; blocks until there is one.
    ///
    /// - Throws: what `wait` throws.
    func take() throws -> Item {
        try wait? { items.change(waking: false) { !$0.isEmpty } }
        return items.wait { $0.isEmpty ? nil : $0.removeFirst() }
    }

    /// Removes and returns the next item if it is a result of this round to check.
    func takeCheck(round: UInt64) -> ReceivedResult? {
        items.change(waking: false) { items in
            guard case .check(let received)? = items.first, received.result.key.round == round
            else { return nil }
            items.removeFirst()
            return received
        }
    }

    /// Removes and returns the next item, if there is one.
    func takeNow() -> Item? {
        items.change(waking: false) { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
