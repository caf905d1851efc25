import SkeinBasics

/// Decides what `skein launch` starts, stops and restarts, and when. Pure: events and the time in,
/// actions out; `Launcher` carries them out.
///
/// A child that dies is restarted after 0.5 s, then 1, 2, 4 and 8 s. The fifth restart is the last,
/// but the count is reset by a step that is done when the child has been up for 5 s.
/// A worker that has once joined the run is restarted without limit, after 60 s at most: its host
/// may be rebooting or without network, and return in hours.
/// A coordinator's end that a restart would repeat ends the launch; its workers follow.
package struct Supervision: Sendable {
    package enum Member: Hashable, Sendable {
        case coordinator
        /// From 0.
        case worker(Int)
    }

    package typealias Ending = ChildProcess.Ending

    package enum Event: Sendable, Equatable {
        case began
        /// The coordinator listens.
        case listening
        /// The coordinator admitted this worker.
        case joined(worker: Int)
        /// The coordinator reported a step.
        case progressed
        case ended(Member, Ending)
        /// Ctrl-C or SIGTERM, each time.
        case interrupted
        /// Time has passed; at least twice a second.
        case tick
    }

    package enum Action: Sendable, Equatable {
        /// `again`: not for the first time, so a coordinator must resume.
        case start(Member, again: Bool)
        /// SIGTERM: asks it to end in good order.
        case terminate(Member)
        /// SIGKILL.
        case kill(Member)
        case say(Notice)
        /// All children have ended.
        case finish(Verdict)
    }

    /// What a person is told.
    package enum Notice: Sendable, Equatable {
        /// `limit`: how many restarts it gets; nil: any number.
        case restarting(Member, Ending, after: Duration, count: Int, limit: Int?)
        case givingUp(Member, Ending)
        case noWorkersLeft
        case stopping
        case killing
    }

    /// How the launch ends.
    package enum Verdict: Sendable, Equatable {
        /// As the coordinator did.
        case coordinator(Ending)
        /// As the last worker that was given up: no worker was left.
        case worker(Int, Ending)
        /// Interrupted while there was no coordinator, or twice.
        case interrupted
    }

    static let restartLimit = 5
    static let firstDelay = Duration.milliseconds(500)
    static let longestDelay = Duration.seconds(60)
    /// A child that has been up for this long when a step is done works well.
    static let settled = Duration.seconds(5)
    /// How long workers may take to leave by themselves once there is no coordinator.
    package static let farewell = Duration.seconds(5)
    /// How long they may take after SIGTERM.
    package static let grace = Duration.seconds(10)

    enum State: Sendable, Equatable {
        case notStarted
        case running(since: Duration)
        case waiting(until: Duration)
        case gone
    }

    enum Phase: Sendable, Equatable {
        case running
        /// The coordinator was asked to stop.
        case stopping
        /// There is no coordinator, and workers leave. `asked`: they got SIGTERM.
        case leaving(deadline: Duration, asked: Bool)
        case killed
    }

    struct Record: Sendable {
        var state = State.notStarted
        var restarts = 0
        /// For a worker: whether it has joined the run, which proves that its options are right.
        var hasWorked = false
    }

    var phase = Phase.running
    var coordinator = Record()
    var workers: [Record]
    var hasListened = false
    var verdict: Verdict?
    /// The last worker that was given up, and how it ended.
    var failure: (worker: Int, ending: Ending)?
    /// Whether the coordinator's own process computes, so that a run needs no workers.
    let computesLocally: Bool

    package init(workerCount: Int, computesLocally: Bool) {
        workers = Array(repeating: Record(), count: workerCount)
        self.computesLocally = computesLocally
    }

    /// What to do about `event`.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: the time since the launch began.
    /// - Returns: actions, in order.
    package mutating func handle(_ event: Event, now: Duration) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .began:
            start(.coordinator, again: false, now, &actions)
        case .listening:
            hasListened = true
            guard phase == .running else { break }
            for index in workers.indices where workers[index].state == .notStarted {
                start(.worker(index), again: false, now, &actions)
            }
        case .joined(let worker): workers[worker].hasWorked = true
        case .progressed:
            for member in running {
                if case .running(let since) = self[member].state, now - since >= Self.settled {
                    self[member].restarts = 0
                }
            }
        case .ended(.coordinator, let ending): coordinatorEnded(ending, now, &actions)
        case .ended(.worker(let index), let ending): workerEnded(index, ending, now, &actions)
        case .interrupted: interrupt(now, &actions)
        case .tick: tick(now, &actions)
        }
        finishIfAlone(&actions)
        return actions
    }

    /// The members whose processes run.
    var running: [Member] {
        let all = [Member.coordinator] + workers.indices.map { .worker($0) }
        return all.filter { if case .running = self[$0].state { true } else { false } }
    }

    subscript(member: Member) -> Record {
        get {
            switch member {
            case .coordinator: coordinator
            case .worker(let index): workers[index]
            }
        }
        set {
            switch member {
            case .coordinator: coordinator = newValue
            case .worker(let index): workers[index] = newValue
            }
        }
    }

    mutating func start(
        _ member: Member, again: Bool, _ now: Duration, _ actions: inout [Action]
    ) {
        self[member].state = .running(since: now)
        actions.append(.start(member, again: again))
    }
}
