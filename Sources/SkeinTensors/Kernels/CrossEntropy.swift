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
    ///
    /// Shapes and ranges:
    ///   - logits: [V], overwritten.
    ///   - target: 0 ..< V.
    package static func row(
        _ logits: UnsafeMutablePointer<Float>, vocabulary: Int, target: Int, gradient: Bool,
        softCap: Float? = nil
    ) -> Row {
        if let softCap { SoftCap.forward(logits, count: vocabulary, cap: softCap) }
        let own = logits[target]
        let largest = Softmax.maximum(logits, vocabulary)
        let correct = own == largest && !Softmax.contains(logits, target, largest)
        let sum: Float
        if let softCap {
            let level = skein_level()
            sum = skein_exponential_sum(level, logits, vocabulary, largest)
            if gradient {
                skein_softcap_gradient(level, logits, vocabulary, largest, 1 / sum, softCap)
                logits[target] -= 1 - own / softCap * (own / softCap)
            }
        } else {
            sum = Softmax.exponentiate(logits, vocabulary, shift: largest)
            if gradient {
                Softmax.scale(logits, vocabulary, by: 1 / sum)
                logits[target] -= 1
            }
        }
        return Row(loss: logarithm(Double(sum)) - Double(own - largest), correct: correct)
    }
}
