import SkeinBasics
import SkeinModels
import SkeinTensors

/// Activations of one block of tokens, and each thread's scratch.
///
/// Letters: `T` tokens of a block, or rows if they are more, `B` rows of answers, `D` width, `F`
/// feed-forward, `H`, `G` query and key/value heads, `N` head dimension, `R` rank, `V` vocabulary.
struct GenerationMemory {
    /// [T, D], the residual stream.
    let residual: UnsafeMutablePointer<Float>
    /// [T, D].
    let normed: UnsafeMutablePointer<Float>
    /// [T, D], what is added to the residual stream where that is not a product alone.
    let branch: UnsafeMutablePointer<Float>
    /// [T].
    let inverse: UnsafeMutablePointer<Float>
    /// [T, H * N].
    let q: UnsafeMutablePointer<Float>
    /// [T, G * N].
    let k: UnsafeMutablePointer<Float>
    /// [T, G * N].
    let v: UnsafeMutablePointer<Float>
    /// [T, H * N].
    let attended: UnsafeMutablePointer<Float>
    /// [T, F]; holds the activation.
    let gate: UnsafeMutablePointer<Float>
    /// [T, F].
    let up: UnsafeMutablePointer<Float>
    /// [T, R] for each of the projections that share an input: at most three.
    let reduced: [UnsafeMutablePointer<Float>]
    /// [B, widest], vectors prepared for products with 4-bit weights.
    let spread: UnsafeMutablePointer<Float>
    /// [B, V].
    let logits: UnsafeMutablePointer<Float>
    /// [T, widest]: the input of a product as bf16 with padded rows, or as `QuantizedRows`.
    let converted: UnsafeMutableRawPointer
    /// One for each thread.
    let scratch: [UnsafeMutablePointer<Float>]
    /// Tokens of a block.
    let tokens: Int
    /// `B`.
    let rows: Int
    /// The largest `R`.
    let rank: Int
    private let buffer: FloatBuffer

    /// `attention`: floats of scratch that a thread needs to attend.
    init(
        _ model: ModelConfiguration, compute: ComputeType, tokens: Int, rows: Int, rank: Int,
        attention: Int, threads: Int
    ) {
        (self.tokens, self.rows, self.rank) = (tokens, rows, rank)
        buffer = FloatBuffer(
            count: Self.count(
                model, compute: compute, tokens: tokens, rows: rows, rank: rank,
                attention: attention, threads: threads))
        var arena = Arena(buffer.base)
        let pieces = Self.carve(
            &arena, model, compute, tokens, rows, rank, attention, threads)
        (residual, normed, inverse) = (pieces[0], pieces[1], pieces[2])
        (q, k, v, attended) = (pieces[3], pieces[4], pieces[5], pieces[6])
        (gate, up, spread, logits) = (pieces[7], pieces[8], pieces[9], pieces[10])
        reduced = Array(pieces[11..<14])
        converted = UnsafeMutableRawPointer(pieces[14])
        branch = pieces[15]
        scratch = Array(pieces[16...])
    }

    /// Floats of all that.
    static func count(
        _ model: ModelConfiguration, compute: ComputeType, tokens: Int, rows: Int, rank: Int,
        attention: Int, threads: Int
    ) -> Int {
        var arena = Arena()
        _ = carve(&arena, model, compute, tokens, rows, rank, attention, 0)
        // Scratch apart: `threads` may be any number.
        let shared = arena.used
        _ = arena.take(ownCount(attention))
        return shared.saturatingPlus((arena.used - shared).saturatingTimes(threads))
    }

    /// Floats that a thread needs.
    private static func ownCount(_ attention: Int) -> Int {
        max(InterleavedMatrix.scratchCount, attention)
    }

    private static func convertedBytes(_ compute: ComputeType, rows: Int, columns: Int) -> Int {
        switch compute {
        case .fp32: 0
        case .bf16: RoundedRows.bytes(rows: rows, columns: columns)
        case .int8: QuantizedRows.bytes(rows: rows, columns: columns)
        }
    }

    /// Bytes of all that.
    var byteCount: Int { buffer.count * MemoryLayout<Float>.stride }

    private static func carve(
        _ arena: inout Arena, _ model: ModelConfiguration, _ compute: ComputeType, _ block: Int,
        _ rows: Int, _ rank: Int, _ attention: Int, _ threads: Int
    ) -> [UnsafeMutablePointer<Float>] {
        let tokens = max(block, rows)
        let queries = model.headCount * model.headDimension
        let keys = model.keyValueHeadCount * model.headDimension
        let widest = max(model.width, queries, model.feedForwardWidth)
        let sizes = [
            tokens * model.width, tokens * model.width, tokens, tokens * queries, tokens * keys,
            tokens * keys, tokens * queries, tokens * model.feedForwardWidth,
            tokens * model.feedForwardWidth,
            rows * InterleavedMatrix.spreadStride(columns: widest), rows * model.vocabularySize,
            tokens * rank, tokens * rank, tokens * rank,
            (convertedBytes(compute, rows: tokens, columns: widest) + 3) / 4,
            model.design.blocks.allSatisfy(\.addsProducts) ? 0 : tokens * model.width,
        ]
        let own = Array(repeating: ownCount(attention), count: threads)
        return (sizes + own).map { arena.take($0) }
    }
}
