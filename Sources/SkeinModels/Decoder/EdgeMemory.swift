import SkeinTensors

/// What the adapters of the embedding and the head take of a workspace. Letters as in
/// `DecoderWorkspace`.
struct EdgeMemory {
    /// [T, R], scale * the columns of the embedding's A that belong to the tokens.
    let embedded: UnsafeMutablePointer<Float>
    /// [chunk, R], scale * A (dropout(x)) of the loss rows whose logits exist.
    let reduced: UnsafeMutablePointer<Float>
    /// [T, D] bits, rows padded to whole bytes, for the head's input; unused without dropout.
    let mask: UnsafeMutablePointer<UInt8>
    /// [R, V], the head's B transposed.
    let transposed: UnsafeMutablePointer<Float>
    /// [R, V], what some of the loss rows add to its gradient; only with a backward pass.
    let outer: UnsafeMutablePointer<Float>

    init(_ size: BatchSize, _ arena: inout Arena) {
        let embeddingRank = size.adapter?.embedding?.rank ?? 0
        let headRank = size.adapter?.head?.rank ?? 0
        embedded = arena.take(size.tokens * embeddingRank)
        reduced = arena.take(min(size.lossRows, DecoderWorkspace.headRows) * headRank)
        mask = arena.takeBytes(
            size.dropout && headRank > 0 ? size.tokens * Dropout.maskBytes(size.model.width) : 0)
        transposed = arena.take(headRank * size.model.vocabularySize)
        outer = arena.take(size.training ? headRank * size.model.vocabularySize : 0)
    }
}
