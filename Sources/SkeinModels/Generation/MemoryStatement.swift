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

/// Sizes that somebody else has named: what does not fit is `Int.max` and never a trap.
extension Int {
    /// The sum of two numbers that are not negative.
    func saturatingPlus(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    /// The product of two numbers that are not negative.
    func saturatingTimes(_ other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }
}
