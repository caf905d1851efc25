import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Levels that a later processor may add.
@Suite struct KernelLevelTests {
    // Where a machine lacks a known level, one above would run instructions that it does not have.
    @Test(
        "a level above the known ones takes the best kernels below it",
        .enabled(if: skein_level() == SKEIN_AVX512BF16))
    func above() throws {
        let above = skein_level(SKEIN_AVX512BF16.rawValue + 1)
        for level in [SKEIN_AVX512BF16, above] {
            // All kernels but the plain one add 2^-127 before it could become zero.
            let matrix = try PackedMatrix(outputs: 1, inputs: 2, for: .forward, level: level)
            matrix.pack([0x1p-27, 0], first: 0, count: 1)
            let room = FloatBuffer(count: RoundedRows.bytes(rows: 1, columns: 2) / 4)
            let x = RoundedRows(
                rounding: [0x1p-100, 0], stride: 2, rows: 1, columns: 2, in: room.base,
                level: level)
            var y: [Float] = [0x1.8p-126]
            matrix.multiply(x, into: &y, stride: 1, accumulating: true)
            #expect(y == [0x1p-125], "\(level)")
            withExtendedLifetime(room) {}
        }
        let (m, n, k) = (5, 40, 300)
        let a = CentralDifference.numbers(m * k, seed: 8, stream: 1)
        let b = CentralDifference.numbers(n * k, seed: 8, stream: 2)
        let products = [SKEIN_PLAIN, SKEIN_AVX512BF16, above].map { level in
            var own = [Float](repeating: 0, count: m * n)
            var reduced = [Float](repeating: 0, count: m * 8)
            MatMul(level: level)(
                m: m, n: n, k: k, a, strideA: k, b, .transposed, strideB: k, into: &own,
                strideC: n)
            skein_lowrank_reduce(level, a, m, k, b, k, 8, 1, nil, 1, &reduced)
            return own + reduced
        }
        #expect(products[2] == products[1])
        #expect(products[2] != products[0])
    }

    @Test("a loop in registers counts what it does, at every level")
    func peak() {
        for level in KernelLevel.all {
            #expect(skein_peak_fp32(level, 0) == 0 && skein_peak_bf16(level, 0) == 0)
            #expect(skein_peak_fp32(level, 20) == 10 * skein_peak_fp32(level, 2))
            #expect(skein_peak_bf16(level, 1) >= skein_peak_fp32(level, 1))
            #expect(skein_peak_int8(level, 0) == 0)
            #expect(skein_peak_int8(level, 20) == 10 * skein_peak_int8(level, 2))
            // A vector holds at least as many bytes to multiply as floats.
            #expect(skein_peak_int8(level, 1) >= skein_peak_fp32(level, 1))
        }
        #expect(RegisterPeak.run(.packed) >= RegisterPeak.run(.single))
    }
}
