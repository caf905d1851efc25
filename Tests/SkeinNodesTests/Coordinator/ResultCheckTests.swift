import SkeinBasics
import SkeinCoordination
import SkeinTraining
import Testing

@testable import SkeinNodes

@Suite("checks of results")
struct ResultCheckTests {
    private static let count = 1000
    private let check = ResultCheck(
        round: LeasedRound(
            number: 7, label: .step(3), kind: .gradient, step: 3,
            rows: (0..<4).map { index in
                [TokenizedRow(number: index, ids: [1, 2, 3, 4], targets: [1..<4])]
            },
            publication: ParameterPublication(
                version: 1, digest: [], differences: [], snapshot: nil)),
        codec: .fp32, parameterCount: count)

    private func candidate(
        _ index: Int, numbers: [Float]? = nil, digest: [UInt8]? = nil, tokens: UInt32 = 4
    ) -> Candidate {
        var gradient =
            numbers ?? (0..<Self.count).map { (i: Int) -> Float in Float(i * (index + 1)) / 64 }
        let payload = GradientCodec.fp32.pack(&gradient, seed: 0, step: 3, microBatch: index)
        return Candidate(
            peer: PeerID(1), worker: "w\(index)",
            result: WorkResult(
                key: WorkKey(round: 7, index: UInt32(index)), attempt: 1, kind: .gradient,
                tokens: tokens, lossTokens: 3, correct: 0, lossSum: 2.5,
                digest: digest ?? GradientCodec.digest(of: gradient).bytes, payload: payload))
    }

    /// A verdict as text, with the gradient to be summed.
    private func text(_ verdict: ResultCheck.Verdict) -> String {
        switch verdict {
        case .accepted(let result):
            "accepted \(result.index) \(result.worker) \(result.sum.gradient)"
        case .notFinite(let result, let detail): "\(result.index) \(result.sum.gradient) \(detail)"
        case .refused(let detail): detail
        }
    }

    @Test("two results checked at once get the verdicts that each gets alone")
    func pairs() {
        let candidates = [
            candidate(0), candidate(1), candidate(2, tokens: 5),
            candidate(3, digest: [UInt8](repeating: 1, count: 32)),
            candidate(1, numbers: [Float](repeating: .nan, count: Self.count)),
            candidate(0, numbers: [1, 2]), candidate(9),
        ]
        for first in candidates {
            for second in candidates {
                #expect(
                    check(first, second).map(text) == [text(check(first)), text(check(second))])
            }
        }
        #expect(text(check(candidates[0])).hasPrefix("accepted 0 w0"))
        #expect(text(check(candidates[3])) == "its SHA-256 is not that of its gradient")
    }

    @Test("the second of a pair is the next item, if that is a result of the same round")
    func next() {
        let inbox = Inbox()
        #expect(inbox.takeCheck(round: 7)?.worker == nil)
        inbox.put(.check(candidate(0)))
        inbox.put(.settled(round: 7))
        inbox.put(.check(candidate(1)))
        #expect(inbox.takeCheck(round: 8)?.worker == nil)
        #expect(inbox.takeCheck(round: 7)?.worker == "w0")
        #expect(inbox.takeCheck(round: 7)?.worker == nil)
        guard case .settled(7)? = inbox.takeNow() else {
            Issue.record("the order was changed")
            return
        }
        #expect(inbox.takeCheck(round: 7)?.worker == "w1")
    }
}
