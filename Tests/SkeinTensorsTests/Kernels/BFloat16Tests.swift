import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Conversions to bf16, alone and at the end of kernels, at every level of the processor.
@Suite struct BFloat16Tests {
    /// The nearest bf16 number by distance, of two equally near ones the even one.
    static func nearest(_ x: Float) -> UInt16 {
        let below = UInt16(truncatingIfNeeded: x.bitPattern >> 16)
        if x.isInfinite { return below }
        let value = { (half: UInt16) in Double(Float(bitPattern: UInt32(half) << 16)) }
        // After the largest number comes infinity's pattern, in the place of 2^128.
        let above = below &+ 1
        let upper = value(above).isInfinite ? (x < 0 ? -0x1p128 : 0x1p128) : value(above)
        let (down, up) = (abs(Double(x) - value(below)), abs(upper - Double(x)))
        if down == up { return below & 1 == 0 ? below : above }
        return down < up ? below : above
    }

    static func rounded(_ x: [Float], _ level: skein_level) -> [UInt16] {
        var out = [UInt16](repeating: 0x5555, count: x.count)
        skein_to_bf16(level, x, x.count, &out)
        return out
    }

    @Test("ties go to even; infinities, zeros and subnormal numbers stay what they are")
    func special() {
        let cases: [(UInt32, UInt16)] = [
            (0x3f80_8000, 0x3f80), (0x3f81_8000, 0x3f82), (0x3f80_8001, 0x3f81),
            (0x3f80_7fff, 0x3f80), (0xbf81_8000, 0xbf82), (0x0000_0000, 0x0000),
            (0x8000_0000, 0x8000), (0x7f80_0000, 0x7f80), (0xff80_0000, 0xff80),
            (0x7f7f_8000, 0x7f80), (0x7f7f_7fff, 0x7f7f), (0x0000_8000, 0x0000),
            (0x0000_8001, 0x0001), (0x0001_8000, 0x0002), (0x007f_ffff, 0x0080),
            (0x8012_3456, 0x8012), (0x0040_0000, 0x0040),
        ]
        for level in KernelLevel.all {
            let own = Self.rounded(cases.map { Float(bitPattern: $0.0) }, level)
            #expect(own == cases.map(\.1), "\(level)")
            // Alone as well: a vector with a subnormal number may take another path.
            for (bits, half) in cases {
                let row = [Float](repeating: Float(bitPattern: bits), count: 18)
                let own = Self.rounded(row, level)
                #expect(own == [UInt16](repeating: half, count: 18), "\(level) \(bits)")
            }
        }
    }

    @Test("NaN stays NaN with its sign, even if its upper half is infinity's")
    func notANumber() {
        let bits: [UInt32] = [0x7f80_0001, 0xff80_0001, 0x7fc0_0000, 0xffff_ffff, 0x7fff_8000]
        for level in KernelLevel.all {
            let own = Self.rounded(bits.map { Float(bitPattern: $0) }, level)
            for (half, bits) in zip(own, bits) {
                #expect(Float(bitPattern: UInt32(half) << 16).isNaN, "\(level)")
                #expect(half >> 15 == UInt16(bits >> 31), "\(level)")
            }
        }
    }

    @Test(
        "rounding takes the nearest number and widening is exact", arguments: [1, 15, 16, 17, 4099])
    func nearest(count: Int) {
        let x = ElementwiseTests.numbers(count, 21).enumerated().map { index, number in
            number * Float(sign: .plus, exponent: index % 250 - 130, significand: 1)
        }
        let expected = x.map(Self.nearest)
        for level in KernelLevel.all {
            #expect(Self.rounded(x, level) == expected, "\(level) seed \(ElementwiseTests.seed)")
            var wide = [Float](repeating: 0, count: count)
            skein_from_bf16(level, expected, count, &wide)
            #expect(wide.map(\.bitPattern) == expected.map { UInt32($0) << 16 }, "\(level)")
        }
    }

