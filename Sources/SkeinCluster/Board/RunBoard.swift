import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinJSON
import SkeinRows
import SkeinTraining
import Synchronization

package typealias RoundTimelineEntry = RoundTimeline.Entry

/// Everything that people are shown of a run in this process: the one snapshot, the curves so far,
/// the report about the data. Terminal, page, metrics and status read it.
///
/// The training loop's thread tells it what happens; any thread may ask. Telling costs microseconds.
package final class RunBoard: Sendable {
    /// A moment of the run, with the timeline of its last rounds.
    package struct View: Sendable {
        package var snapshot: RunSnapshot
        package var timeline: [RoundTimelineEntry]
    }

    private struct State: Sendable {
        var output = ""
        var own = OwnRun()
        var history = RunHistory()
        var report: DataReport?
        var validations: ValidationPlan?
        var validatesAtStart = false
        var bestMetric = BestMetric.loss
        /// The plan's steps after the last one that was noted, for the count of micro-batches.
        var planned: StepPlan.Steps?
        var timeline: [RoundTimelineEntry] = []
        /// The cluster's view; nil: this process computes alone.
        var cluster: (@Sendable () -> View?)?
        var lastView: View?
    }

    private let state = Mutex(State())

    package init() {}

    /// The run is known: its data, its plan, its directory.
    package func prepared(_ job: TrainingJob, output: String) {
        state.withLock { state in
            state.output = output
            state.report = job.report
            state.validations = job.wantsValidation ? job.validations : nil
            state.validatesAtStart = job.validatesAtStart
            state.bestMetric = job.configuration.usedBestMetric
            state.own.prepared(
                output: output, stepCount: job.plan.stepCount, epochCount: job.plan.epochCount,
                metric: state.bestMetric, start: job.knownStart)
            state.planned = job.plan.steps()
        }
    }

    /// Takes the snapshot from a cluster from now on.
    ///
    /// - Parameter view: asked on any thread; nil once the cluster's network has ended.
    func attach(_ view: @escaping @Sendable () -> View?) {
        state.withLock { $0.cluster = view }
    }

    /// The first step begins in this process.
    package func began(now: ContinuousClock.Instant = .now) {
        state.withLock { $0.own.began(validates: $0.validatesAtStart, now: now) }
    }

    /// The run has ended, complete or not.
    package func ended(now: ContinuousClock.Instant = .now) {
        state.withLock { $0.own.ended(now: now) }
    }

    /// How far the run is.
    package var progress: RunSnapshot.Progress { state.withLock { $0.own.run } }

    /// Notes what the training loop reports.
    ///
    /// - Parameters:
    ///   - event: of the loop.
    ///   - store: where the run's directory is, whose metrics tell the steps before this process.
    ///   - now: the time.
    /// - Throws: `FileError` when those cannot be read.
    package func note(
        _ event: TrainingLoop.Event, in store: any Store = DiskStore(),
        now: ContinuousClock.Instant = .now
    ) throws {
        switch event {
        case .resumed(let step, _): try resume(after: step, in: store)
        case .step(let metrics, _):
            state.withLock { state in
                let count = state.planned?.next()?.microBatches.count ?? 0
                state.own.committed(
                    metrics, microBatches: count,
                    validates: state.validations?.isDue(after: metrics.step) ?? false, now: now)
                state.history.add(metrics)
                guard state.cluster == nil else { return }
                state.timeline.append(RoundTimelineEntry(ownStep: metrics, pieces: count))
                if state.timeline.count > RoundTimeline.mostRounds { state.timeline.removeFirst() }
            }
        case .validation(let metrics, let isBest):
            state.withLock { state in
                state.history.add(metrics)
                state.own.validated(metrics, isBest: isBest, now: now)
            }
        case .sample(let sample): state.withLock { $0.history.add(sample) }
        case .otherEngines(let step, _):
            state.withLock { $0.own.admittedOtherEngines(from: step) }
        case .rowsNotRecorded, .ledgerDoubted, .adapterRestored, .checkpoint, .stoppedEarly,
            .noticed:
            break
        }
    }

    /// Reads what earlier processes of this run have written down, without damaged lines: the loop
    /// reports those, and the run goes on.
    private func resume(after step: Int, in store: any Store) throws {
        let path = FilePath.join(state.withLock { $0.output }, "metrics.jsonl")
        var history = RunHistory()
        var past = OwnRun.Past(bestMetric: state.withLock { $0.bestMetric })
        func take(_ record: Metrics.Record) {
            switch record {
            case .step(let metrics) where metrics.step <= step:
                history.add(metrics)
                past.add(metrics)
            case .validation(let metrics) where metrics.step <= step:
                history.add(metrics)
                past.add(metrics)
            case .sample(let sample) where sample.step <= step: history.add(sample)
            default: break
            }
        }
        if step > 0, store.exists(path) {
            try Metrics.readWhatIsWhole(path: path, in: store, take)
        }
        state.withLock { state in
            for _ in 0..<step {
                past.microBatches += state.planned?.next()?.microBatches.count ?? 0
            }
            state.history = history
            state.own.resumed(after: step, past)
        }
    }

    /// The run at this moment. Asks the cluster, whose network's thread answers within a turn.
    package func view(now: ContinuousClock.Instant = .now) -> View {
        let cluster = state.withLock { $0.cluster }
        if let view = cluster?() {
            state.withLock { $0.lastView = view }
            return view
        }
        // Nothing is made under the lock: who asks may have the lowest priority, and the run's thread
        // would wait for it.
        let (own, last, timeline) = state.withLock { ($0.own, $0.lastView, $0.timeline) }
        var snapshot = own.snapshot(now: now)
        // What the cluster last showed stays, but for what the run's thread knows better.
        if let last {
            snapshot.absent = last.snapshot.absent
            snapshot.totals = last.snapshot.totals
            return View(snapshot: snapshot, timeline: last.timeline)
        }
        return View(snapshot: snapshot, timeline: timeline)
    }

    /// The losses of the steps so far, in order, of which a long run keeps every second, fourth, ...
    package var losses: [Double] { state.withLock { $0.history }.points.map(\.loss) }

    /// What is new since `mark`; see `RunHistory.json`.
    package func history(
        after mark: inout HistoryMark?, timeline: [RoundTimelineEntry]
    ) -> JSONValue? {
        state.withLock { $0.history }.json(after: &mark, timeline: timeline)
    }

    /// Whether the rows are read and, of a coordinator, workers may connect.
    package var isPrepared: Bool { report != nil }

    /// What a service manager is told of it: the sentence of `status --why`.
    package var serviceView: ServiceReporter.View {
        ServiceReporter.View(sentence: view().snapshot.waiting.brief, isReady: isPrepared)
    }

    /// The report about the data; nil while the rows are still read.
    package var report: DataReport? { state.withLock { $0.report } }
}

extension RoundTimelineEntry {
    /// A step of a run in one process.
    init(ownStep metrics: StepMetrics, pieces: Int) {
        self.init(
            label: .step(metrics.step), number: UInt64(metrics.step), seconds: metrics.seconds,
            pieces: pieces)
    }
}
