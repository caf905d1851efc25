import SkeinBasics

/// What a `BatchDecoder` holds at most, in bytes, by kind. Adapters come on top, each with its
/// `GenerationProjections.byteCount`.
package struct MemoryStatement: Sendable, Equatable {
    /// The one copy of the weights.
    package var weightBytes: Int
    /// Activations of a block, each thread's scratch, and a step's lists: taken at the beginning.
    package var activationBytes: Int
    /// Cosines, sines and factors of positions: taken at the beginning.
    package var tableBytes: Int
    /// Limit of keys, values and tokens of all sequences: taken as they join.
    package var cacheBytes: Int
    /// Limit of the prefix cache: taken as prompts are read.
    package var prefixBytes: Int

    /// All of it; `Int.max` if it is more.
    package var total: Int {
        [weightBytes, activationBytes, tableBytes, cacheBytes, prefixBytes]
            .reduce(0) { $0.saturatingPlus($1) }
    }
}