    @Test(
        "kernels that write bf16 round what they write as fp32", arguments: [1, 16, 31, 577])
    func outputs(count: Int) {
        let gate = ElementwiseTests.numbers(count, 22, spread: 3)
        let up = ElementwiseTests.numbers(count, 23)
        let da = ElementwiseTests.numbers(count, 24)
        for level in KernelLevel.all {
            let (gate16, up16) = (Self.rounded(gate, level), Self.rounded(up, level))
            var (gateWide, upWide) = (gate, up)
            skein_from_bf16(level, gate16, count, &gateWide)
            skein_from_bf16(level, up16, count, &upWide)
            var (a, b) = (gate, up)
            var (a16, b16) = (gate16, up16)
            skein_swiglu_forward(level, gateWide, upWide, count, &a)
            skein_swiglu_forward_bf16(level, gate16, up16, count, &a16)
            #expect(a16 == Self.rounded(a, level), "\(level)")
            let da16 = Self.rounded(da, level)
            var daWide = da
            skein_from_bf16(level, da16, count, &daWide)
            skein_swiglu_backward(level, daWide, gateWide, upWide, count, &a, &b)
            skein_swiglu_backward_bf16(level, da16, gate16, up16, count, &a16, &b16)
            #expect(a16 == Self.rounded(a, level), "\(level)")
            #expect(b16 == Self.rounded(b, level), "\(level)")

            var inverse: [Float] = [0]
            skein_rmsnorm_forward(level, da, up, 1e-5, 1, count, &a, nil, 0, &inverse)
            skein_rmsnorm_forward(level, da, up, 1e-5, 1, count, nil, &a16, count, &inverse)
            #expect(a16 == Self.rounded(a, level), "\(level)")
            skein_rmsnorm_again(level, da, up, inverse, 1, count, &b, &b16, count)
            #expect(b == a)
            #expect(b16 == a16)
        }
    }

    /// Rows of bf16 numbers, copied without the gaps between them.
    private static func own(_ spread: [UInt16], rows: Int, columns: Int) -> [UInt16] {
        let stride = RoundedRows.stride(columns: columns)
        return (0..<rows).flatMap { spread[$0 * stride..<$0 * stride + columns] }
    }

    @Test("the Swift names reach the same kernels, row after row", arguments: [100, 2048])
    func swiftNames(columns: Int) {
        let rows = 2
        let x = ElementwiseTests.numbers(rows * columns, 25)
        let nothing = [UInt16](repeating: 7, count: rows * RoundedRows.stride(columns: columns))
        func own(_ spread: [UInt16]) -> [UInt16] {
            Self.own(spread, rows: rows, columns: columns)
        }
        var half = nothing
        BFloat16.round(x, rows: rows, columns: columns, into: &half)
        #expect(own(half) == x.map(Self.nearest))
        var wide = x
        BFloat16.widen(half, rows: rows, columns: columns, into: &wide)
        #expect(wide.map(\.bitPattern) == own(half).map { UInt32($0) << 16 })
        var (a, a16, b16) = (x, nothing, nothing)
        GatedActivation.swiGLU.forward(
            gate: half, up: half, rows: rows, columns: columns, into: &a16)
        GatedActivation.swiGLU.forward(gate: wide, up: wide, count: x.count, into: &a)
        #expect(own(a16) == a.map(Self.nearest))
        GatedActivation.swiGLU.backward(
            da: half, gate: half, up: half, rows: rows, columns: columns, dg: &a16, du: &b16)
        var (dg, du) = (wide, x)
        GatedActivation.swiGLU.backward(da: &dg, gate: wide, up: wide, count: x.count, du: &du)
        #expect(own(a16) == dg.map(Self.nearest))
        #expect(own(b16) == du.map(Self.nearest))
        var inverse = [Float](repeating: 0, count: rows)
        RMSNorm.forward(
            x, weight: wide, epsilon: 1e-5, tokens: rows, width: columns, into: &a, bf16: &a16,
            inverse: &inverse)
        RMSNorm.again(
            x, weight: wide, inverse: inverse, tokens: rows, width: columns, into: nil, bf16: &b16)
        #expect(own(a16) == a.map(Self.nearest))
        #expect(own(b16) == own(a16))
        #expect(isMultiplyAddFused == (skein_level().rawValue >= SKEIN_FUSED.rawValue))
    }
}
