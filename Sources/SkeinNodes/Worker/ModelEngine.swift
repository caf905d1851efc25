import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinTensors
import SkeinTraining

/// The loaded model, the run's configuration, and threads that compute with both.
final class ModelEngine: LeaseEngine {
    let dataDigest: [UInt8]
    let configurationDigest: [UInt8]
    let parameters: ParameterStore
    /// The engine's fingerprint with this model.
    let fingerprint: String
    private let modelDigest: [UInt8]
    private let engine: MicroBatchEngine
    private let vocabulary: Int
    private let positions: Int
    private let threads: DecoderThreads

    /// Loads `model` for the run that `offer` describes.
    ///
    /// `progress` is called with bytes of the model's file that have been read; false ends the
    /// loading.
    ///
    /// - Throws: `NodeError.offerUnusable` for options that this version cannot read;
    ///   `FormatError`, `TrainingError`; `CancellationError` when `progress` returned false.
    init(
        offer: Offer, model: ModelDirectory, threads: Int, residence: ResidenceChoice,
        progress: @Sendable (Int) -> Bool = { _ in true }
    ) throws {
        let configuration: TrainingConfiguration
        do {
            configuration = try TrainingConfiguration(
                json: offer.configuration, path: "the coordinator's offer")
            try configuration.validate()
        } catch let error as TrainingError {
            throw NodeError.offerUnusable(detail: error.explanation.what)
        }
        guard offer.longestRow <= RecipeOptions.mostTokens else {
            throw NodeError.offerUnusable(
                detail: "a row of \(offer.longestRow) tokens; at most "
                    + "\(RecipeOptions.mostTokens) are possible")
        }
        let lora = try configuration.lora(layerCount: model.configuration.layerCount)
        try lora.check(for: model.configuration)
        let shape = AdapterShape(lora, model: model.configuration)
        positions = Int(offer.longestRow)
        engine = try MicroBatchEngine(
            model: model, adapter: shape, configuration: configuration,
            residence: residence.residence(of: model, compute: configuration.compute),
            positions: positions, threads: threads, progress: progress)
        modelDigest = offer.modelDigest
        dataDigest = offer.dataDigest
        configurationDigest = offer.configurationDigest
        fingerprint = Engine.fingerprint(configuration.compute, of: model.configuration)
        vocabulary = model.configuration.vocabularySize
        parameters = ParameterStore(count: shape.layout.count)
        self.threads = DecoderThreads(threadCount: threads)
    }

    /// Whether this is the run of `offer`, perhaps of a later term.
    func serves(_ offer: Offer) -> Bool {
        modelDigest == offer.modelDigest && dataDigest == offer.dataDigest
            && configurationDigest == offer.configurationDigest
            && positions == Int(offer.longestRow)
    }

    var mostGradientBytes: Int { engine.codec.mostPackedBytes(count: parameters.count) }

    func start(
        _ job: LeaseJob, needParameters: @escaping @Sendable (UInt64) -> Void,
        ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void
    ) {
        threads.start { [self] workspace, place in
            let outcome = Result {
                try perform(
                    job, workspace: workspace, place: place, needParameters: needParameters)
            }
            return { ended(outcome) }
        }
    }

    func close(whenClosed: @escaping @Sendable () -> Void) {
        parameters.close()
        threads.close(whenEnded: whenClosed)
    }

    /// Computes one lease on the calling thread.
    ///
    /// `needParameters` asks the coordinator for a version in full.
    ///
    /// - Returns: nil when the work was abandoned.
    /// - Throws: `NodeError.leaseUnusable` for rows that this model cannot compute with.
    func perform(
        _ job: LeaseJob, workspace: DecoderWorkspace, place: WorkSharing.Place? = nil,
        needParameters: (UInt64) -> Void
    ) throws -> WorkResult? {
        let lease = job.lease
        let rows = try checkedRows(of: lease)
        while true {
            let answer = parameters.parameters(
                version: lease.parameterVersion, term: job.term,
                isAbandoned: { job.progress.isAbandoned })
            switch answer {
            case .abandoned: return nil
            // Ask for it in full; the next time the store waits until it is there.
            case .unusable(let version): needParameters(version)
            case .parameters(let values):
                switch lease.kind {
                case .gradient: return gradient(job, rows, values, workspace, place)
                case .evaluation: return loss(job, rows, values, workspace, place)
                }
            }
        }
    }

    private func gradient(
        _ job: LeaseJob, _ rows: [TokenizedRow], _ values: [Float],
        _ workspace: DecoderWorkspace, _ place: WorkSharing.Place?
    ) -> WorkResult? {
        let lease = job.lease
        let packed = engine.packedGradient(
            of: MicroBatch(step: Int(lease.step), index: Int(lease.key.index), rows: rows),
            parameters: values, workspace: workspace, place: place, progress: job.progress)
        guard let packed else { return nil }
        let (result, sum) = (packed.result, packed.result.sum)
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .gradient,
            tokens: UInt32(clamping: sum.tokens),
            lossTokens: UInt32(clamping: sum.lossTokens), correct: 0, lossSum: sum.lossSum,
            digest: result.digest.bytes, payload: packed.payload)
    }

    private func loss(
        _ job: LeaseJob, _ rows: [TokenizedRow], _ values: [Float],
        _ workspace: DecoderWorkspace, _ place: WorkSharing.Place?
    ) -> WorkResult? {
        let lease = job.lease
        let loss = engine.loss(
            of: rows, parameters: values, workspace: workspace, place: place,
            progress: job.progress)
        guard let loss else { return nil }
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .evaluation,
            tokens: UInt32(clamping: rows.reduce(0) { $0 + $1.ids.count }),
            lossTokens: UInt32(clamping: loss.lossTokens),
            correct: UInt32(clamping: loss.correct), lossSum: loss.lossSum,
            digest: [UInt8](repeating: 0, count: 32), payload: [])
    }

    /// The lease's rows, checked so that the decoder can compute each of them.
    private func checkedRows(of lease: LeaseGrant) throws -> [TokenizedRow] {
        func unusable(_ detail: String) -> NodeError {
            .leaseUnusable(
                round: lease.key.round, index: Int(lease.key.index), detail: detail)
        }
        guard !lease.rows.isEmpty else { throw unusable("it has no rows") }
        return try lease.rows.map { row in
            let row = TokenizedRow(number: Int(row.number), ids: row.ids, targets: row.targets)
            guard row.fits(vocabularySize: vocabulary, positions: positions) else {
                throw unusable(
                    "a row has no loss, more than \(positions) tokens, or a token outside the "
                        + "vocabulary of \(vocabulary)")
            }
            return row
        }
    }
}
