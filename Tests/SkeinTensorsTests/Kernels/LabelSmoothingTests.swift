import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

@Suite struct LabelSmoothingTests {
    private struct Golden: Decodable {
        var smoothing: Float
        var softCap: Float?
        var target: Int
        var logits: [Float]
        var loss: Double
        var gradient: [Double]
    }

    private func goldens() throws -> [Golden] {
        let path = TestPaths.fixture("training/smoothing.json")
        return try JSONDecoder().decode(
            [Golden].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func row(
        _ golden: Golden, _ logits: [Float], gradient: Bool
    ) -> (row: CrossEntropy.Row, gradient: [Float]) {
        var logits = logits
        let row = CrossEntropy.row(
            &logits, vocabulary: logits.count, target: golden.target, gradient: gradient,
            softCap: golden.softCap, smoothing: golden.smoothing)
        return (row, logits)
    }

    @Test("loss and gradient are PyTorch's, with and without a soft cap")
    func golden() throws {
        for golden in try goldens() {
            let found = row(golden, golden.logits, gradient: true)
            #expect(abs(found.row.loss - golden.loss) < 2e-6 * golden.loss)
            let error = CentralDifference.relativeError(
                found.gradient.map(Double.init), golden.gradient)
            #expect(error < 2e-6, "\(golden.smoothing), \(golden.softCap ?? 0): \(error)")
            #expect(row(golden, golden.logits, gradient: false).row == found.row)
        }
    }

    @Test("the gradient is that of the loss by central differences")
    func differences() throws {
        for golden in try goldens() {
            let own = row(golden, golden.logits, gradient: true).gradient
            let numeric = CentralDifference.gradient(
                at: golden.logits, indices: Array(golden.logits.indices), step: 1e-2
            ) { point in
                row(golden, (0..<golden.logits.count).map { point[$0] }, gradient: false).row.loss
            }
            #expect(CentralDifference.relativeError(own.map(Double.init), numeric) < 2e-3)
        }
    }

    @Test("no smoothing is the row without the argument, to the last bit")
    func none() throws {
        for golden in try goldens() {
            var (a, b) = (golden.logits, golden.logits)
            let with = CrossEntropy.row(
                &a, vocabulary: a.count, target: golden.target, gradient: true,
                softCap: golden.softCap, smoothing: 0)
            let without = CrossEntropy.row(
                &b, vocabulary: b.count, target: golden.target, gradient: true,
                softCap: golden.softCap)
            #expect(with == without && a == b)
        }
    }
}
