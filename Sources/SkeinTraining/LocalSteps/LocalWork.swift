import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors

/// What a logical worker does in a round: rows for each of its steps, cut into micro-batches.
package struct LocalWork: Sendable, Equatable {
    /// From 1.
    package let round: Int
    /// The logical worker, from 0.
    package let worker: Int
    /// AdamW steps that it has done before.
    package let stepsDone: Int
    /// Local steps that the learning rate's schedule counts in the whole run.
    package let scheduledSteps: Int
    /// For each local step, for each of its micro-batches, the rows.
    package let steps: [[[TokenizedRow]]]

    package init(
        round: Int, worker: Int, stepsDone: Int, scheduledSteps: Int, steps: [[[TokenizedRow]]]
    ) {
        self.scheduledSteps = scheduledSteps
        self.round = round
        self.worker = worker
        self.stepsDone = stepsDone
        self.steps = steps
    }

    /// All rows in order.
    package var rows: [TokenizedRow] { steps.flatMap { $0.flatMap { $0 } } }
}

extension TrainingJob {
    /// Computes logical workers; nil for a run without local steps.
    package func logicalWorkers(_ engine: MicroBatchEngine) -> LogicalWorkers? {
        local.map {
            LogicalWorkers($0, engine: engine, configuration: configuration)
        }
    }

    /// What a logical worker does in a planned step; nil if it sits the round out.
    func localWork(_ worker: Int, in planned: PlannedStep) -> LocalWork? {
        guard planned.microBatches.indices.contains(worker) else { return nil }
        return LocalWork(
            round: planned.step, worker: worker,
            stepsDone: plan.localStepsDone(by: worker, beforeRound: planned.step),
            scheduledSteps: plan.scheduledSteps,
            steps: plan.localSteps(of: planned.microBatches[worker]).map { step in
                step.map { rows in rows.flatMap { training[trainingGroups[$0]] } }
            })
    }
}

/// What a logical worker returns from a round.
package struct LocalOutcome: Sendable {
    /// Its losses, and its coded change where a micro-batch has a gradient.
    package let sum: GradientSum
    /// The packed change.
    package let payload: [UInt8]
    /// SHA-256 of the change as it was coded.
    package let digest: SHA256.Digest
    package let state: LocalState
}

/// A logical worker: computes its part of a round with the engine that all runs have.
package struct LogicalWorkers: Sendable {
    package let settings: LocalSettings
    private let configuration: TrainingConfiguration
    private let otherRate: RateFactor?
    /// Sum loss and sum gradient of a micro-batch; nil if the pass was abandoned.
    private let sum: Sum

    package typealias Sum =
        @Sendable (
            MicroBatch, _ parameters: [Float], DecoderWorkspace, WorkSharing.Place?, PassProgress?
        ) -> GradientSum?

    /// - Parameters:
    ///   - settings: of the run.
    ///   - engine: the model.
    ///   - configuration: of the run.
    package init(
        _ settings: LocalSettings, engine: MicroBatchEngine, configuration: TrainingConfiguration
    ) {
        self.init(
            settings, configuration: configuration,
            otherRate: engine.decoder.adapter.flatMap { configuration.rateFactor($0.layout) }
        ) {
            engine.sum(of: $0, parameters: $1, workspace: $2, place: $3, progress: $4)
        }
    }

    /// The same with whatever computes a micro-batch.
    package init(
        _ settings: LocalSettings, configuration: TrainingConfiguration,
        otherRate: RateFactor? = nil, sum: @escaping Sum
    ) {
        self.settings = settings
        self.otherRate = otherRate
        self.configuration = configuration
        self.sum = sum
    }

    /// Takes the local steps of a round: each is an AdamW step as a run without local steps takes
    /// it. Then codes the change of the parameters.
    ///
    /// - Parameters:
    ///   - work: of one logical worker.
    ///   - parameters: that the round starts from.
    ///   - state: of this worker, after the round before.
    ///   - workspace: for the calling thread alone.
    ///   - place: of the calling thread among those that help it; nil: it is alone.
    ///   - progress: lets another thread follow and abandon the work; a part of it is a pass.
    /// - Returns: nil if the work was abandoned.
    package func perform(
        _ work: LocalWork, parameters: [Float], state: LocalState, workspace: DecoderWorkspace,
        place: WorkSharing.Place? = nil, progress: PassProgress? = nil
    ) -> LocalOutcome? {
        let rates = configuration.learningRates(stepCount: work.scheduledSteps)
        var own = parameters
        var optimizer = AdamW(
            settings: configuration.adamW, step: state.steps, averages: state.averages,
            squareAverages: state.squareAverages)
        var total = GradientSum(tokens: 0, lossTokens: 0, lossSum: 0, gradient: [])
        for (number, microBatches) in work.steps.enumerated() {
            let step = (work.round - 1) * settings.shape.steps + number + 1
            guard
                var sum = stepSum(
                    of: microBatches, step: step, parameters: own, workspace, place, progress)
            else { return nil }
            var gradient: [Float] = []
            swap(&gradient, &sum.gradient)
            total.add(sum)
            GradientNorm.divide(&gradient, by: sum.lossTokens)
            GradientNorm.clip(
                &gradient, norm: GradientNorm.norm(of: gradient), maximum: configuration.maxGradNorm
            )
            optimizer.update(
                &own, gradient: gradient, learningRate: rates.rate(ofStep: step), other: otherRate)
        }
        var change = zip(own, parameters).map { $0 - $1 }
        let address = DeltaCodec.Address(
            seed: configuration.addressedSeed, round: work.round, sender: work.worker)
        let (payload, error) = CodedChange.pack(
            &change, error: state.error, settings.codec, address)
        total.gradient = change
        return LocalOutcome(
            sum: total, payload: payload, digest: GradientCodec.digest(of: change),
            state: LocalState(
                steps: optimizer.step, averages: optimizer.averages,
                squareAverages: optimizer.squareAverages, error: error))
    }

    /// The sum gradient of one local step, in the tree's order.
    private func stepSum(
        of microBatches: [[TokenizedRow]], step: Int, parameters: [Float],
        _ workspace: DecoderWorkspace, _ place: WorkSharing.Place?, _ progress: PassProgress?
    ) -> GradientSum? {
        var tree = ReductionTree(count: microBatches.count)
        for (index, rows) in microBatches.enumerated() {
            let microBatch = MicroBatch(step: step, index: index, rows: rows)
            guard let sum = sum(microBatch, parameters, workspace, place, progress) else {
                return nil
            }
            progress?.finishPart()
            tree.add(index, sum)
        }
        return tree.finish()
    }
}

/// Coding with error feedback.
enum CodedChange {
    /// Adds to `change` what coding this sender's changes has lost so far, codes the sum in place, and
    /// returns it packed, with what is lost now.
    static func pack(
        _ change: inout [Float], error: [Float], _ codec: DeltaCodec,
        _ address: DeltaCodec.Address
    ) -> (payload: [UInt8], error: [Float]) {
        for i in change.indices { change[i] += error[i] }
        let wanted = change
        let payload = codec.pack(&change, address)
        return (payload, zip(wanted, change).map { $0 - $1 })
    }
}
