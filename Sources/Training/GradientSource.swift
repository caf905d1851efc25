import Basics
import Models
import Tensors

/// The seam between planning a step and computing it: who computes a micro-batch.
///
/// In one process that is `LocalGradientSource`; over a network it is whoever holds the lease. The
/// training loop cannot tell, and the result does not depend on it.
public protocol GradientSource: Sendable {
    /// Names who takes part, for metrics.
    var workerCount: Int { get }

    /// Computes every micro-batch of a step with the given parameters and delivers each result once,
    /// in any order.
    ///
    /// - Throws: what `deliver` throws, and what keeps the source from computing.
    func compute(
        _ microBatches: [MicroBatch], parameters: [Float],
        deliver: (GradientDelivery) throws -> Void
    ) throws
}

/// One micro-batch's result, rounded by the codec and hashed.
public struct GradientDelivery: Sendable {
    /// Its leaf in the reduction tree.
    public var index: Int
    public var result: MicroBatchResult
    /// SHA-256 of the rounded gradient's canonical bytes.
    public var digest: SHA256.Digest
    public var worker: String
    /// Counted from 1.
    public var attempt: Int
}

/// Computes micro-batches on threads of this process.
public struct LocalGradientSource: GradientSource {
    public let decoder: Decoder
    public let pool: ComputePool
    /// nil: nothing is dropped.
    public let dropout: Dropout?
    public let codec: GradientCodec
    public let seed: UInt64
    public let workerName: String

    public init(
        decoder: Decoder, pool: ComputePool, dropout: Dropout?, codec: GradientCodec, seed: UInt64,
        workerName: String = "local"
    ) {
        self.decoder = decoder
        self.pool = pool
        self.dropout = dropout
        self.codec = codec
        self.seed = seed
        self.workerName = workerName
    }

    /// What `configuration` says about dropout, codec and seed.
    public init(decoder: Decoder, pool: ComputePool, configuration: TrainingConfiguration) {
        let seed = configuration.addressedSeed
        self.init(
            decoder: decoder, pool: pool,
            dropout: configuration.dropout > 0
                ? Dropout(probability: Float(configuration.dropout), seed: seed) : nil,
            codec: configuration.gradientCodec, seed: seed)
    }

    public var workerCount: Int { 1 }

    public func compute(
        _ microBatches: [MicroBatch], parameters: [Float],
        deliver: (GradientDelivery) throws -> Void
    ) throws {
        try pool.forEach(microBatches.count) { [self] index, workspace in
            gradient(of: microBatches[index], parameters: parameters, workspace: workspace)
        } receive: { _, delivery in
            try deliver(delivery)
        }
    }

    /// One micro-batch, on the calling thread.
    public func gradient(
        of microBatch: MicroBatch, parameters: [Float], workspace: DecoderWorkspace
    ) -> GradientDelivery {
        let address = dropout.map { Decoder.DropoutAddress(dropout: $0, step: microBatch.step) }
        var loss = BatchLoss()
        var gradient = [Float](unsafeUninitializedCapacity: parameters.count) { buffer, count in
            guard let out = buffer.baseAddress else { return }
            parameters.withUnsafeBufferPointer { parameters in
                guard let parameters = parameters.baseAddress else { return }
                loss = decoder.gradient(
                    of: microBatch.packed, parameters: parameters, dropout: address,
                    workspace: workspace, into: out)
            }
            count = parameters.count
        }
        codec.round(
            &gradient, seed: seed, step: microBatch.step, microBatch: microBatch.index)
        let digest = GradientCodec.digest(of: gradient)
        return GradientDelivery(
            index: microBatch.index,
            result: MicroBatchResult(
                tokens: microBatch.tokenCount, lossTokens: loss.lossTokens,
                lossSum: loss.lossSum, gradient: gradient),
            digest: digest, worker: workerName, attempt: 1)
    }
}

extension MicroBatch {
    /// The rows end to end, as the decoder takes them.
    var packed: PackedBatch { PackedBatch(rows.map(PackedBatch.Sequence.init)) }
}

extension PackedBatch.Sequence {
    init(_ row: TokenizedRow) {
        var isTarget = [Bool](repeating: false, count: row.ids.count)
        for range in row.targets {
            for position in range { isTarget[position] = true }
        }
        self.init(
            tokens: row.ids, isTarget: isTarget, number: UInt32(truncatingIfNeeded: row.number))
    }
}
