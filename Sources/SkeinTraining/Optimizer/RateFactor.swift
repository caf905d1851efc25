import SkeinModels

/// Numbers of the flat vector that learn at another rate than the others: B of every module with
/// `--lora-plus-ratio` (LoRA+, Hayou et al. 2024), and both matrices of the embedding.
///
/// B's rate is that of A times a constant factor, at each step of the schedule; weight decay,
/// which AdamW multiplies by the rate, follows. PEFT's `create_loraplus_optimizer` does the same, and
/// gives the embedding a peak rate of 1e-6, whatever the ratio.
package struct RateFactor: Sendable, Equatable {
    /// What the rate of some numbers is multiplied by.
    package struct Part: Sendable, Equatable {
        package let range: Range<Int>
        package let factor: Double

        package init(range: Range<Int>, factor: Double) {
            self.range = range
            self.factor = factor
        }
    }

    /// The peak rate of the embedding's matrices (PEFT's `loraplus_lr_embedding`).
    static let embeddingRate = 1e-6

    /// Ascending and disjoint.
    package let parts: [Part]

    package init(parts: [Part]) { self.parts = parts }

    /// `factor` for every matrix but A, and `embedding` for those of the embedding.
    package init(_ factor: Double, embedding: Double = 1, in layout: ParameterLayout) {
        self.init(
            parts: layout.entries.filter { !$0.isA || $0.isOfEmbedding }.map {
                Part(range: $0.range, factor: $0.isOfEmbedding ? embedding : factor)
            })
    }

    /// Calls `body` with the parts of `range` in which all numbers have one rate, in order, and that
    /// rate's factor; nil: they have the usual rate.
    func forEachPart(of range: Range<Int>, _ body: (_ part: Range<Int>, _ factor: Double?) -> Void)
    {
        var next = range.lowerBound
        for other in parts
        where other.range.upperBound > next && other.range.lowerBound < range.upperBound {
            let own = other.range.clamped(to: next..<range.upperBound)
            if next < own.lowerBound { body(next..<own.lowerBound, nil) }
            if !own.isEmpty { body(own, other.factor) }
            next = own.upperBound
        }
        if next < range.upperBound { body(next..<range.upperBound, nil) }
    }
}
