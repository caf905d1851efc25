import SkeinCoordination
import Testing

@testable import SkeinCluster

@Suite("what counts when two results are compared")
struct ResultVoteTests {
    private func result(
        _ kind: WorkKind, loss: Double = 1.5, correct: UInt32 = 3, digest: UInt8 = 0
    ) -> WorkResult {
        WorkResult(
            key: WorkKey(round: 1, index: 0), attempt: 1, kind: kind, tokens: 9, lossTokens: 5,
            correct: correct, lossSum: loss, digest: [UInt8](repeating: digest, count: 32),
            inputs: [UInt8](repeating: 0, count: 32), payload: [])
    }

    @Test(
        "the loss and the counts, for gradients and evaluations", arguments: WorkKind.allCases)
    func numbers(_ kind: WorkKind) {
        let one = result(kind).vote
        #expect(one.count == 32)
        #expect(result(kind).vote == one)
        #expect(result(kind, loss: 1.5.nextUp).vote != one)
        #expect(result(kind, correct: 4).vote != one)
        let undefined = result(kind, loss: .nan).vote
        #expect(result(kind, loss: -.nan).vote == undefined)
        #expect(result(kind, loss: .infinity).vote != undefined)
    }

    @Test("the digest of a gradient, but not that of an evaluation")
    func digests() {
        #expect(result(.gradient, digest: 7).vote != result(.gradient).vote)
        #expect(result(.evaluation, digest: 7).vote == result(.evaluation).vote)
    }
}
