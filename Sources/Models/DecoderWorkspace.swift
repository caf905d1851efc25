import Formats
import Tensors

/// The memory that one compute thread needs for one micro-batch; reused from batch to batch.
///
/// Not Sendable: each thread owns one. Letters: `T` tokens, `D` width, `F` feed-forward, `H`, `G`
/// query and key/value heads, `N` head dimension, `R` rank, `V` vocabulary.
public final class DecoderWorkspace {
    /// Logit rows that exist at once: [chunk, V]. Fixed, because the row count enters the bits.
    static let headRows = 128
    /// Vocabulary rows that one product takes. Fixed for the same reason.
    static let headPanel = 8192

    let matMul: MatMul
    private(set) var buffer = FloatBuffer(count: 0)

    public init(tally: MatMulTally? = nil) {
        matMul = MatMul(tally: tally)
    }

    /// Carves the pieces for a batch, growing the memory if it is the largest so far.
    func pieces(_ size: BatchSize) -> BatchMemory {
        var count = Arena()
        _ = BatchMemory(size, &count)
        if count.used > buffer.count { buffer = FloatBuffer(count: count.used) }
        var arena = Arena(buffer)
        return BatchMemory(size, &arena)
    }
}

/// All that the memory of a batch depends on.
struct BatchSize {
    var tokens: Int
    var longest: Int
    var lossRows: Int
    var model: ModelConfiguration
    var adapter: AdapterShape?
    /// Activations are kept for a backward pass.
    var training: Bool
    /// Only each block's input is kept; the rest is computed again.
    var checkpointing: Bool
    var dropout: Bool
    /// Largest piece of a streamed matrix; 0 when all weights are resident.
    var streamedFloats: Int
}

/// Pointers into the workspace for one batch.
struct BatchMemory {
    /// What an adapted projection keeps for the backward pass.
    struct Adapted {
        /// [T, R], A (dropout(x)).
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
        let gate: UnsafeMutablePointer<Float>
        let up: UnsafeMutablePointer<Float>
        let adapted: [Adapted?]
    }

    /// [T, D] each: the input of every block and the last block's output. Two take turns when
    /// nothing is kept.
    let residual: [UnsafeMutablePointer<Float>]
    /// One per block, or one for all when nothing is kept or it is computed again.
    let blocks: [Block]
    let normed: UnsafeMutablePointer<Float>
    let activated: UnsafeMutablePointer<Float>
    let dropped: UnsafeMutablePointer<Float>
    let attention: UnsafeMutablePointer<Float>
    let weights: UnsafeMutablePointer<Float>
    // The head: M loss rows, a chunk of logits.
    let lossHidden: UnsafeMutablePointer<Float>
    let lossNormed: UnsafeMutablePointer<Float>
    let lossInverse: UnsafeMutablePointer<Float>
    let lossGradient: UnsafeMutablePointer<Float>
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

        residual = (0..<(size.training ? layers + 1 : 2)).map { _ in arena.take(t * width) }
        blocks = (0..<(keep ? layers : 1)).map { layer in
            Block(
                inverseInput: arena.take(t), inverseMiddle: arena.take(t),
                q: arena.take(t * queries), k: arena.take(t * keys), v: arena.take(t * keys),
                logSumExp: arena.take(t * model.headCount), attended: arena.take(t * queries),
                middle: arena.take(t * width), gate: arena.take(t * forward),
                up: arena.take(t * forward),
                adapted: TargetModule.allCases.map { module in
                    guard let adapter = size.adapter,
                        keep
                            ? adapter.has(module, in: layer)
                            : adapter.configuration.targets.contains(module)
                    else { return nil }
                    let inputs = module.dimensions(in: model).inputs
                    let maskBytes = size.dropout ? t * Dropout.maskBytes(inputs) : 0
                    return Adapted(
                        reduced: arena.take(t * adapter.configuration.rank),
                        mask: arena.takeBytes(maskBytes))
                })
        }
        normed = arena.take(t * width)
        activated = arena.take(t * forward)
        dropped = arena.take(size.dropout ? t * widest : 0)
        attention = arena.take(Attention.scratchCount(keys: size.longest))
        weights = arena.take(size.streamedFloats)
        let rows = size.lossRows
        lossHidden = arena.take(rows * width)
        lossNormed = arena.take(rows * width)
        lossInverse = arena.take(rows)
        logits = arena.take(min(rows, DecoderWorkspace.headRows) * model.vocabularySize)
        let backward = size.training ? 1 : 0
        lossGradient = arena.take(backward * rows * width)
        lossNormedGradient = arena.take(backward * rows * width)
        gradient = arena.take(backward * t * width)
        normedGradient = arena.take(backward * t * width)
        gateGradient = arena.take(backward * t * forward)
        upGradient = arena.take(backward * t * forward)
        q = arena.take(backward * t * queries)
        k = arena.take(backward * t * keys)
        v = arena.take(backward * t * keys)
        attendedGradient = arena.take(backward * t * queries)
        reducedGradient = arena.take(backward * t * (size.adapter?.configuration.rank ?? 0))
    }
}

extension AdapterShape {
    func has(_ module: TargetModule, in layer: Int) -> Bool {
        pairs[layer][module.rawValue] != nil
    }
}
