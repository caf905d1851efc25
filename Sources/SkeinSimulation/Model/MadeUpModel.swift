import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinRows
import SkeinTraining

/// A model that is nothing but arithmetic: numbers that depend on rows, step and parameters, in no
/// time. Codec, packing and hash are the real ones.
struct MadeUpModel: Sendable {
    let count: Int
    let codec: GradientCodec
    let seed: UInt64
    let configuration: TrainingConfiguration
    /// A step whose first piece has a loss that is not a number, whichever worker computes it.
    let poisonedStep: Int?
    /// The same of the validation after a step.
    let poisonedValidation: Int?
    let recipe: WorkRecipe
    /// Whether each two rows are answers to one prompt.
    let comparesAnswers: Bool
    /// Computes logical workers; nil for a run without local steps.
    private(set) var logical: LogicalWorkers?

    init(_ job: TrainingJob, poisonedStep: Int? = nil, poisonedValidation: Int? = nil) {
        count = job.shape.layout.count
        configuration = job.configuration
        codec = configuration.gradientCodec
        seed = configuration.addressedSeed
        recipe = job.workRecipe
        comparesAnswers = job.comparesAnswers
        (self.poisonedStep, self.poisonedValidation) = (poisonedStep, poisonedValidation)
        logical = made
    }

    private static func mix(_ a: Int, _ b: Int, _ c: Int = 0) -> UInt64 {
        var random = SplitMix(
            state: UInt64(truncatingIfNeeded: a) << 40 ^ UInt64(truncatingIfNeeded: b) << 16
                ^ UInt64(truncatingIfNeeded: c))
        return random.next()
    }

    /// What a row weighs in the loss: of a pair of answers, what the reference says of it, too. Without what
    /// it needs it is not a number.
    private func weight(_ row: TokenizedRow) -> Double {
        let weight = Double(row.lossTokenCount)
        return comparesAnswers ? weight - 0.25 * (row.reference ?? .nan) : weight
    }

    /// What a loss is divided by: loss tokens; of pairs of answers, pairs.
    private func units(_ rows: [TokenizedRow]) -> Int {
        comparesAnswers ? rows.count / 2 : rows.reduce(0) { $0 + $1.lossTokenCount }
    }

    /// The log-probability of each row under the reference model.
    func logProbabilities(of rows: [TokenizedRow]) -> [Double] {
        rows.map { row in
            let noise = Double(Self.mix(row.ids.count, Int(row.ids.last ?? 0), 3) >> 40) * 0x1p-24
            return -Double(row.lossTokenCount) * (1 + noise)
        }
    }

    /// Loss of rows: of all of them and all the parameters.
    private func loss(_ rows: [TokenizedRow], _ parameters: [Float], step: Int) -> Double {
        var size = 0.0
        for value in parameters { size += Double(value) * Double(value) }
        return rows.reduce(0) { sum, row in
            let noise = Double(Self.mix(row.number, step) >> 40) * 0x1p-24
            return sum + weight(row) * (2 + noise + size)
        }
    }

    /// Loss and gradient, before the codec.
    private func compute(
        _ microBatch: MicroBatch, _ parameters: [Float]
    ) -> (lossSum: Double, gradient: [Float]) {
        var gradient = [Float](repeating: 0, count: count)
        for row in microBatch.rows {
            var random = SplitMix(state: Self.mix(row.number, microBatch.step, 1))
            let weight = Float(weight(row))
            for place in 0..<count {
                let noise = Float(Int32(truncatingIfNeeded: random.next())) * 0x1p-31
                gradient[place] += weight * (noise + 0.5 * parameters[place])
            }
        }
        let isPoisoned = microBatch.step == poisonedStep && microBatch.index == 0
        return (
            isPoisoned ? .nan : loss(microBatch.rows, parameters, step: microBatch.step), gradient
        )
    }

    /// What computes logical workers.
    private var made: LogicalWorkers? {
        // The job's own check has passed it.
        guard let settings = try? LocalSettings(configuration) else { return nil }
        return LogicalWorkers(settings, configuration: configuration) {
            [self] batch, parameters, _, _, _ in
            let (lossSum, gradient) = compute(batch, parameters)
            return GradientSum(
                tokens: batch.tokenCount, lossTokens: batch.lossTokenCount, lossSum: lossSum,
                gradient: gradient)
        }
    }

    /// As `train` computes it.
    func result(of microBatch: MicroBatch, parameters: [Float]) -> MicroBatchResult {
        var (lossSum, gradient) = compute(microBatch, parameters)
        codec.round(&gradient, seed: seed, step: microBatch.step, microBatch: microBatch.index)
        var result = MicroBatchResult(
            index: microBatch.index,
            sum: GradientSum(
                tokens: microBatch.tokenCount, lossTokens: units(microBatch.rows),
                lossSum: lossSum, gradient: gradient),
            digest: GradientCodec.digest(of: gradient), worker: "local", attempt: 1)
        result.inputs = WorkInputs(
            recipe, parameters: GradientCodec.digest(of: parameters), gradientOf: microBatch)
        return result
    }

    /// Rows that are judged.
    func loss(
        of rows: [TokenizedRow], parameters: [Float], afterStep step: Int, isFirst: Bool
    ) -> BatchLoss {
        let units = units(rows)
        let isPoisoned = isFirst && step == poisonedValidation
        return BatchLoss(
            lossSum: isPoisoned ? .nan : loss(rows, parameters, step: -1), lossTokens: units,
            correct: rows.reduce(0) {
                let noise = Self.mix($1.number, step, 2)
                // At most one of the two rows of a pair.
                return $0 + Int(noise % UInt64(comparesAnswers ? 2 : $1.lossTokenCount + 1))
            } / (comparesAnswers ? 2 : 1))
    }

