import SkeinBasics
import SkeinJSON
import SkeinLaunch
import SkeinTraining

/// Sends a run to an MLflow server while it goes on (`--mlflow`), on a thread of its own.
///
/// The training loop only wakes it. While the server is gone nothing grows: what is missing stands in
/// metrics.jsonl, and is sent when the server answers again. So nothing waits here as in a `WorkQueue`.
final class MLflowExport: Sendable {
    private struct State: Sendable {
        /// Whether there is something to do.
        var isWoken = false
        /// Whether metrics.jsonl is this process's: a run that resumes cuts it first.
        var hasBegun = false
        /// Whether the run goes on from a checkpoint.
        var isResumed = false
        /// How the run ended, once it has.
        var ending: MLflowState.Ending?
        /// Whether the thread is no longer waited for.
        var isAbandoned = false
        /// Whether the thread has ended, and whether everything was sent then.
        var isDone = false
        var hasAll = false
        /// When steps happened, in milliseconds since 1970.
        var times: [Int: Int] = [:]
        var oldestTime = 0
    }

    private let state = Condition(State())
    private let log: Log
    private let directory: String
    private let target: MLflowTarget

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - target: the server.
    ///   - run: the run's directory.
    ///   - log: told where the run is shown, and what fails.
    init(_ target: MLflowTarget, run: String, log: Log) {
        self.target = target
        self.log = log
        directory = run
        let isStarted = SystemThread.start("skein-mlflow") { [self] in
            work()
            state.change { $0.isDone = true }
        }
        if !isStarted {
            state.change { $0.isDone = true }
            log.warning("MLflow: the system refuses a thread; nothing is sent")
        }
    }

    /// Takes what the training loop reports; returns at once.
    func note(_ event: TrainingLoop.Event) {
        let step: Int
        switch event {
        case .step(let metrics, _): step = metrics.step
        case .validation(let metrics, _): step = metrics.step
        case .resumed:
            // From here on there is a run.json.
            return state.change { ($0.isWoken, $0.isResumed) = (true, true) }
        default: return
        }
        let now = MLflowSession.now
        state.change { state in
            (state.isWoken, state.hasBegun) = (true, true)
            if state.times[step] == nil { state.times[step] = now }
            if state.oldestTime == 0 { state.oldestTime = step }
            while state.times.count > Limits.rememberedTimes {
                state.times[state.oldestTime] = nil
                state.oldestTime += 1
            }
        }
    }

    /// Sends the rest and how the run ended, for a bounded time.
    func finish(_ outcome: RunExports.Outcome) {
        guard let ending = MLflowState.Ending(outcome, time: MLflowSession.now) else {
            // The run there is the other process's now.
            return state.change { $0.isAbandoned = true }
        }
        let deadline = ContinuousClock.now + Limits.ending
        state.change { state in
            if state.isResumed, outcome != .failed { state.hasBegun = true }
            if state.isResumed || state.hasBegun {
                state.ending = ending
            } else {
                // There was no run.
                (state.isAbandoned, state.isDone, state.hasAll) = (true, true, true)
            }
        }
        let quick: Void? = state.wait(until: .now + .seconds(1)) { $0.isDone ? () : nil }
        if quick == nil {
            log.info(
                "waiting for MLflow, for at most \(Figures.seconds(Limits.ending / .seconds(1)))")
        }
        state.wait(until: deadline) { $0.isDone ? () : nil }
        let hasAll = state.change { state in
            state.isAbandoned = true
            return state.hasAll
        }
        guard !hasAll else { return }
        log.warning(
            "MLflow: not everything was sent; metrics.jsonl has it, and this sends it: "
                + ShellWords.line(["skein", "sync", directory, "--mlflow", target.url]))
    }

    // MARK: - The thread

