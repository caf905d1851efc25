import SkeinBasics

/// How long a worker's shell waits, and when it gives up.
package struct WorkerSettings: Sendable, Equatable {
    /// Pieces of work that are computed at a time.
    package var threads: Int
    /// How long to try without ever being welcomed.
    package var patience: Duration
    /// How long the coordinator may be silent until it says itself how long.
    package var silence = Duration.milliseconds(2500)
    /// How long a connection and a handshake up to the offer may take, each.
    package var handshake = Duration.seconds(5)
    /// Bounds of the random time between attempts.
    package var shortestDelay = Duration.milliseconds(100)
    package var longestDelay = Duration.seconds(10)
    /// How long a worker that is asked to stop may take for its current work.
    package var drain = Duration.seconds(25)

    package init(threads: Int, patience: Duration = .seconds(60)) {
        precondition(threads >= 1 && 2 * threads <= Limits.heldWork, "threads out of range")
        self.threads = threads
        self.patience = patience
    }
}

extension WorkerState {
    /// What a worker's shell tells its state. Events of a connection that has ended, or that the
    /// state has hung up, are no longer told.
    package enum Event: Sendable, Equatable {
        /// Begin; always the first event.
        case start
        /// The connection is open; the handshake begins.
        case connected
        /// It could not be opened, or it ended; a few words say how.
        case disconnected(String)
        /// The coordinator has proved itself and made its offer; `isOtherRun`: of another run than
        /// the one that this worker has loaded.
        /// `start` names the coordinator's process.
        case offered(term: UInt32, start: [UInt8] = [], isOtherRun: Bool = false)
        /// Model and parameters are loaded for the offer.
        case prepared
        case welcomed(Welcome)
        /// `isTagged`: a tag proves that the coordinator says so.
        case rejected(Rejection, isTagged: Bool)
        /// The peer at the coordinator's address greets as no coordinator of this version does; a
        /// sentence says how.
        case refused(String)
        /// Model and parameters could not be loaded for the offer.
        case notPrepared(PreparationFault)
        /// The threads of the run that this worker leaves have ended: there is room for another one.
        case leftRun
        /// An update of the parameters cannot be used, so this version is needed in full.
        case parametersNeeded(version: UInt64)
        /// Any bytes from the coordinator.
        case heard
        /// A lease is here; the shell keeps its rows until `forget`.
        case leased(WorkKey, attempt: UInt32)
        case cancelled(WorkKey)
        /// What the thread waits for that computes this was to come over a connection that is gone.
        case stranded(WorkKey)
        /// The thread has its result.
        case computed(thread: Int, WorkKey)
        /// The thread has stopped after `abandon`.
        case abandoned(thread: Int, WorkKey)
        case answered(WorkKey, ResultAnswer.Verdict, String)
        /// The coordinator says goodbye.
        case dismissed(Leave)
        /// SIGTERM: finish the current work, then go.
        case drain
        /// `nextDeadline` has come.
        case tick
    }

    /// What a worker's shell must do, in this order.
    package enum Directive: Sendable, Equatable {
        /// Dial after this time, unless `finish` comes before.
        case connect(after: Duration)
        /// Load model and parameters for the offer, unless they are there or on their way.
        case prepare
        /// End with what loading has thrown.
        case fail
        /// Ask for this version of the parameters in full.
        case askParameters(version: UInt64)
        /// Say READY, with these finished results.
        case ready(held: [WorkKey])
        /// Let the idle thread compute the leased work; it takes the rows.
        case compute(thread: Int, WorkKey, attempt: UInt32)
        /// Tell the thread to stop as soon as it can; it answers `abandoned` or `computed`.
        case abandon(thread: Int, WorkKey)
        /// Keep the thread's result under this key; without this it is dropped.
        case keep(thread: Int, WorkKey)
        /// Send the kept result.
        case send(WorkKey)
        /// Drop the rows and the kept result of this key; a thread that has it continues.
        case forget(WorkKey)
        /// Drop engine, parameters and the model's identity: they belong to another run.
        case leaveRun
        /// Say that this worker drains: `Leave(.draining)`. The connection stays.
        case announceDrain
        /// Send what is queued, then hang up.
        case disconnect(String)
        case log(Log.Level, String)
        /// The process must end; said once, nothing follows.
        case finish(Ending)
    }

    /// Why a worker could not prepare for an offer.
    package enum PreparationFault: Sendable, Equatable {
        /// The connection ended while it fetched the model.
        case connectionLost
        /// The model came damaged and was removed; a sentence.
        case damaged(String)
        /// The offer is of no use, or what it names; a sentence.
        case offer(String)
        /// Something of its own: its disk, its memory, its `--model`.
        case own
    }

    /// How a worker ends.
    package enum Ending: Sendable, Equatable {
        /// The run is complete.
        case complete
        /// It was asked to stop and has handed in what it could.
        case drained
        /// The run failed at the coordinator, with its words.
        case failed(String)
        /// The coordinator refuses it; nothing changes until something is fixed.
        case rejected(Rejection)
        /// No coordinator welcomed it within its patience; the sentence names the last reason.
        case patience(String)
    }
}
