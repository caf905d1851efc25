import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

@Suite struct PreferenceLossTests {
    private struct Goldens: Decodable {
        struct Case: Decodable {
            let kind: String
            let beta: Double
            let gamma: Double
            let tokens: [Int]
            let logProbabilities: [Double]
            let references: [Double]
            let loss: Double
            let weights: [Double]

            enum CodingKeys: String, CodingKey {
                case kind, beta, gamma, tokens, references, loss, weights
                case logProbabilities = "log_probabilities"
            }
        }

        let cases: [Case]
    }

    @Test("losses and their derivatives are TRL's (Tests/Fixtures/training/preference-losses.py)")
    func goldens() throws {
        let path = TestPaths.fixture("training/preference-losses.json")
        let bytes = try #require(FileManager.default.contents(atPath: path))
        let goldens = try JSONDecoder().decode(Goldens.self, from: bytes)
        #expect(Set(goldens.cases.map(\.kind)).count == 3)
        for golden in goldens.cases {
            let kind = try #require(PreferenceLoss.Kind(rawValue: golden.kind))
            let answers = (0..<2).map {
                PreferenceLoss.Answer(
                    logProbability: golden.logProbabilities[$0], tokens: golden.tokens[$0],
                    reference: golden.references[$0])
            }
            let found = PreferenceLoss(kind: kind, beta: golden.beta, gamma: golden.gamma)(
                chosen: answers[0], rejected: answers[1],
                tokenShare: 1 / Double(golden.tokens[0]))
            // TRL makes odds as Floats; all else there is a Double, too.
            let tolerance = kind == .orpo ? 1e-6 : 1e-9
            func isClose(_ a: Double, _ b: Double) -> Bool {
                abs(a - b) <= tolerance * max(1, abs(b))
            }
            #expect(isClose(found.loss, golden.loss), "\(golden)")
            #expect(isClose(found.chosenWeight, golden.weights[0]), "\(golden)")
            #expect(isClose(found.rejectedWeight, golden.weights[1]), "\(golden)")
        }
    }

    @Test("answers far apart, and answers that are certain, have finite losses")
    func extremes() {
        for kind in PreferenceLoss.Kind.allCases {
            let loss = PreferenceLoss(kind: kind, beta: 1000, gamma: 3)
            for values in [(0.0, -1e6), (-1e6, 0.0), (-1e-12, -1e-12), (-5, -5)] {
                let found = loss(
                    chosen: .init(logProbability: values.0, tokens: 3),
                    rejected: .init(logProbability: values.1, tokens: 2), tokenShare: 0.5)
                #expect(
                    found.loss.isFinite && found.loss >= 0 && found.chosenWeight.isFinite
                        && found.rejectedWeight.isFinite, "\(kind) \(values) \(found)")
                #expect(found.chosenWeight >= 0 && found.rejectedWeight <= 0)
            }
        }
    }

    @Test("numbers that are not finite give a loss that is not finite, not a crash")
    func notFinite() {
        for kind in PreferenceLoss.Kind.allCases {
            let found = PreferenceLoss(kind: kind, beta: 1)(
                chosen: .init(logProbability: .nan, tokens: 1),
                rejected: .init(logProbability: -1, tokens: 1), tokenShare: 1)
            #expect(!found.loss.isFinite, "\(kind) \(found)")
        }
    }

    @Test("the answer that is ahead is preferred")
    func preferred() {
        let loss = PreferenceLoss(kind: .dpo, beta: 0.1)
        func isPreferred(_ chosen: Double, _ rejected: Double) -> Bool {
            loss(
                chosen: .init(logProbability: chosen, tokens: 1, reference: -1),
                rejected: .init(logProbability: rejected, tokens: 1, reference: -2), tokenShare: 0
            ).isPreferred
        }
        #expect(isPreferred(-1, -3) && !isPreferred(-2, -2))
    }
}
