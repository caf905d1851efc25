import SkeinBasics

/// Dialling, joining, losing the coordinator and finding it again.
extension WorkerState {
    mutating func start() {
        guard connection == .none else { return }
        unwelcomeSince = clock
        dial(after: .zero)
    }

    private mutating func dial(after delay: Duration) {
        connection = .dialling(until: clock + delay + settings.handshake)
        say(.connect(after: delay))
    }

    mutating func connected() {
        guard case .dialling = connection else { return }
        connection = .greeting(until: clock + settings.handshake)
        lastHeard = clock
    }

    mutating func offered(_ newTerm: UInt32, _ newStart: [UInt8], isOtherRun: Bool) {
        guard case .greeting = connection else { return }
        connection = .joining(since: clock)
        lastHeard = clock
        if isOtherRun {
            leaveRun("the coordinator has another run now")
        } else if let term, term != newTerm || coordinatorStart != newStart {
            // A term repeats when an older copy of the run's directory is restored.
            forgetEverything()
            say(.log(.info, "the coordinator has restarted: term \(newTerm) after \(term)"))
        }
        (term, coordinatorStart) = (newTerm, newStart)
        if !isLeaving { say(.prepare) }
    }

    /// A run can be replaced by one with other options, data or model: the fleet stays.
    private mutating func leaveRun(_ why: String) {
        forgetEverything()
        hasFetchedAnew = false
        // Whose threads still compute is left already.
        guard !isLeaving else { return }
        isLeaving = true
        say(.log(.info, "\(why): this worker drops what it has and prepares again"))
        say(.leaveRun)
    }

    mutating func leftRun() {
        isLeaving = false
        if case .joining = connection { say(.prepare) }
    }

    mutating func prepared() {
        guard case .joining = connection else { return }
        hasFetchedAnew = false
        listed = finished
        // It says what this worker has.
        versionNeeded = nil
        say(.ready(held: finished))
    }

    mutating func notPrepared(_ fault: PreparationFault) {
        switch fault {
        case .connectionLost:
            // There may be a new connection already.
            if case .joining = connection, !isLeaving { say(.prepare) }
        case .damaged(let sentence) where !hasFetchedAnew:
            // Part of it may be left over from an earlier attempt. Twice is the coordinator's fault.
            hasFetchedAnew = true
            say(.log(.warning, "\(sentence); it has been removed and is fetched again"))
            if case .joining = connection, !isLeaving { say(.prepare) }
        case .damaged(let sentence), .offer(let sentence):
            // A worker that has worked in a run does not give up for another coordinator's faults.
            guard hasBeenWelcomed else { return say(.fail) }
            switch connection {
            case .greeting, .joining:
                say(.disconnect("the offer is of no use"))
                retry(sentence)
            case .none, .dialling, .member: break
            }
        case .own: say(.fail)
        }
    }

    /// Only a member may ask: before READY, that message says what this worker has; after it, the
    /// request waits for WELCOME.
    mutating func parametersNeeded(_ version: UInt64) {
        if isMember { say(.askParameters(version: version)) } else { versionNeeded = version }
    }

    mutating func welcomed(_ welcome: Welcome) {
        guard case .joining = connection else { return }
        connection = .member(since: clock)
        hasBeenWelcomed = true
        lastHeard = clock
        // A peer's word, within reason: 0 ms of silence must not end a connection.
        let told = Duration.milliseconds(Int64(welcome.silenceMilliseconds))
        silence = min(max(told, .milliseconds(100)), .seconds(600))
        cancelledEarly = []
        say(.log(.info, "joined the run, term \(term ?? 0)"))
        // Results finished since READY were not listed.
        for key in finished where !listed.contains(key) { say(.send(key)) }
        if let versionNeeded { say(.askParameters(version: versionNeeded)) }
        versionNeeded = nil
    }

