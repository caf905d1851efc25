import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// What is known about a run in this process: how far it is, and for how long it has been doing what.
struct OwnRun: Sendable {
    private(set) var run = RunSnapshot.Progress()
    private var phase = Phase.starting
    /// Steps that this process has committed, and since when it computes.
    private var stepsHere = 0
    private var since: ContinuousClock.Instant?
    private var metric = BestMetric.loss
    private var start: Improvement.Score?

    private enum Phase: Sendable {
        case starting
        case computing(RoundLabel, since: ContinuousClock.Instant)
        case over(since: ContinuousClock.Instant)
    }

    /// What earlier processes of the run have done, of metrics.jsonl.
    struct Past: Sendable {
        private(set) var tokens = 0
        private(set) var lossTokens = 0
        private(set) var last: StepMetrics?
        private(set) var validation: ValidationMetrics?
        private(set) var best: ValidationMetrics?
        /// Before the first step.
        private(set) var start: ValidationMetrics?
        var microBatches = 0
        private let bestMetric: BestMetric

        init(bestMetric: BestMetric) {
            self.bestMetric = bestMetric
        }

        mutating func add(_ metrics: StepMetrics) {
            tokens &+= metrics.tokens
            lossTokens &+= metrics.lossTokens
            last = metrics
        }

        mutating func add(_ metrics: ValidationMetrics) {
            if metrics.step == 0, metrics.tokens > 0 { start = metrics }
            guard metrics.loss != nil else { return }
            validation = metrics
            if metrics.isBetter(than: best, by: bestMetric) { best = metrics }
        }
    }

    /// - Parameters:
    ///   - output: the run directory.
    ///   - stepCount: of the plan.
    ///   - epochCount: of the plan.
    ///   - metric: by which the best adapter is found.
    ///   - start: the validation before the first step, if it is known without being computed.
    mutating func prepared(
        output: String, stepCount: Int, epochCount: Int, metric: BestMetric = .loss,
        start: Improvement.Score? = nil
    ) {
        run.output = output
        run.stepCount = stepCount
        run.epochCount = epochCount
        (self.metric, self.start) = (metric, start)
        run.startValidationLoss = start?.loss
    }

    mutating func admittedOtherEngines(from step: Int) { run.otherEnginesFromStep = step }

    mutating func resumed(after step: Int, _ past: Past) {
        run.step = step
        run.tokens = past.tokens
        run.lossTokens = past.lossTokens
        run.microBatches = past.microBatches
        if let last = past.last { show(last) }
        run.validationLoss = past.validation?.loss
        run.bestValidationLoss = past.best?.loss
        run.bestStep = past.best?.step
        if let metrics = past.start { begin(with: metrics) }
        if let best = past.best { compare(best) }
    }

    private mutating func begin(with metrics: ValidationMetrics) {
        let score = Improvement.Score(metrics, by: metric)
        (start, run.startValidationLoss) = (score, score.loss)
    }

    /// Compares the best validation so far with that before the first step.
    private mutating func compare(_ best: ValidationMetrics) {
        run.isImprovement = start.map {
            // What the run began with is not told here.
            Improvement(
                beginning: .baseModel, start: $0,
                kept: Improvement.Score(best, by: metric), step: best.step
            ).isBetter
        }
    }

    /// Call this when the first step begins.
    ///
    /// - Parameters:
    ///   - validates: whether a run that is not resumed validates before it.
    ///   - now: the time.
    mutating func began(validates: Bool, now: ContinuousClock.Instant) {
        phase = .computing(
            validates && run.step == 0 ? .validation(afterStep: 0) : .step(run.step + 1),
            since: now)
    }

    /// - Parameters:
    ///   - metrics: of the step.
    ///   - microBatches: of the step.
    ///   - validates: whether a validation comes next.
    ///   - now: the time.
    mutating func committed(
        _ metrics: StepMetrics, microBatches: Int, validates: Bool, now: ContinuousClock.Instant
    ) {
        run.step = metrics.step
        run.tokens &+= metrics.tokens
        run.lossTokens &+= metrics.lossTokens
        run.microBatches += microBatches
        show(metrics)
        phase = .computing(validates ? .validation(afterStep: run.step) : nextStep, since: now)
        stepsHere += 1
        let since = since ?? now - .seconds(metrics.seconds)
        self.since = since
        let elapsed = (now - since) / .seconds(1)
        run.elapsedSeconds = elapsed
        run.etaSeconds = elapsed / Double(stepsHere) * Double(max(0, run.stepCount - run.step))
    }

    /// After the last step, what follows it counts as part of it.
    private var nextStep: RoundLabel { .step(min(run.step + 1, max(run.step, run.stepCount))) }

    private mutating func show(_ metrics: StepMetrics) {
        run.epoch = metrics.epoch
        run.loss = metrics.loss
        run.tokensPerSecond = metrics.tokensPerSecond
        run.learningRate = metrics.learningRate
        run.gradientNorm = metrics.gradientNorm
    }

    mutating func validated(
        _ metrics: ValidationMetrics, isBest: Bool, now: ContinuousClock.Instant
    ) {
        phase = .computing(nextStep, since: now)
        if metrics.step == 0, metrics.tokens > 0 { begin(with: metrics) }
        guard let loss = metrics.loss else { return }
        run.validationLoss = loss
        guard isBest else { return }
        run.bestValidationLoss = loss
        run.bestStep = metrics.step
        compare(metrics)
    }

    mutating func ended(now: ContinuousClock.Instant) {
        run.etaSeconds = nil
        phase = .over(since: now)
    }

    func snapshot(now: ContinuousClock.Instant) -> RunSnapshot {
        func waiting(_ reason: Waiting.Reason, since: ContinuousClock.Instant) -> Waiting {
            Waiting(reason: reason, seconds: (now - since) / .seconds(1))
        }
        var snapshot = RunSnapshot(run: run, waiting: Waiting(reason: .starting, seconds: 0))
        snapshot.process = .here
        switch phase {
        case .starting: break
        case .computing(let label, let since):
            snapshot.waiting = waiting(.computingHere, since: since)
            snapshot.waiting.round = label
        case .over(let since): snapshot.waiting = waiting(.ended, since: since)
        }
        return snapshot
    }
}

extension RunSnapshot.Process {
    /// This process at this moment.
    package static var here: RunSnapshot.Process {
        // The system takes the peak from other counters than the size, which may be ahead of them.
        let resident = ProcessFigures.residentBytes
        let peak = ProcessFigures.peakResidentBytes.map { max($0, resident ?? 0) }
        return RunSnapshot.Process(
            processorSeconds: ProcessFigures.processorSeconds, residentBytes: resident,
            peakResidentBytes: peak)
    }
}
