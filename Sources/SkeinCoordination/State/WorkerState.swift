import SkeinBasics

/// Decides when a worker dials and what its threads compute: events and the time in, directives out.
/// No socket, clock or thread.
///
/// Leases are computed in the order in which they come. A finished result is kept until it is
/// answered, so that it can be handed in over a new connection.
package struct WorkerState: Sendable {
    package let settings: WorkerSettings

    enum Connection: Sendable, Equatable {
        case none
        /// The shell dials now or in a moment.
        case dialling(until: Duration)
        /// Until the offer.
        case greeting(until: Duration)
        /// The offer is here; the model is being loaded or fetched.
        case joining(since: Duration)
        case member(since: Duration)
    }

    /// A thread that computes.
    struct Slot: Sendable {
        var key: WorkKey
        /// The result is no longer wanted.
        var isAbandoned = false

        func isWanted(_ key: WorkKey) -> Bool { self.key == key && !isAbandoned }
    }

    var clock = Duration.zero
    var jitter = 0.0
    var pending: [Directive] = []

    var connection = Connection.none
    var term: UInt32?
    /// The start of the coordinator whose work this is.
    var coordinatorStart: [UInt8] = []
    var lastHeard = Duration.zero
    var silence: Duration
    /// Since when no coordinator has welcomed this worker, without the time for loading a model.
    var unwelcomeSince = Duration.zero
    /// Failed attempts in a row.
    var attempts = 0
    var lastFailure = ""
    /// Whether a coordinator has ever let this worker in.
    var hasBeenWelcomed = false

    /// Whether threads of a run that this worker leaves still compute. There may be no room for two
    /// engines, so nothing is loaded before they have ended.
    var isLeaving = false
    /// Whether the model was damaged and is fetched a second time.
    var hasFetchedAnew = false
    /// The version that could not be used since the last READY, while this worker was not a member.
    var versionNeeded: UInt64?

    var threads: [Slot?]
    package internal(set) var queue: [(key: WorkKey, attempt: UInt32)] = []
    /// Finished and unanswered, the oldest first.
    var finished: [WorkKey] = []
    /// The part of `finished` that READY has listed.
    var listed: [WorkKey] = []
    /// Cancelled before their leases came: small frames overtake.
    package internal(set) var cancelledEarly: [WorkKey] = []
    /// The round of the newest lease.
    var round: UInt64 = 0

    /// When a draining worker leaves at the latest.
    var drainUntil: Duration?
    var hasFinished = false

    package init(settings: WorkerSettings) {
        self.settings = settings
        silence = settings.silence
        threads = Array(repeating: nil, count: settings.threads)
    }

    /// Records what happened and returns what to do.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - now: The time since an arbitrary start; it never goes back.
    ///   - jitter: A fresh random number in 0 ..< 1, for the time until the next attempt.
    /// - Returns: What to do, in order.
    package mutating func handle(
        _ event: Event, now: Duration, jitter: Double
    ) -> [Directive] {
        guard !hasFinished else { return [] }
        clock = max(clock, now)
        self.jitter = min(max(jitter, 0), 1)
        switch event {
        case .start: start()
        case .connected: connected()
        case .disconnected(let how): ended(how)
        case .offered(let term, let start, let isOtherRun):
            offered(term, start, isOtherRun: isOtherRun)
        case .prepared: prepared()
        case .welcomed(let welcome): welcomed(welcome)
        case .rejected(let rejection, let isTagged): rejected(rejection, isTagged: isTagged)
        case .refused(let why): refused(why)
        case .notPrepared(let fault): notPrepared(fault)
        case .leftRun: leftRun()
        case .parametersNeeded(let version): parametersNeeded(version)
        case .heard: lastHeard = clock
        case .leased(let key, let attempt): leased(key, attempt)
        case .cancelled(let key): cancelled(key)
        case .stranded(let key): stranded(key)
        case .computed(let thread, let key): computed(thread, key)
        case .abandoned(let thread, let key): abandoned(thread, key)
        case .answered(let key, let verdict, let detail): answered(key, verdict, detail)
        case .dismissed(let leave): dismissed(leave)
        case .drain: drain()
        case .tick: watch()
        }
        defer { pending = [] }
        return pending
    }

    /// When `tick` must come at the latest; nil: nothing depends on time.
    package var nextDeadline: Duration? {
        if hasFinished { return nil }
        var deadlines = [drainUntil].compactMap { $0 }
        switch connection {
        case .none: break
        case .dialling(let until), .greeting(let until):
            deadlines += [until, unwelcomeSince + settings.patience]
        case .joining, .member: deadlines.append(lastHeard + silence)
        }
        return deadlines.min()
    }

    /// What the threads compute, for a heartbeat.
    package var computing: [WorkKey] {
        threads.compactMap { slot in slot.flatMap { $0.isAbandoned ? nil : $0.key } }
    }

    /// Whether it may take leases and send results.
    package var isMember: Bool {
        if case .member = connection { true } else { false }
    }

    /// Whether it finishes what it has and takes nothing new.
    package var isDraining: Bool { drainUntil != nil }

    mutating func say(_ directive: Directive) {
        pending.append(directive)
    }

    mutating func finish(_ ending: Ending) {
        hasFinished = true
        connection = .none
        say(.finish(ending))
    }
}

// The words for what a worker does and waits for, said by itself.

extension WorkerState {
    /// One sentence without a full stop.
    ///
    /// - Parameters:
    ///   - coordinator: the address that the user gave.
    ///   - preparedBytes: how much of the model is done.
    ///   - waitsForOther: whether another process of this host fetches the model.
    ///   - now: the time, as in `handle`.
    /// - Returns: the sentence.
    package func sentence(
        coordinator: String, preparedBytes: UInt64, waitsForOther: Bool = false, now: Duration
    ) -> String {
        if hasFinished { return "the worker has ended" }
        var state = words(coordinator, preparedBytes, max(clock, now))
        if waitsForOther, case .joining = connection {
            state += "; waits for another process of this host that fetches the model"
        }
        return isDraining ? "leaves after its current work: \(state)" : state
    }

    private func words(_ coordinator: String, _ preparedBytes: UInt64, _ now: Duration) -> String {
        switch connection {
        case .none: return "starting"
        case .dialling, .greeting:
            let left = max(.zero, unwelcomeSince + settings.patience - now)
            return "waits for a coordinator at \(coordinator)"
                + (lastFailure.isEmpty ? "" : " (\(lastFailure))")
                + "; gives up in \(left.inWords)"
        case .joining(let since):
            return "prepares for the run at \(coordinator) for \((now - since).inWords): "
                + "\(preparedBytes >> 20) MiB of the model done"
        case .member:
            let count = computing.count
            return "in the run at \(coordinator): "
                + (count == 0
                    ? "waits for work"
                    : "computes " + Figures.count(count, "micro-batch", plural: "micro-batches"))
        }
    }
}
