import SkeinBasics

extension CoordinatorState {
    /// What a coordinator's shell tells its state.
    package enum Event: Sendable, Equatable {
        /// The run's thread does something other than wait for a round.
        case phase(RunPhase)
        case opened(RoundPlan)
        /// Committed or given up; its remaining leases are cancelled.
        case closed(round: UInt64)
        /// A worker has its offer (ask `admission` first), or says how much of its model is done,
        /// in bytes. Sent until it joins or has left.
        case preparing(PeerID, name: String, address: String, bytes: UInt64)
        /// A peer has passed its handshake; ask `admission` first.
        case joined(PeerID, Member)
        /// Any bytes from this peer; with a heartbeat, what it says it computes.
        case heard(PeerID, [Heartbeat.Progress])
        /// Bytes of parameters, results or the model move between a peer and here, besides
        /// heartbeats; or it waits here for others.
        case moved(PeerID)
        /// A whole result has arrived. The shell parks its bytes under (peer, key) until `check`,
        /// `deliver`, `drop` or `answer` takes them; if some are parked there already, it drops the
        /// new ones. When a peer is gone it frees what it parked for it, except what is being
        /// checked. Results with one digest say the same; those of one computation are one, sent again:
        /// it is the attempt that the worker says it has computed, nil where that is not known.
        case arrived(
            PeerID, WorkKey, attempt: UInt32, digest: [UInt8], computation: UInt32? = nil)
        /// The run's thread has unpacked and checked what `check` named.
        case checked(PeerID, WorkKey, CheckOutcome)
        /// A worker lacks the state from which its lease starts.
        case stateWanted(PeerID, WorkKey)
        case left(PeerID, Departure)
        /// The worker finishes what it computes and starts nothing new.
        case draining(PeerID)
        /// The coordinator is about to end: no worker may join any more.
        case stopAdmitting
        /// `nextDeadline` has come.
        case tick
    }

    /// What the run's thread found in a result.
    package enum CheckOutcome: Sendable, Equatable {
        /// It is good, and the run has it.
        case accepted
        /// So it is, and an earlier start of the run has recorded the same: one that differs is wrong.
        case confirmed
        /// Well-formed, but a broken worker would explain it as well as the run would: a NaN, an
        /// infinity, another number than the run has recorded.
        case doubtful(String)
        /// Wrong shape, length, hash or packing.
        case refused(String)
    }

    /// What a coordinator's shell must do, in this order.
    package enum Directive: Sendable, Equatable {
        /// Send this work; `attempt` counts from 1.
        case lease(PeerID, WorkKey, attempt: UInt32, LeaseReason)
        case cancel(PeerID, WorkKey, CancelReason)
        /// Send what rebuilds the state from which the lease starts.
        case replay(PeerID, WorkKey)
        /// Unpack and check the parked result on the run's thread, then say `checked`.
        case check(PeerID, WorkKey)
        /// Hand the doubtful result to the run as it is: another worker says the same, or the only one
        /// again. Its peer may be gone by now.
        case deliver(PeerID, WorkKey)
        /// Tell the worker what happened to its result, and free what is parked.
        case answer(PeerID, WorkKey, ResultAnswer.Verdict, String)
        /// Free what is parked without an answer: the worker keeps it until it is leased it again.
        case drop(PeerID, WorkKey)
        /// The round is not over before `settle`, though all its results may be here.
        case dispute(WorkKey)
        case settle(WorkKey)
        /// An accepted result of this round is wrong: all of the round must be computed again.
        case spoil(round: UInt64)
        /// Send this and hang up. The state has forgotten the peer; a later `left` for that peer is ignored.
        case disconnect(PeerID, Rejection)
        case log(Log.Level, String)
        /// The run cannot continue for lack of workers; said once.
        case giveUp(String)
        /// No worker can rebuild a state, so the run cannot continue from this round; said once.
        case stateLost(String)
    }
}

/// Why a worker gets a piece of work.
package enum LeaseReason: Sendable, Equatable, CustomStringConvertible {
    /// It is the next one, and a thread is idle.
    case next
    /// It is the next one, for when a thread becomes idle.
    case prefetch
    /// The worker says that it has already finished it.
    case held
    /// Its former holder is gone, drains, or gave a bad result.
    case released(by: String)
    /// Another worker had it waiting behind others.
    case takenOver(from: String)
    /// A second lease: its holder has been silent for too long.
    case silent(String)
    /// A second lease: its holder's deadline has passed.
    case overdue(String)
    /// A second lease: its holder would finish last.
    case straggler(String)
    /// The worker has finished it, and now there is room for the result.
    case recalled
    /// Two others gave different results for it.
    case disputed(String, String)

    package var description: String {
        switch self {
        case .next: "next in order"
        case .prefetch: "next in order, for when a thread is idle"
        case .held: "the worker has finished it already"
        case .released(let name): "given back by \(name)"
        case .takenOver(let name): "it waited behind other work at \(name)"
        case .silent(let name): "\(name) is silent"
        case .overdue(let name): "\(name) is past its deadline"
        case .straggler(let name): "\(name) would finish last"
        case .recalled: "there is room for its result now"
        case .disputed(let one, let other): "\(one) and \(other) gave different results"
        }
    }

    /// Whether another worker keeps a lease of the work, too.
    package var isSecond: Bool {
        switch self {
        case .silent, .overdue, .straggler, .disputed: true
        default: false
        }
    }
}

/// Why a lease ends without its result.
package enum CancelReason: Sendable, Equatable, CustomStringConvertible {
    /// Another worker's result came first.
    case accepted(from: String)
    /// An idle worker starts it now.
    case takenOver(by: String)
    case draining
    case roundClosed
    /// Its result did not come.
    case late
    /// What the worker rebuilt was not the state that it is to start from.
    case notRebuilt

    package var description: String {
        switch self {
        case .accepted(let name): "the result of \(name) came first"
        case .takenOver(let name): "\(name) is idle and starts it now"
        case .draining: "the worker drains"
        case .roundClosed: "its round is over"
        case .late: "its result did not come in time"
        case .notRebuilt: "the worker cannot rebuild the state that it starts from"
        }
    }
}
