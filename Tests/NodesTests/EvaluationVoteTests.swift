import Coordination
import Testing

@testable import Nodes

@Suite("what is compared of two evaluations")
struct EvaluationVoteTests {
    private func evaluation(_ loss: Double, correct: UInt32 = 3, claims: UInt8 = 0) -> WorkResult {
        WorkResult(
            key: WorkKey(round: 1, index: 0), attempt: 1, kind: .evaluation, tokens: 9,
            lossTokens: 5, correct: correct, lossSum: loss,
            digest: [UInt8](repeating: claims, count: 32), payload: [])
    }

    @Test("equal numbers are equal, whatever digest is claimed; other numbers are not")
    func numbers() {
        let one = evaluation(1.5).digestOfNumbers
        #expect(one.count == 32)
        #expect(evaluation(1.5, claims: 7).digestOfNumbers == one)
        #expect(evaluation(1.5.nextUp).digestOfNumbers != one)
        #expect(evaluation(1.5, correct: 4).digestOfNumbers != one)
        let undefined = evaluation(.nan).digestOfNumbers
        #expect(evaluation(-.nan).digestOfNumbers == undefined)
        #expect(evaluation(.infinity).digestOfNumbers != undefined)
    }
}
