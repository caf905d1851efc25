import SkeinTensors

/// All that the memory of a batch depends on.
struct BatchSize {
    var tokens: Int
    var longest: Int
    var lossRows: Int
    var model: ModelConfiguration
    var adapter: AdapterShape?
    /// Whether activations are kept for a backward pass.
    var training: Bool
    var compute: ComputeType
    /// Whether only each block's input is kept, and the rest computed again.
    var checkpointing: Bool
    var dropout: Bool
    /// Largest piece of a streamed matrix; 0 when all weights are resident.
    var streamedFloats: Int
}

/// Pointers into the workspace for one batch.
struct BatchMemory {
    /// What an adapted projection keeps for the backward pass.
    struct Adapted {
        /// [T, R], scale * A (dropout(x)).
        let reduced: UnsafeMutablePointer<Float>
        /// [T, in] bits, rows padded to whole bytes; unused without dropout.
        let mask: UnsafeMutablePointer<UInt8>
    }

    /// What a block keeps for the backward pass.
    struct Block {
        let inverseInput: UnsafeMutablePointer<Float>
        let inverseMiddle: UnsafeMutablePointer<Float>
        let q: UnsafeMutablePointer<Float>
        let k: UnsafeMutablePointer<Float>
        let v: UnsafeMutablePointer<Float>
        let logSumExp: UnsafeMutablePointer<Float>
        let attended: UnsafeMutablePointer<Float>
        let middle: UnsafeMutablePointer<Float>
        /// [T, F]; with bf16, scratch that all blocks share.
        let gate: UnsafeMutablePointer<Float>
        let up: UnsafeMutablePointer<Float>
        /// [T, F] with padded rows: gate and up as they are kept with bf16.
        let roundedGate: UnsafeMutablePointer<UInt16>
        let roundedUp: UnsafeMutablePointer<UInt16>
        /// In the order of `BlockDesign.projections`.
        let adapted: [Adapted?]
    }

    /// [T, D] each: the input of every block and the last block's output. Two take turns when
    /// nothing is kept.
    let residual: [UnsafeMutablePointer<Float>]
    /// One per block, or one for all when nothing is kept or it is computed again.
    let blocks: [Block]
    let normed: UnsafeMutablePointer<Float>
    /// [T, F], or the same as bf16 with padded rows.
    let activated: UnsafeMutablePointer<Float>
    /// [T, widest] with padded rows, for bf16: the input of the next product.
    let rounded: UnsafeMutablePointer<UInt16>
    /// [R, widest], B or its gradient transposed.
    let transposed: UnsafeMutablePointer<Float>
    let attention: UnsafeMutablePointer<Float>
    let weights: UnsafeMutablePointer<Float>
    // The head: M loss rows, a chunk of logits.
    let lossAttended: UnsafeMutablePointer<Float>
    let lossNormed: UnsafeMutablePointer<Float>
    let lossInverse: UnsafeMutablePointer<Float>
    let lossNormedGradient: UnsafeMutablePointer<Float>
    let logits: UnsafeMutablePointer<Float>
    // Backward only.
    let gradient: UnsafeMutablePointer<Float>
    let normedGradient: UnsafeMutablePointer<Float>
    let gateGradient: UnsafeMutablePointer<Float>
    let upGradient: UnsafeMutablePointer<Float>
    let q: UnsafeMutablePointer<Float>
    let k: UnsafeMutablePointer<Float>
    let v: UnsafeMutablePointer<Float>
    let attendedGradient: UnsafeMutablePointer<Float>
    let reducedGradient: UnsafeMutablePointer<Float>

    init(_ size: BatchSize, _ arena: inout Arena) {
        let t = size.tokens
        let model = size.model
        let width = model.width
        let queries = model.headCount * model.headDimension
        let keys = model.keyValueHeadCount * model.headDimension
        let forward = model.feedForwardWidth
        let layers = model.layerCount
        let widest = max(width, forward, queries)
        let keep = size.training && !size.checkpointing
        let rank = size.adapter?.configuration.rank ?? 0
        let isSingle = size.compute == .fp32
        let perBlock = isSingle ? t * forward : 0
        let rounded = isSingle ? 0 : RoundedRows.bytes(rows: t, columns: forward) / 2
        let perShared = isSingle ? 0 : t * forward
        let shared = (gate: arena.take(perShared), up: arena.take(perShared))

        residual = (0..<(size.training ? layers + 1 : 2)).map { _ in arena.take(t * width) }
        blocks = (0..<(keep ? layers : 1)).map { layer in
            Block(
                inverseInput: arena.take(t), inverseMiddle: arena.take(t),
                q: arena.take(t * queries), k: arena.take(t * keys), v: arena.take(t * keys),
                logSumExp: arena.take(t * model.headCount), attended: arena.take(t * queries),
                middle: arena.take(t * width),
                gate: isSingle ? arena.take(perBlock) : shared.gate,
                up: isSingle ? arena.take(perBlock) : shared.up,
                roundedGate: arena.takeHalves(rounded), roundedUp: arena.takeHalves(rounded),
                adapted: model.design.blocks[layer].projections.map { projection in
                    guard let adapter = size.adapter,
                        keep
                            ? adapter.has(projection.module, in: layer)
                            : adapter.configuration.targets.contains(projection.module)
                    else { return nil }
                    let maskBytes = size.dropout ? t * Dropout.maskBytes(projection.inputs) : 0
                    return Adapted(
                        reduced: arena.take(t * rank),
                        mask: arena.takeBytes(maskBytes))
                })
        }
        normed = arena.take(t * width)
        activated = arena.take(max(t * forward, (rounded + 1) / 2))
        self.rounded = arena.takeHalves(
            isSingle ? 0 : RoundedRows.bytes(rows: t, columns: widest) / 2)
        transposed = arena.take(rank * widest)
        let roundedAttention = RoundedAttention(
            heads: model.headCount, keyValueHeads: model.keyValueHeadCount,
            headDimension: model.headDimension)
        attention = arena.take(
            isSingle
                ? Attention.scratchCount(tokens: size.longest)
                : roundedAttention.scratchCount(tokens: size.longest))
        weights = arena.take(size.streamedFloats)
        let rows = size.lossRows
        lossAttended = arena.take(rows * queries)
        lossNormed = arena.take(rows * width)
        lossInverse = arena.take(rows)
        logits = arena.take(min(rows, DecoderWorkspace.headRows) * model.vocabularySize)
        let backward = size.training ? 1 : 0
        lossNormedGradient = arena.take(backward * rows * width)
        gradient = arena.take(backward * t * width)
        normedGradient = arena.take(backward * t * width)
        gateGradient = arena.take(backward * t * forward)
        upGradient = arena.take(backward * t * forward)
        q = arena.take(backward * t * queries)
        k = arena.take(backward * t * keys)
        v = arena.take(backward * t * keys)
        attendedGradient = arena.take(backward * t * queries)
        reducedGradient = arena.take(backward * t * rank)
    }
}
