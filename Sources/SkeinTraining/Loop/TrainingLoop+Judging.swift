import SkeinBasics
import SkeinModels

// Validations and samples.
//
// After each step that `ValidationPlan` names there is a line of metrics.jsonl, and a checkpoint after
// the line: the step of the best adapter always has one. The line before the first step
// (`--validate-at-start`) has no checkpoint. A run that begins again at step 0 drops it and writes it
// again, so that it stands there once. A later start reads it from there.
extension TrainingLoop {
    /// Validates, and keeps the adapter if it is the best so far.
    ///
    /// If validation was asked for but has no rows, the loss is null and decides nothing.
    mutating func judge(
        _ metrics: borrowing Metrics, _ ledger: borrowing Ledger, epoch: Int
    ) throws {
        guard job.wantsValidation else { return }
        let line = try validated(ledger, epoch: epoch)
        let isBest =
            line.loss.map { stopping.record(loss: $0, accuracy: line.tokenAccuracy, step: step) }
            ?? false
        try metrics.append(line)
        try report(.validation(line, isBest: isBest))
        try warning?.note(line).map { try report(.noticed($0)) }
        if isBest { try keepAdapter() }
        if stopping.shouldStop {
            try report(.stoppedEarly(step: step, best: stopping.bestStep))
        }
    }

    /// Validates before the first step, and answers the sample prompts. Which adapter is kept does not
    /// depend on it.
    mutating func judgeAtStart(_ metrics: borrowing Metrics, _ ledger: borrowing Ledger) throws {
        guard step == 0, job.validatesAtStart else { return }
        let line = try validated(ledger, epoch: 0)
        if let loss = line.loss, !loss.isFinite,
            let weight = try job.model.firstNotFiniteWeight()
        {
            throw weight
        }
        if line.tokens > 0 { start = Improvement.Score(line, by: stopping.metric) }
        try metrics.append(line)
        try report(.validation(line, isBest: false))
        try writeSamples(metrics, epoch: 0)
    }

    /// How the run has ended.
    func outcome(isComplete: Bool) -> Outcome {
        let kept = stopping.bestLoss == nil ? step : stopping.bestStep
        return Outcome(
            step: step, isComplete: isComplete, bestValidationLoss: stopping.bestLoss,
            keptStep: kept,
            improvement: start.map {
                Improvement(
                    beginning: job.beginning, start: $0,
                    kept: Improvement.Score(
                        loss: stopping.bestLoss, accuracy: stopping.bestAccuracy), step: kept)
            })
    }

    /// What is said of an error that ends the run: of a number that is not finite, the weight of the base
    /// model that led to it, if there is one.
    func traced(_ error: any Error) -> any Error {
        switch error {
        case TrainingError.lossNotFinite, TrainingError.gradientNotFinite:
            error.traced(to: job.model)
        default: error
        }
    }

    /// Validates, and writes into the ledger who has computed what.
    private func validated(
        _ ledger: borrowing Ledger, epoch: Int
    ) throws -> ValidationMetrics {
        var result = RowEvaluation()
        if !job.validation.isEmpty {
            let found = try source.evaluate(
                EvaluationRequest(
                    rows: job.validation, step: step, state: stepper.published,
                    count: stepper.parameters.count))
            try ledger.append(found.entries(.validation, step: step))
            result = found.evaluation
        }
        return ValidationMetrics(
            step: step, epoch: epoch, loss: result.loss, tokens: result.lossTokens,
            tokenAccuracy: result.tokenAccuracy, namesAccuracy: stopping.metric == .accuracy)
    }

    /// Answers the sample prompts, for people to read.
    func writeSamples(_ metrics: borrowing Metrics, epoch: Int) throws {
        guard !job.samplePrompts.isEmpty else { return }
        let samples = try source.samples(stepper.parameters, step: step, epoch: epoch)
        try metrics.append(samples)
        for sample in samples { try report(.sample(sample)) }
    }

    /// Those of the kept adapter.
    ///
    /// - Throws: `FileError`, `AdapterError`.
    func keptParameters() throws -> [Float] {
        try TrainingJob.exported(
            directory.adapter, shape: job.shape, export: job.export, in: directory.store
        ).values
    }

    /// The loss of the kept adapter on the test rows of a complete run; its groups are in the ledger
    /// then.
    ///
    /// - Returns: nil without test rows.
    /// - Throws: what the source throws; `FileError`.
    package func test() throws -> RowEvaluation? {
        guard !job.test.isEmpty else { return nil }
        let kept = try keptParameters()
        let found = try source.evaluate(
            EvaluationRequest(
                rows: job.test, step: step,
                state: stepper.published(of: kept), count: kept.count))
        try Ledger(appendingTo: directory.ledger, in: directory.store)
            .append(found.entries(.test, step: step))
        return found.evaluation
    }

    /// A step's line of metrics.jsonl.
    static func metrics(
        _ planned: PlannedStep, _ sum: GradientSum, rate: Double, norm: Double,
        seconds: Double, workers: Int, figures: StepFigures?
    ) -> StepMetrics {
        StepMetrics(
            step: planned.step, epoch: planned.epoch,
            loss: sum.lossSum / Double(sum.lossTokens), tokens: sum.tokens,
            lossTokens: sum.lossTokens, learningRate: rate, gradientNorm: norm,
            seconds: seconds, tokensPerSecond: Double(sum.tokens) / seconds, workers: workers,
            figures: figures)
    }
}
