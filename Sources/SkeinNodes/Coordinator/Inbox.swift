import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// What the network's thread hands to the training loop's.
///
/// Holds at most the results of one round, each piece of work's candidates as the coordinator's state
/// lets them through: one at a time.
final class Inbox: Sendable {
    enum Item: Sendable {
        /// A result that is to be unpacked and checked.
        case check(Candidate)
        /// A result that is to be used although it is not finite.
        case deliver(Candidate)
        /// A piece of this round is computed once more, because two results of it differ.
        case disputed(round: UInt64)
        /// It is known, or never will be, whose was right.
        case settled(round: UInt64)
        /// A result of this round that was accepted is wrong.
        case spoiled(round: UInt64)
        /// A worker needs the parameters of this version whole.
        case snapshotWanted(version: UInt64)
        /// Nothing more will come.
        case failed(any Error & Sendable)
        /// Time passed.
        case pulse
    }

    private let items = Condition<[Item]>([])
    /// Called by `take` to let the world go on until the condition holds; nil: the thread sleeps.
    private let wait: (@Sendable (_ isReady: () -> Bool) throws -> Void)?

    /// - Parameter wait: where both threads are one, as in a simulation.
    init(wait: (@Sendable (_ isReady: () -> Bool) throws -> Void)? = nil) {
        self.wait = wait
    }

    func put(_ item: Item) {
        items.change { items in
            if case .pulse = item, !items.isEmpty { return }
            items.append(item)
        }
    }

    /// Blocks until there is something.
    ///
    /// - Throws: what `wait` throws.
    func take() throws -> Item {
        try wait? { items.change(waking: false) { !$0.isEmpty } }
        return items.wait { $0.isEmpty ? nil : $0.removeFirst() }
    }

    /// The next item, if it is a result of this round that is to be checked.
    func takeCheck(round: UInt64) -> Candidate? {
        items.change(waking: false) { items in
            guard case .check(let candidate)? = items.first, candidate.result.key.round == round
            else { return nil }
            items.removeFirst()
            return candidate
        }
    }

    /// What is there already, if anything is.
    func takeNow() -> Item? {
        items.change(waking: false) { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

/// A result and whose it is.
struct Candidate: Sendable {
    let peer: PeerID
    let worker: String
    let result: WorkResult
}
