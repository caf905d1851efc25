import Foundation
import SkeinTensors

/// Log-probabilities of tokens: a logit less the logarithm of the sum of all exponentials.
enum Logprobs {
    /// - Parameters:
    ///   - token: the one that came.
    ///   - logits: [V], finite or not; those that are not count as they are.
    ///   - top: how many of the likeliest are told, of equal ones the lowest id first.
    /// - Returns: minus infinity for an id that has no logit.
    static func record(
        _ token: Int32, _ logits: Slice<UnsafeBufferPointer<Float>>, top: Int
    ) -> TokenRecord {
        let values = UnsafeBufferPointer(rebasing: logits)
        let largest = values.max() ?? 0
        let sum = exponentialTotal(values, shift: largest, divisor: 1)
        let whole = Double(largest) + log(sum)
        func logprob(_ id: Int) -> Float { Float(Double(values[id]) - whole) }
        var best: [Int] = []
        if top > 0 {
            for id in values.indices {
                if best.count == top, let last = best.last, !(values[id] > values[last]) {
                    continue
                }
                let place = best.firstIndex { values[id] > values[$0] } ?? best.count
                best.insert(id, at: place)
                if best.count > top { best.removeLast() }
            }
        }
        return TokenRecord(
            token: token,
            logprob: values.indices.contains(Int(token)) ? logprob(Int(token)) : -.infinity,
            top: best.map { .init(token: Int32($0), logprob: logprob($0)) })
    }
}