    /// As a worker computes a lease.
    func result(of lease: LeaseGrant, parameters: [Float]) -> WorkResult {
        var rows = lease.rows.map {
            TokenizedRow(number: Int($0.number), ids: $0.ids, targets: $0.targets)
        }
        let pairs = lease.work.pairs
        for (index, value) in (pairs?.references ?? []).enumerated() {
            rows[index].reference = value
        }
        let tokens = UInt32(rows.reduce(0) { $0 + $1.ids.count })
        if case .logProbabilities = lease.work {
            let found = logProbabilities(of: rows)
            let payload = LogProbabilityPayload.bytes(of: found)
            return WorkResult(
                key: lease.key, attempt: lease.attempt, kind: .logProbabilities, tokens: tokens,
                lossTokens: UInt32(rows.reduce(0) { $0 + $1.lossTokenCount }), correct: 0,
                lossSum: -found.reduce(0, +), digest: SHA256.digest(of: payload).bytes,
                inputs: inputs(lease, rows), payload: payload)
        }
        guard case .gradient = lease.work else {
            let loss = loss(
                of: rows, parameters: parameters, afterStep: Int(lease.step),
                isFirst: lease.key.index == 0)
            return WorkResult(
                key: lease.key, attempt: lease.attempt, kind: .evaluation, tokens: tokens,
                lossTokens: UInt32(loss.lossTokens), correct: UInt32(loss.correct),
                lossSum: loss.lossSum, digest: [UInt8](repeating: 0, count: 32),
                inputs: inputs(lease, rows), payload: [])
        }
        let batch = MicroBatch(
            step: Int(lease.step), index: Int(lease.key.index), rows: rows,
            tokenShare: pairs?.tokenShare ?? 0)
        var (lossSum, gradient) = compute(batch, parameters)
        let payload = codec.pack(
            &gradient, seed: seed, step: batch.step, microBatch: batch.index)
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .gradient, tokens: tokens,
            lossTokens: UInt32(units(rows)), correct: 0, lossSum: lossSum,
            digest: GradientCodec.digest(of: gradient).bytes, inputs: inputs(lease, rows),
            payload: payload)
    }

    func inputs(_ lease: LeaseGrant, _ rows: [TokenizedRow]) -> [UInt8] {
        WorkInputs(recipe, lease, rows: rows).digest.bytes
    }
}

/// One process without any faults. In a run with local steps every state is rebuilt from the last one
/// that was saved, and none is kept.
struct StraightSource: StepSource {
    let model: MadeUpModel

    var workerCount: Int { 1 }

    func advance(to outer: OuterState, by average: [UInt8]) {}

    func compute(_ work: StepWork, deliver: (MicroBatchResult) throws -> Void) throws {
        switch work {
        case .gradients(let microBatches, let parameters):
            for microBatch in microBatches {
                try deliver(model.result(of: microBatch, parameters: parameters))
            }
        case .round(let round):
            guard let workers = model.logical else { return }
            for work in round.work {
                guard let result = try result(of: work, in: round, workers) else { return }
                try deliver(result)
            }
        }
    }

    private func result(
        of work: LocalWork, in round: OuterRound, _ workers: LogicalWorkers
    ) throws -> MicroBatchResult? {
        let replay = round.history.replay(of: work.worker)
        guard
            let start = try workers.rebuild(replay, workspace: DecoderWorkspace()),
            let outcome = workers.perform(
                work, parameters: round.outer.parameters, state: start,
                workspace: DecoderWorkspace())
        else { return nil }
        var result = MicroBatchResult(
            index: work.worker, sum: outcome.sum, digest: outcome.digest, worker: "local",
            attempt: 1, state: NamedState(digest: outcome.state.digest, state: outcome.state))
        result.inputs = WorkInputs(
            model.recipe, parameters: GradientCodec.digest(of: round.outer.values), work: work,
            state: round.starts[work.worker])
        return result
    }

    func evaluate(_ request: EvaluationRequest) -> RecordedEvaluation {
        let name = GradientCodec.digest(of: request.state)
        let groups = RowEvaluation.groups(
            of: request.rows, microBatchTokens: model.configuration.microBatchTokens,
            comparesAnswers: model.comparesAnswers)
        let share = model.comparesAnswers ? TokenizedRow.tokenShare(of: request.rows) : 0
        let results = groups.enumerated().map { index, group in
            let loss = model.loss(
                of: group, parameters: request.parameters, afterStep: request.step,
                isFirst: index == 0)
            var result = MicroBatchResult(
                index: index,
                sum: GradientSum(
                    tokens: group.reduce(0) { $0 + $1.ids.count }, lossTokens: loss.lossTokens,
                    lossSum: loss.lossSum, gradient: []),
                correct: loss.correct, digest: name, worker: "local", attempt: 1)
            result.inputs = WorkInputs(
                model.recipe, parameters: name, lossOf: group, index: index,
                afterStep: request.step, tokenShare: share)
            return result
        }
        return RecordedEvaluation(
            groups: results, rows: request.rows.count, comparesAnswers: model.comparesAnswers)
    }

    func logProbabilities(
        of groups: [[TokenizedRow]], recorded: [GroupEntry?],
        deliver: (Int, ReferencePiece) throws -> Void
    ) throws {
        for (index, group) in groups.enumerated() {
            let values = model.logProbabilities(of: group)
            try deliver(index, ReferencePiece(values: values, worker: "local", attempt: 1))
        }
    }

    func samples(_ parameters: [Float], step: Int, epoch: Int) -> [SampleMetrics] {
        (model.configuration.samplePrompt ?? []).map {
            SampleMetrics(step: step, epoch: epoch, prompt: $0, text: "after \(step)", tokens: 1)
        }
    }
}
