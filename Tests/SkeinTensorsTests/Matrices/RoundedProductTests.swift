import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Products with packed weights whose results are bf16.
@Suite struct RoundedProductTests {
    @Test(
        "a product that rounds its sums gives the rounded sums, forward and backward, streamed or not",
        arguments: PackedMatrixTests.levels)
    func roundedSums(level: UInt32) throws {
        let level = skein_level(level)
        for (t, outputs, inputs) in [
            (1, 2, 6), (25, 70, 40), (13, 34, 1602), (307, 66, 1030), (14, 2048, 64),
        ] {
            let it = PackedMatrixCase(t: t, outputs: outputs, inputs: inputs)
            for use in PackedMatrixTests.uses {
                let n = it.left(use).n
                let floats = FloatBuffer(count: t * n)
                let expected = FloatBuffer(count: RoundedRows.bytes(rows: t, columns: n) / 4)
                let found = FloatBuffer(count: expected.count)
                let streamed = FloatBuffer(count: expected.count)
                let matrix = try it.packed(use, level)
                let product = StreamedProduct(
                    outputs: outputs, inputs: inputs, blockRows: 32, level: level)
                let scratch = FloatBuffer(count: product.scratchBytes / 4)
                func halves(_ buffer: FloatBuffer) -> UnsafeMutablePointer<UInt16> {
                    UnsafeMutableRawPointer(buffer.base).assumingMemoryBound(to: UInt16.self)
                }
                it.rounded(use, level) { x in
                    matrix.multiply(x, into: floats.base, stride: n)
                    let rows = RoundedRows(
                        rounding: floats.base, stride: n, rows: t, columns: n,
                        in: expected.base, level: level)
                    floats.base.update(repeating: .nan, count: t * n)
                    matrix.multiply(
                        x, into: floats.base, stride: n, rounded: halves(found))
                    for row in 0..<t {
                        for column in 0..<n {
                            let value = halves(found)[row * rows.stride + column]
                            #expect(value == rows.base[row * rows.stride + column])
                        }
                    }
                    guard use == .forward else { return }
                    product.forward(
                        x, into: floats.base, stride: n, rounded: halves(streamed),
                        scratch: scratch.base
                    ) { range, to in
                        for (i, value) in it.w[
                            range.lowerBound * inputs..<range.upperBound * inputs
                        ].enumerated() {
                            to[i] = value
                        }
                    }
                    let stride = RoundedRows.stride(columns: n)
                    for row in 0..<t {
                        for i in row * stride..<row * stride + n {
                            #expect(halves(streamed)[i] == halves(found)[i])
                        }
                    }
                }
            }
        }
    }
}
