import SkeinBasics

/// Leases on their way through queue, thread, and memory.
extension WorkerState {
    /// The most results that are kept for an answer: as many as a coordinator can have out.
    ///
    /// It leases while fewer than 2 T results of T threads are unanswered or kept for lack of room
    /// there, and up to 2 T pieces besides: (2 T - 1) + 2 T. With more than 512 threads the oldest
    /// may be forgotten and computed again: a READY names no more. So may those that others got
    /// meanwhile. Packed, and once more while they are sent: with many threads and a large adapter
    /// that is memory (docs/OPERATING.md).
    package var keptResults: Int { min(4 * settings.threads, Limits.heldWork) }

    mutating func leased(_ key: WorkKey, _ attempt: UInt32) {
        guard isMember else { return }
        lastHeard = clock
        if key.round > round { begin(key.round) }
        if let early = cancelledEarly.firstIndex(of: key) {
            cancelledEarly.remove(at: early)
            say(.forget(key))
            return
        }
        if finished.contains(key) {
            say(.send(key))
            return
        }
        // The coordinator knows from `announceDrain` that this one is not computed.
        if isDraining || key.round < round {
            say(.forget(key))
            return
        }
        if queue.contains(where: { $0.key == key }) || computing.contains(key) { return }
        // A coordinator leases two for each thread. A coordinator that sends more fills this worker's memory.
        guard queue.count < keptResults else {
            say(.forget(key))
            say(.disconnect("too many leases"))
            retry("the coordinator leases more than \(keptResults) pieces of work at a time")
            return
        }
        queue.append((key, attempt))
        startThreads()
    }

    /// A newer round: the coordinator no longer waits for work of those before.
    private mutating func begin(_ newer: UInt64) {
        round = newer
        dropQueue()
        for thread in threads.indices { abandon(thread) }
        for key in finished { say(.forget(key)) }
        finished = []
        cancelledEarly.removeAll { $0.round < newer }
    }

    /// A new term: the old one's keys mean something else now.
    mutating func forgetEverything() {
        begin(0)
        cancelledEarly = []
    }

    mutating func dropQueue() {
        for lease in queue { say(.forget(lease.key)) }
        queue = []
    }

    private mutating func abandon(_ thread: Int) {
        guard let slot = threads[thread], !slot.isAbandoned else { return }
        threads[thread]?.isAbandoned = true
        say(.abandon(thread: thread, slot.key))
        say(.forget(slot.key))
    }

    private mutating func startThreads() {
        for thread in threads.indices where threads[thread] == nil && !queue.isEmpty {
            let lease = queue.removeFirst()
            threads[thread] = Slot(key: lease.key)
            say(.compute(thread: thread, lease.key, attempt: lease.attempt))
        }
    }

    mutating func cancelled(_ key: WorkKey) {
        lastHeard = clock
        if let place = queue.firstIndex(where: { $0.key == key }) {
            queue.remove(at: place)
            say(.forget(key))
        } else if let thread = threads.firstIndex(where: { $0?.isWanted(key) == true }) {
            abandon(thread)
        } else if !finished.contains(key), key.round >= round {
            cancelledEarly.append(key)
            if cancelledEarly.count > Limits.heldWork { cancelledEarly.removeFirst() }
        }
        if isDraining { leaveWhenDone() }
    }

    /// What the thread waits for that computes this will not come.
    mutating func stranded(_ key: WorkKey) {
        guard let thread = threads.firstIndex(where: { $0?.isWanted(key) == true }) else { return }
        abandon(thread)
        if isDraining { leaveWhenDone() }
    }

    mutating func computed(_ thread: Int, _ key: WorkKey) {
        guard let slot = free(thread, key) else { return }
        if !slot.isAbandoned {
            finished.append(key)
            say(.keep(thread: thread, key))
            // A result is encoded and hashed as it is sent: its thread need not wait for that.
            if !isDraining { startThreads() }
            if isMember { say(.send(key)) }
            if finished.count > keptResults { say(.forget(finished.removeFirst())) }
        }
        proceed()
    }

    mutating func abandoned(_ thread: Int, _ key: WorkKey) {
        guard free(thread, key) != nil else { return }
        proceed()
    }

    /// The thread is idle now.
    private mutating func free(_ thread: Int, _ key: WorkKey) -> Slot? {
        guard threads.indices.contains(thread), let slot = threads[thread], slot.key == key else {
            return nil
        }
        threads[thread] = nil
        return slot
    }

    private mutating func proceed() {
        if isDraining { leaveWhenDone() } else { startThreads() }
    }

    mutating func answered(_ key: WorkKey, _ verdict: ResultAnswer.Verdict, _ detail: String) {
        lastHeard = clock
        guard let place = finished.firstIndex(of: key) else { return }
        finished.remove(at: place)
        say(.forget(key))
        if verdict == .refused {
            say(
                .log(
                    .warning,
                    "the coordinator refused the result of work \(key.index): \(detail)"))
        }
        if isDraining { leaveWhenDone() }
    }

    mutating func drain() {
        guard !isDraining else { return }
        drainUntil = clock + settings.drain
        dropQueue()
        guard isMember else {
            if connection != .none { say(.disconnect("asked to stop")) }
            finish(.drained)
            return
        }
        say(.announceDrain)
        leaveWhenDone()
    }

    private mutating func leaveWhenDone() {
        guard computing.isEmpty, finished.isEmpty else { return }
        say(.disconnect("drained"))
        finish(.drained)
    }
}
