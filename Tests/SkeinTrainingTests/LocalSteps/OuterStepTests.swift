import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct OuterStepTests {
    private struct Golden: Decodable {
        var rate, momentum: Double
        var start: [Float]
        /// By round and logical worker.
        var changes: [[[Float]]]
        /// After each round.
        var parameters: [[Float]]
        var momenta: [Float]
        /// What coding lost of the logical workers' changes, then of the average.
        var lost: [[Float]]
    }

    @Test("coding with error feedback and the outer step give the numbers of numpy, bit for bit")
    func golden() throws {
        let bytes = try Data(
            contentsOf: URL(fileURLWithPath: TestPaths.fixture("training/outer.json")))
        let golden = try JSONDecoder().decode(Golden.self, from: bytes)
        let codec = DeltaCodec(.bf16)
        let step = OuterStep(learningRate: golden.rate, momentum: golden.momentum)
        var outer = OuterState(parameters: golden.start)
        let nothing = [Float](repeating: 0, count: golden.start.count)
        var lost = [[Float]](repeating: nothing, count: golden.lost.count)
        for (number, changes) in golden.changes.enumerated() {
            var tree = ReductionTree(count: changes.count)
            func coded(_ change: [Float], _ sender: Int) throws -> [Float] {
                var change = change
                let (payload, error) = CodedChange.pack(
                    &change, error: lost[sender], codec,
                    DeltaCodec.Address(seed: 1, round: number + 1, sender: sender))
                lost[sender] = error
                let unpacked = try codec.unpack(payload, count: change.count)
                #expect(unpacked.map(\.bitPattern) == change.map(\.bitPattern))
                return unpacked
            }
            for (worker, change) in changes.enumerated() {
                tree.add(
                    worker,
                    GradientSum(
                        tokens: 0, lossTokens: 0, lossSum: 0, gradient: try coded(change, worker)))
            }
            var mean = try #require(tree.total?.gradient)
            GradientNorm.divide(&mean, by: changes.count)
            step.apply(try coded(mean, changes.count), to: &outer)
            #expect(outer.parameters == golden.parameters[number], "round \(number + 1)")
        }
        #expect(outer.momentum == golden.momenta)
        #expect(lost == golden.lost)
    }
}