    /// Tries again after a random time with a bound that doubles: "full jitter". An ordered time is
    /// this worker's own, so few come back with it, and a short random one beside it is enough.
    mutating func retry(
        _ why: String, after atLeast: Duration = .zero, isOrdered: Bool = false
    ) {
        lastFailure = why
        switch connection {
        case .member(let since):
            unwelcomeSince = clock
            // A connection that held was a good one; one that is cut again and again is not.
            attempts = clock - since >= .seconds(2) ? 0 : attempts + 1
        case .joining(let since):
            unwelcomeSince += clock - since
            attempts += 1
        default:
            attempts += 1
        }
        connection = .none
        dropQueue()
        if isDraining {
            say(.log(.warning, "the connection ended while draining: \(why)"))
            finish(.drained)
            return
        }
        guard clock - unwelcomeSince < settings.patience else {
            giveUp()
            return
        }
        let doubled = min(settings.longestDelay, settings.shortestDelay * (1 << min(attempts, 10)))
        let longest = isOrdered ? settings.shortestDelay : doubled
        let left = unwelcomeSince + settings.patience - clock
        let delay = atLeast + longest * jitter
        let again = delay < left ? "tries again in \(delay.inWords), " : ""
        say(.log(.warning, "\(why); \(again)gives up in \(left.inWords)"))
        dial(after: delay)
    }

    private mutating func giveUp() {
        let time = (clock - unwelcomeSince).inWords
        var why = lastFailure
        if case .greeting = connection { why = "what answers there says nothing" }
        if why.isEmpty { why = "no answer" }
        finish(.patience("no coordinator has welcomed this worker for \(time): \(why)"))
    }

    mutating func ended(_ how: String) {
        guard connection != .none else { return }
        retry(how)
    }

    /// The peer at the coordinator's address is none, or of another version. It has proved nothing, so
    /// the coordinator may be back at the next attempt.
    mutating func refused(_ why: String) {
        guard connection != .none else { return }
        say(.disconnect("refused"))
        retry("\(why) (whoever says so has not proved the token)")
    }

    /// The last word of a connection. Without a tag any process may have said it: it ends the attempt, and
    /// nothing that this worker has is dropped for it.
    mutating func rejected(_ rejection: Rejection, isTagged: Bool) {
        guard connection != .none else { return }
        guard isTagged else {
            return refused(rejection.sentence)
        }
        say(.disconnect("rejected"))
        if rejection.code.isFinal {
            // A worker that was let in waits: an operator may have put another run in this one's place.
            guard rejection.code.isOfProcess || !hasBeenWelcomed else {
                return retry(rejection.sentence)
            }
            return finish(.rejected(rejection))
        }
        if rejection.code.isOfAnotherRun {
            leaveRun("the coordinator says: \(rejection.reason)")
        }
        let told = Duration.milliseconds(Int64(rejection.retryMilliseconds))
        let pause = min(told, settings.patience)
        let isOrdered = rejection.code == .quarantined
        retry("the coordinator says: \(rejection.reason)", after: pause, isOrdered: isOrdered)
        // An ordered pause is no absence; it is at most as long as the patience.
        if isOrdered { unwelcomeSince += pause }
    }

    mutating func dismissed(_ leave: Leave) {
        guard connection != .none else { return }
        say(.disconnect("the coordinator said goodbye"))
        switch leave.reason {
        case .complete: finish(.complete)
        case .failed: finish(.failed(leave.detail))
        case .draining, .interrupted:
            let why = leave.detail.isEmpty ? "" : ": \(leave.detail)"
            retry("the coordinator has stopped and may come back\(why)")
        }
    }

    mutating func watch() {
        if let drainUntil, drainUntil <= clock {
            if isMember { say(.disconnect("the time for draining is over")) }
            finish(.drained)
            return
        }
        switch connection {
        case .none: break
        case .dialling(let until), .greeting(let until):
            if clock - unwelcomeSince >= settings.patience {
                say(.disconnect("patience is over"))
                giveUp()
            } else if until <= clock {
                say(.disconnect("no answer"))
                retry("no answer within \(settings.handshake.inWords)")
            }
        case .joining, .member:
            let time = clock - lastHeard
            guard time >= silence else { break }
            say(.disconnect("silence"))
            retry("the coordinator was silent for \(time.inWords)")
        }
    }
}
