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

    /// The loss of one row; with `gradient` the row becomes the loss's gradient by the logits,
    /// softmax(logits) - onehot(target).
    ///
    /// Shapes and ranges:
    ///   - logits: [V], overwritten.
    ///   - target: 0 ..< V.
    ///   - softCap: c: the loss is that of c tanh(z / c) for a logit z; nil: of the logits.
    package static func row(
        _ logits: UnsafeMutablePointer<Float>, vocabulary: Int, target: Int,
        softCap: Float? = nil, gradient: Bool
    ) -> Row {
        guard let softCap else {
            return row(logits, vocabulary: vocabulary, target: target, gradient: gradient)
        }
        SoftCap.forward(logits, count: vocabulary, cap: softCap)
        guard gradient else {
            return row(logits, vocabulary: vocabulary, target: target, gradient: false)
        }
        return withUnsafeTemporaryAllocation(of: Float.self, capacity: vocabulary) { capped in
            guard let capped = capped.baseAddress else { return Row(loss: 0, correct: false) }
            capped.update(from: logits, count: vocabulary)
            let row = row(logits, vocabulary: vocabulary, target: target, gradient: true)
            SoftCap.backward(logits, y: capped, count: vocabulary, cap: softCap)
            return row
        }
    }

    private static func row(
        _ logits: UnsafeMutablePointer<Float>, vocabulary: Int, target: Int, gradient: Bool
    ) -> Row {
        let own = logits[target]
        let largest = Softmax.maximum(logits, vocabulary)
        let correct = own == largest && !Softmax.contains(logits, target, largest)
        let sum = Softmax.exponentiate(logits, vocabulary, shift: largest)
        if gradient {
            Softmax.scale(logits, vocabulary, by: 1 / sum)
            logits[target] -= 1
        }
        return Row(loss: logarithm(Double(sum)) - Double(own - largest), correct: correct)
    }
}
