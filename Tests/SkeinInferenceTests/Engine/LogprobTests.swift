import Foundation
import Testing

@testable import SkeinInference

/// Log-probabilities of logits.
@Suite struct LogprobTests {
    private func record(_ token: Int32, _ logits: [Float], top: Int) -> TokenRecord {
        logits.withUnsafeBufferPointer { Logprobs.record(token, $0[...], top: top) }
    }

    @Test("a logit less the logarithm of the sum; the likeliest first, of equal ones the lowest id")
    func values() {
        let logits: [Float] = [1, 3, 3, -2, 0.5]
        let sum = logits.reduce(0.0) { $0 + exp(Double($1)) }
        let found = record(3, logits, top: 3)
        #expect(abs(Double(found.logprob ?? 0) - (-2 - log(sum))) < 1e-6)
        #expect(found.top.map(\.token) == [1, 2, 0])
        #expect(abs(Double(found.top[0].logprob) - (3 - log(sum))) < 1e-6)
        #expect(record(1, logits, top: 0).top.isEmpty)
        #expect(record(1, logits, top: 9).top.count == 5)
        // Large logits do not overflow.
        #expect(record(0, [1000, 0], top: 1).logprob == 0)
        #expect(record(7, logits, top: 1).logprob == -.infinity)
    }
}