    private func work() {
        let (session, exchange): (MLflowSession, FetcherExchange)
        do {
            (session, exchange) = try target.session(directory: directory, isRunning: true)
        } catch {
            return log.warning("MLflow: \(Self.text(error))")
        }
        defer { exchange.close() }
        var progress = Progress()
        while let task = next(after: progress.pause, progress.isEnding) {
            progress.isEnding = task.ending != nil
            do {
                try perform(task, session, &progress)
                if task.ending != nil { return state.change { $0.hasAll = true } }
            } catch {
                let isOver = (error as? MLflowError).map { !$0.isTransient } ?? false
                if progress.failures == 0 || isOver {
                    log.warning(
                        "MLflow: \(Self.text(error)); the run goes on, "
                            + (isOver
                                ? "and nothing more is sent"
                                : "metrics.jsonl keeps what is missing, and this is said once"))
                }
                if isOver { return }
                let last = progress.failures == 0 ? Limits.firstPause / 2 : progress.pause
                progress.pause =
                    progress.isEnding ? Limits.firstPause : min(last * 2, Limits.longestPause)
                progress.failures += 1
                state.change { $0.isWoken = true }
            }
        }
    }

    /// What the thread has to do.
    private struct Task {
        var reads: Bool
        var ending: MLflowState.Ending?
    }

    private struct Progress {
        var pause = Duration.zero
        var failures = 0
        /// Milliseconds since 1970.
        var began: Int?
        var hasToldPage = false
        var isEnding = false
    }

    private func perform(
        _ task: Task, _ session: MLflowSession, _ progress: inout Progress
    ) throws {
        // Before anything that may fail: `skein sync` tells it then.
        if let ending = task.ending { try session.remember(ending) }
        try session.connect()
        if !progress.hasToldPage, let page = session.page {
            progress.hasToldPage = true
            log.info("MLflow: \(page)", [("event", .text("mlflow")), ("url", .text(page))])
        }
        if task.reads {
            let start = try progress.began ?? started(session)
            progress.began = start
            while try session.sendSome(time: { self.time(ofStep: $0, start, $1) }) {}
        }
        if progress.failures > 0 {
            log.info("MLflow answers again; what it missed was sent")
            progress.failures = 0
        }
        progress.pause = Limits.pace
        if let ending = task.ending { try session.end(ending) }
    }

    /// Waits for `pause`, which the end of the run cuts short once, and until there is something to do.
    ///
    /// - Returns: what; nil when it is no longer waited for.
    private func next(after pause: Duration, _ isEnding: Bool) -> Task? {
        let deadline = ContinuousClock.now + pause
        func mayGoOn(_ state: State) -> Bool {
            state.isAbandoned || (state.ending != nil && !isEnding)
        }
        state.wait(until: deadline) { mayGoOn($0) ? () : nil }
        return state.wait { state -> Task?? in
            guard mayGoOn(state) || isEnding || state.isWoken else { return nil }
            guard !state.isAbandoned else { return .some(nil) }
            state.isWoken = false
            return .some(Task(reads: state.hasBegun, ending: state.ending))
        }
    }

    /// When the run began, had it not been interrupted: for the times of steps that another process
    /// computed.
    private func started(_ session: MLflowSession) throws -> Int {
        MLflowSession.now - Int(min(try session.recorded().seconds, 1e9) * 1000)
    }

    private func time(ofStep step: Int, _ start: Int, _ elapsed: Double) -> Int {
        state.change(waking: false) { $0.times[step] } ?? start + Int(min(elapsed, 1e9) * 1000)
    }

    static func text(_ error: any Error) -> String {
        (error as? any Explained)?.explanation.located ?? "\(error)"
    }
}

extension MLflowState.Ending {
    /// nil: it has not ended.
    init?(_ outcome: RunExports.Outcome, time: Int) {
        switch outcome {
        case .finished(let adapter): self.init(status: .finished, time: time, adapter: adapter)
        case .interrupted: self.init(status: .killed, time: time)
        case .failed: self.init(status: .failed, time: time)
        case .takenOver: return nil
        }
    }
}
