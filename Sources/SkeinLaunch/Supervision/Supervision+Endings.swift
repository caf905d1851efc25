import SkeinBasics

// What happens when a child, the launch or a waiting time ends.
extension Supervision {
    mutating func coordinatorEnded(
        _ ending: Ending, _ now: Duration, _ actions: inout [Action]
    ) {
        coordinator.state = .gone
        switch phase {
        case .killed, .leaving: return
        case .stopping: break
        case .running:
            // One that never listened has a wrong option or a port that is in use; a restart would
            // fail in the same way.
            let neverServed = !hasListened && ending.isExit
            if !ending.isFinalForCoordinator, !neverServed {
                if restart(.coordinator, after: ending, now, &actions) { return }
                actions.append(.say(.givingUp(.coordinator, ending)))
            }
        }
        leave(as: verdict ?? .coordinator(ending), now)
    }

    mutating func workerEnded(
        _ index: Int, _ ending: Ending, _ now: Duration, _ actions: inout [Action]
    ) {
        workers[index].state = .gone
        guard phase == .running, ending != .exited(0) else { return }
        let isFinal = ending.isFinalForWorker(thatWorked: workers[index].hasWorked)
        if !isFinal, restart(.worker(index), after: ending, now, &actions) {
            return
        }
        actions.append(.say(.givingUp(.worker(index), ending)))
        failure = (index, ending)
        guard !computesLocally, workers.allSatisfy({ $0.state == .gone }) else { return }
        // No worker is left, and no restart would help: the run cannot go on.
        actions.append(.say(.noWorkersLeft))
        verdict = .worker(index, ending)
        stop(now, &actions)
    }

    /// Plans a restart, if the limit allows.
    private mutating func restart(
        _ member: Member, after ending: Ending, _ now: Duration, _ actions: inout [Action]
    ) -> Bool {
        let count = self[member].restarts + 1
        let limit = self[member].hasWorked ? nil : Self.restartLimit
        if let limit, count > limit { return false }
        let delay = Self.delay(beforeRestart: count)
        self[member].restarts = count
        self[member].state = .waiting(until: now + delay)
        actions.append(
            .say(.restarting(member, ending, after: delay, count: count, limit: limit)))
        return true
    }

    /// 0.5 s, doubled for each restart from the second on, 60 s at most.
    static func delay(beforeRestart count: Int) -> Duration {
        var delay = firstDelay
        for _ in 1..<max(1, min(count, 16)) { delay = min(longestDelay, delay * 2) }
        return delay
    }

    mutating func interrupt(_ now: Duration, _ actions: inout [Action]) {
        guard phase == .running else {
            guard phase != .killed else { return }
            // The second interrupt kills without asking.
            phase = .killed
            actions.append(.say(.killing))
            actions += running.map { .kill($0) }
            verdict = verdict ?? .interrupted
            return
        }
        actions.append(.say(.stopping))
        stop(now, &actions)
    }

    /// Stops the coordinator first: it finishes its step with the workers' help, writes a
    /// checkpoint and says goodbye to them.
    private mutating func stop(_ now: Duration, _ actions: inout [Action]) {
        for index in workers.indices {
            if case .waiting = workers[index].state { workers[index].state = .gone }
        }
        if case .running = coordinator.state {
            phase = .stopping
            actions.append(.terminate(.coordinator))
        } else {
            coordinator.state = .gone
            leave(as: verdict ?? .interrupted, now)
        }
    }

    private mutating func leave(as verdict: Verdict, _ now: Duration) {
        self.verdict = verdict
        for index in workers.indices {
            if case .waiting = workers[index].state { workers[index].state = .gone }
        }
        // Workers know when a run is over; if it was stopped, they would wait for its return.
        phase = .leaving(
            deadline: verdict.endsRun ? now + Self.farewell : now, asked: false)
    }

    mutating func tick(_ now: Duration, _ actions: inout [Action]) {
        switch phase {
        case .running:
            for member in [Member.coordinator] + workers.indices.map({ .worker($0) }) {
                if case .waiting(let until) = self[member].state, now >= until {
                    start(member, again: true, now, &actions)
                }
            }
        case .leaving(let deadline, let asked) where now >= deadline:
            actions += running.map { asked ? .kill($0) : .terminate($0) }
            phase = .leaving(deadline: now + Self.grace, asked: true)
        case .stopping, .leaving, .killed: break
        }
    }

    /// Adds the last action of all once every child has ended.
    func finishIfAlone(_ actions: inout [Action]) {
        switch phase {
        case .running, .stopping: return
        case .leaving, .killed:
            if running.isEmpty { actions.append(.finish(verdict ?? .interrupted)) }
        }
    }
}

extension Supervision.Verdict {
    /// Whether workers were told that nothing comes any more: the run is complete, or `--resume` would
    /// not mend it.
    fileprivate var endsRun: Bool {
        switch self {
        case .coordinator(.exited(let status)): [0, 64, 65].contains(status)
        case .coordinator(.killed), .interrupted: false
        // There are none.
        case .worker: true
        }
    }
}

extension ChildProcess.Ending {
    var isExit: Bool { if case .exited = self { true } else { false } }

    /// Done, wrong use, bad data, no worker in time, or stopped: a restart would end the same way.
    fileprivate var isFinalForCoordinator: Bool { isOne(of: [0, 64, 65, 69, 130]) }

    /// For a worker that never joined, also a shell's status for a program that it cannot find or
    /// may not run. If the worker has joined before, a file system may not be mounted yet.
    ///
    /// 0 is final, too, but not a failure: the worker was asked to leave.
    fileprivate func isFinalForWorker(thatWorked hasWorked: Bool) -> Bool {
        isOne(of: hasWorked ? [64, 65, 130] : [64, 65, 126, 127, 130])
    }

    private func isOne(of statuses: [Int32]) -> Bool {
        if case .exited(let status) = self { statuses.contains(status) } else { false }
    }
}
