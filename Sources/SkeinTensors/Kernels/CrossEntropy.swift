import CSkeinKernels

/// Cross-entropy of rows of logits against target tokens.
///
/// Letters: `V` vocabulary. Rows are processed in place; the caller holds only a chunk of them, so
/// that full logits never exist.
package enum CrossEntropy {
    /// The result of one row.
    package struct Row: Sendable, Equatable {
        /// -log softmax(logits)[target], natural logarithm.
        package var loss: Double
        /// Whether the target has the largest logit (the first of equals counts).
        package var correct: Bool
    }

    /// The loss of one row; with `gradient` the row becomes softmax(logits) - onehot(target).
    ///
    /// With a soft cap c the loss is that of c tanh(logits / c), and the gradient is the logits' own.
    /// With label smoothing e (Szegedy et al. 2016; PyTorch's `label_smoothing`) the target takes
    /// 1 - e of the loss, and the mean of -log softmax over all tokens the rest; the gradient is
    /// softmax(logits) - (1 - e) onehot(target) - e / V. Checked against PyTorch by
    /// `LabelSmoothingTests`.
    ///
    /// Shapes and ranges:
    ///   - logits: [V], overwritten.
    ///   - target: 0 ..< V.
    ///   - smoothing: 0 or above, below 1.
    package static func row(
        _ logits: UnsafeMutablePointer<Float>, vocabulary: Int, target: Int, gradient: Bool,
        softCap: Float? = nil, smoothing: Float = 0
    ) -> Row {
        if smoothing > 0 {
            return smoothed(
                logits, vocabulary, target, gradient: gradient, softCap: softCap, smoothing)
        }
        guard let softCap else {
            let largest = Softmax.maximum(logits, vocabulary)
            return plain(logits, vocabulary, target, gradient: gradient, largest, before: nil).row
        }
        SoftCap.forward(logits, count: vocabulary, cap: softCap)
        let own = logits[target]
        let largest = Softmax.maximum(logits, vocabulary)
        let correct = own == largest && !Softmax.contains(logits, target, largest)
        let level = skein_level()
        let sum = skein_exponential_sum(level, logits, vocabulary, largest)
        if gradient {
            skein_softcap_gradient(level, logits, vocabulary, largest, 1 / sum, softCap)
            logits[target] -= 1 - own / softCap * (own / softCap)
        }
        return Row(loss: logarithm(Double(sum)) - Double(own - largest), correct: correct)
    }

    /// `row` for rows that follow each other, with the same bits.
    ///
    /// The largest logit of a row is found while the row before it is exponentiated: the latter waits
    /// for arithmetic, the former for memory.
    ///
    /// Shapes and ranges:
    ///   - logits: [R, V], overwritten.
    ///   - targets: [R], each 0 ..< V.
    package static func rows(
        _ logits: UnsafeMutablePointer<Float>, vocabulary: Int, targets: ArraySlice<Int32>,
        gradient: Bool, softCap: Float? = nil, smoothing: Float = 0
    ) -> [Row] {
        guard softCap == nil && smoothing == 0 else {
            return targets.enumerated().map { i, target in
                row(
                    logits + i * vocabulary, vocabulary: vocabulary, target: Int(target),
                    gradient: gradient, softCap: softCap, smoothing: smoothing)
            }
        }
        var largest = targets.isEmpty ? 0 : Softmax.maximum(logits, vocabulary)
        return targets.enumerated().map { i, target in
            let own = logits + i * vocabulary
            let isLast = i + 1 == targets.count
            let result = plain(
                own, vocabulary, Int(target), gradient: gradient, largest,
                before: isLast ? nil : UnsafePointer(own + vocabulary))
            largest = result.nextLargest
            return result.row
        }
    }

    /// `row` without cap and smoothing, its largest logit being known; and the largest of `next`, or 0
    /// if there is none.
    ///
    /// Shapes:
    ///   - logits: [V], overwritten.
    ///   - next: [V].
    private static func plain(
        _ logits: UnsafeMutablePointer<Float>, _ vocabulary: Int, _ target: Int, gradient: Bool,
        _ largest: Float, before next: UnsafePointer<Float>?
    ) -> (row: Row, nextLargest: Float) {
        let own = logits[target]
        let correct = own == largest && !Softmax.contains(logits, target, largest)
        let sum: Float
        var nextLargest: Float = 0
        if let next {
            (sum, nextLargest) = Softmax.exponentiate(
                logits, vocabulary, shift: largest, before: next)
        } else {
            sum = Softmax.exponentiate(logits, vocabulary, shift: largest)
        }
        if gradient {
            Softmax.scale(logits, vocabulary, by: 1 / sum)
            logits[target] -= 1
        }
        let loss = logarithm(Double(sum)) - Double(own - largest)
        return (Row(loss: loss, correct: correct), nextLargest)
    }

    /// `row` with label smoothing.
    private static func smoothed(
        _ logits: UnsafeMutablePointer<Float>, _ vocabulary: Int, _ target: Int, gradient: Bool,
        softCap: Float?, _ smoothing: Float
    ) -> Row {
        if let softCap { SoftCap.forward(logits, count: vocabulary, cap: softCap) }
        let own = logits[target]
        let largest = Softmax.maximum(logits, vocabulary)
        let correct = own == largest && !Softmax.contains(logits, target, largest)
        let mean = sum(logits, vocabulary) / Double(vocabulary)
        let share = smoothing / Float(vocabulary)
        let total: Float
        if gradient, let softCap {
            // The cap's derivative needs what it gave, which the softmax overwrites.
            total = withUnsafeTemporaryAllocation(of: Float.self, capacity: vocabulary) { memory in
                guard let capped = memory.baseAddress else { return 0 }
                capped.update(from: logits, count: vocabulary)
                let total = descend(logits, vocabulary, target, largest, share, smoothing)
                SoftCap.backward(logits, y: capped, count: vocabulary, cap: softCap)
                return total
            }
        } else if gradient {
            total = descend(logits, vocabulary, target, largest, share, smoothing)
        } else {
            total = Softmax.exponentiate(logits, vocabulary, shift: largest)
        }
        let logSum = logarithm(Double(total))
        let e = Double(smoothing)
        let loss =
            (1 - e) * (logSum - Double(own - largest)) + e * (logSum - (mean - Double(largest)))
        return Row(loss: loss, correct: correct)
    }

    /// The logits become softmax(logits) - (1 - e) onehot(target) - e / V.
    ///
    /// - Returns: the sum of e^(logit - largest).
    private static func descend(
        _ logits: UnsafeMutablePointer<Float>, _ vocabulary: Int, _ target: Int, _ largest: Float,
        _ share: Float, _ smoothing: Float
    ) -> Float {
        let total = Softmax.exponentiate(logits, vocabulary, shift: largest)
        Softmax.scale(logits, vocabulary, by: 1 / total)
        for i in 0..<vocabulary { logits[i] -= share }
        logits[target] -= 1 - smoothing
        return total
    }

    /// In Double, in eight sums by i mod 8 that are then added in pairs: one order everywhere.
    private static func sum(_ x: UnsafePointer<Float>, _ count: Int) -> Double {
        var sums = SIMD8<Double>(repeating: 0)
        let whole = count & ~7
        for start in stride(from: 0, to: whole, by: 8) {
            var lane = SIMD8<Double>()
            for i in 0..<8 { lane[i] = Double(x[start + i]) }
            sums += lane
        }
        for i in whole..<count { sums[i - whole] += Double(x[i]) }
        let quads = sums.lowHalf + sums.highHalf
        let pairs = quads.lowHalf + quads.highHalf
        return pairs.x + pairs.y
    }
}
