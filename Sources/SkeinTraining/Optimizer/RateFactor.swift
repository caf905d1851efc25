import SkeinModels

/// Numbers of the flat vector that learn at another rate than the others: B of every module with
/// `--lora-plus-ratio` (LoRA+, Hayou et al. 2024).
///
/// B's rate is that of A times a constant factor, at each step of the schedule; weight decay,
/// which AdamW multiplies by the rate, follows. PEFT's `create_loraplus_optimizer` does the same.
package struct RateFactor: Sendable, Equatable {
    /// Ascending and disjoint.
    package let ranges: [Range<Int>]
    package let factor: Double

    package init(ranges: [Range<Int>], factor: Double) {
        self.ranges = ranges
        self.factor = factor
    }

    /// Of every matrix but A.
    package init(_ factor: Double, in layout: ParameterLayout) {
        self.init(
            ranges: layout.entries.filter { !$0.isA }.map(\.range), factor: factor)
    }

    /// Calls `body` with the parts of `range` in which all numbers have one rate, in order.
    func forEachPart(of range: Range<Int>, _ body: (_ part: Range<Int>, _ isOther: Bool) -> Void) {
        var next = range.lowerBound
        for other in ranges where other.upperBound > next && other.lowerBound < range.upperBound {
            let own = other.clamped(to: next..<range.upperBound)
            if next < own.lowerBound { body(next..<own.lowerBound, false) }
            if !own.isEmpty { body(own, true) }
            next = own.upperBound
        }
        if next < range.upperBound { body(next..<range.upperBound, false) }
    }
}
