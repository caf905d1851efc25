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
        /// nil without magnitudes.
        let magnitude: Magnitude?
    }

    /// What a projection with magnitudes keeps.
    struct Magnitude {
        /// [T, out], W x + scale * B (A dropout(x)).
        let product: UnsafeMutablePointer<Float>
        /// [out], lengths of the rows of W + scale * B A.
        let lengths: UnsafeMutablePointer<Float>
        /// [out], magnitudes / lengths.
        let gains: UnsafeMutablePointer<Float>
    }

    /// What a norm after a half of a block keeps.
    struct Branch {
        /// [T, D], what it norms.
        let output: UnsafeMutablePointer<Float>
        let inverse: UnsafeMutablePointer<Float>
    }

    /// What the norms of queries and keys keep.
    struct Raw {
        /// As their projections gave them.
        let q: UnsafeMutablePointer<Float>
        let k: UnsafeMutablePointer<Float>
        /// One for each head of each token, or for each token.
        let inverseQ: UnsafeMutablePointer<Float>
        let inverseK: UnsafeMutablePointer<Float>
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
        /// nil without norms of queries and keys.
        let raw: Raw?
        /// nil without a norm after attention.
        let attentionBranch: Branch?
        /// nil without a norm after the feed-forward part.
        let feedForwardBranch: Branch?
        /// [T, F]; with bf16, scratch that all blocks share.
        let gate: UnsafeMutablePointer<Float>
        let up: UnsafeMutablePointer<Float>
        /// [T, F] with padded rows: gate and up as they are kept with bf16.
        let roundedGate: UnsafeMutablePointer<UInt16>
        let roundedUp: UnsafeMutablePointer<UInt16>
        /// In the order of `BlockDesign.projections`.
        let adapted: [Adapted?]
    }

    /// Blocks of which nothing is kept: no pass goes back through them.
    private let frozen: Int
    /// [T, D] each: the input of every block that is not frozen, and the last block's output. Two take
    /// turns when nothing is kept.
    private let residuals: [UnsafeMutablePointer<Float>]
    private let isKept: Bool
    /// [T, D] each: two that take turns as the inputs of frozen blocks.
    private let frozenResiduals: [UnsafeMutablePointer<Float>]
    /// One for all frozen blocks; nil: there are none.
    private let frozenBlock: Block?
    /// One for each other block, or one for all when nothing is kept or it is computed again.
    private let blocks: [Block]
    let normed: UnsafeMutablePointer<Float>
    /// [T, F], or the same as bf16 with padded rows.
    let activated: UnsafeMutablePointer<Float>
    /// [T, widest] with padded rows, for bf16 and int8: the input of the next product.
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
    /// [T, widest], gradients times gains; only with magnitudes.
    let scaledGradient: UnsafeMutablePointer<Float>
    /// [R, widest] with padded rows: A for a bf16 or int8 weight; only with magnitudes.
    let roundedA: UnsafeMutablePointer<UInt16>
    let edges: EdgeMemory

    /// The kept activations of a block, or the one set that several share.
    func block(_ layer: Int) -> Block {
        if layer < frozen, let frozenBlock { return frozenBlock }
        return blocks.count == 1 ? blocks[0] : blocks[layer - frozen]
    }

    /// The residual stream that enters a block; that of `layerCount` leaves the last.
    func residual(_ layer: Int) -> UnsafeMutablePointer<Float> {
        guard isKept else { return residuals[layer % 2] }
        return layer < frozen ? frozenResiduals[layer % 2] : residuals[layer - frozen]
    }

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
        let rank = size.adapter?.configuration.largestRank ?? 0
        let usesMagnitudes = size.adapter?.configuration.usesMagnitudes ?? false
        let isSingle = size.compute != .bf16
        let perBlock = isSingle ? t * forward : 0
        let rounded = isSingle ? 0 : RoundedRows.bytes(rows: t, columns: forward) / 2
        let perShared = isSingle ? 0 : t * forward
        let shared = (gate: arena.take(perShared), up: arena.take(perShared))

        let designs = model.design.blocks
        let frozen = size.training ? size.adapter?.frozenLayers ?? 0 : 0
        self.frozen = frozen
        isKept = size.training
        residuals = (0..<(size.training ? layers - frozen + 1 : 2)).map { _ in
            arena.take(t * width)
        }
        frozenResiduals = (0..<min(frozen, 2)).map { _ in arena.take(t * width) }
        /// A block for any of `sharers`, with what `adapts` of the first one's projections.
        func block(_ sharers: ArraySlice<BlockDesign>, adapts: (Projection) -> Bool) -> Block {
            func branch(_ isKept: Bool) -> Branch? {
                isKept ? Branch(output: arena.take(t * width), inverse: arena.take(t)) : nil
            }
            return Block(
                inverseInput: arena.take(t), inverseMiddle: arena.take(t),
                q: arena.take(t * queries), k: arena.take(t * keys), v: arena.take(t * keys),
                logSumExp: arena.take(t * model.headCount), attended: arena.take(t * queries),
                middle: arena.take(t * width),
                raw: sharers.contains { $0.headNorms != nil }
                    ? Raw(
                        q: arena.take(t * queries), k: arena.take(t * keys),
                        inverseQ: arena.take(t * model.headCount),
                        inverseK: arena.take(t * model.keyValueHeadCount)) : nil,
                attentionBranch: branch(sharers.contains { $0.norms.afterAttention != nil }),
                feedForwardBranch: branch(sharers.contains { $0.norms.afterFeedForward != nil }),
                gate: isSingle ? arena.take(perBlock) : shared.gate,
                up: isSingle ? arena.take(perBlock) : shared.up,
                roundedGate: arena.takeHalves(rounded), roundedUp: arena.takeHalves(rounded),
                adapted: sharers[sharers.startIndex].projections.map { projection in
                    guard adapts(projection) else { return nil }
                    let maskBytes = size.dropout ? t * Dropout.maskBytes(projection.inputs) : 0
                    return Adapted(
                        reduced: arena.take(t * rank),
                        mask: arena.takeBytes(maskBytes),
                        magnitude: usesMagnitudes
                            ? Magnitude(
                                product: arena.take(t * projection.outputs),
                                lengths: arena.take(projection.outputs),
                                gains: arena.take(projection.outputs)) : nil)
                })
        }
        if keep {
            frozenBlock = frozen > 0 ? block(designs[..<frozen]) { _ in false } : nil
            blocks = (frozen..<layers).map { layer in
                block(designs[layer...layer]) {
                    size.adapter?.has($0.module, in: layer) ?? false
                }
            }
        } else {
            // One for all has what any of them needs.
            frozenBlock = nil
            blocks = [block(designs[...]) { size.adapter?.has($0.module) ?? false }]
        }
        normed = arena.take(t * width)
        activated = arena.take(max(t * forward, (rounded + 1) / 2))
        self.rounded = arena.takeHalves(Self.operandBytes(size, widest: widest) / 2)
        transposed = arena.take(rank * widest)
        attention = arena.take(
            designs.indices.reduce(0) { most, layer in
                let shape = model.attention(layer)
                return max(
                    most,
                    isSingle
                        ? Attention(shape).scratchCount(tokens: size.longest)
                        : RoundedAttention(shape).scratchCount(tokens: size.longest))
            })
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
        scaledGradient = arena.take(usesMagnitudes ? backward * t * widest : 0)
        roundedA = arena.takeHalves(
            usesMagnitudes ? Self.inputBytes(size.compute, rows: rank, columns: widest) / 2 : 0)
        edges = EdgeMemory(size, &arena)
    }

    /// Bytes of rows as the frozen weights take them, if not as Float.
    private static func inputBytes(_ compute: ComputeType, rows: Int, columns: Int) -> Int {
        switch compute {
        case .fp32: 0
        case .bf16: RoundedRows.bytes(rows: rows, columns: columns)
        case .int8: QuantizedRows.bytes(rows: rows, columns: columns)
        }
    }

    /// Bytes of the input of the next product; with int8 also of the gradient of some logits.
    private static func operandBytes(_ size: BatchSize, widest: Int) -> Int {
        let bytes = inputBytes(size.compute, rows: size.tokens, columns: widest)
        guard size.compute == .int8 else { return bytes }
        return max(
            bytes,
            QuantizedRows.bytes(
                rows: min(size.lossRows, DecoderWorkspace.headRows),
                columns: min(size.model.vocabularySize, DecoderWorkspace.headPanel)))
    }
}
