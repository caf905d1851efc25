import Coordination
import Training

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
        /// A worker needs the parameters of this version whole.
        case snapshotWanted(version: UInt64)
        /// Nothing more will come.
        case failed(any Error & Sendable)
        /// Time passed.
        case pulse
    }

    private let items = Condition<[Item]>([])

    func put(_ item: Item) {
        items.change { items in
            if case .pulse = item, !items.isEmpty { return }
            items.append(item)
        }
    }

    /// Blocks until there is something.
    func take() -> Item {
        items.wait { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

/// A result and whose it is.
struct Candidate: Sendable {
    let peer: PeerID
    let worker: String
    let result: WorkResult
}
