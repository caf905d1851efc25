import CSkeinKernels
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Rounding to 8-bit levels at every level of the processor, bit for bit like the plain form.
@Suite struct LevelRoundingTests {
    /// Numbers of all sizes, with a block of zeros, one below the least scale and one that is not
    /// finite, if `count` has room for them.
    private static func numbers(_ count: Int) -> [Float] {
        var x = CentralDifference.numbers(count, seed: 12, stream: 1)
        for i in x.indices {
            x[i] *= Float(sign: .plus, exponent: i / 64 % 40 - 30, significand: 1)
            switch i / 64 {
            case 2: x[i] = i % 2 == 0 ? 0 : -0.0
            case 3: x[i] = x[i].sign == .minus ? -1e-37 : 1e-38
            case 4 where i % 64 == 17: x[i] = .infinity
            case 5 where i % 64 == 63: x[i] = .nan
            case 6: x[i] = Float(i % 64 - 32) * 4
            default: break
            }
        }
        return x
    }

    /// The formula, number after number.
    private static func plain(
        _ x: [Float], _ random: AddressedRandom
    ) -> (values: [Float], levels: [Int8], scales: [Float]) {
        var (values, levels, scales) = (x, [Int8](repeating: 99, count: x.count), [Float]())
        for start in stride(from: 0, to: x.count, by: 64) {
            let block = start..<min(start + 64, x.count)
            let scale = (x[block].map(abs).max() ?? 0) / 127
            guard x[block].allSatisfy(\.isFinite) else {
                scales.append(.nan)
                continue
            }
            scales.append(scale < .leastNormalMagnitude ? 0 : scale)
            for i in block {
                let u = AddressedRandom.unitFloat(random.block(UInt32(i / 4), 4, 6)[i % 4])
                levels[i] =
                    scale < .leastNormalMagnitude
                    ? 0 : Int8(max(-127, min(127, (x[i] / scale + u).rounded(.down))))
                values[i] = Float(levels[i]) * (scales.last ?? 0)
            }
        }
        return (values, levels, scales)
    }

    @Test("every level rounds like the formula", arguments: [0, 1, 63, 64, 65, 200, 4099])
    func formula(count: Int) {
        let x = Self.numbers(count)
        let random = AddressedRandom(seed: 3, purpose: .rounding)
        let expected = Self.plain(x, random)
        for level in KernelLevel.all {
            var (own, alone) = (x, x)
            var levels = [Int8](repeating: 99, count: count)
            var scales = [Float](repeating: -1, count: LevelRounding.blocks(count))
            LevelRounding.round(
                &own, count: count, random: random, 4, 6, levels: &levels, scales: &scales,
                level: level)
            LevelRounding.round(
                &alone, count: count, random: random, 4, 6, levels: nil, scales: nil, level: level)
            let bits = expected.values.map(\.bitPattern)
            #expect(own.map(\.bitPattern) == bits, "\(level)")
            #expect(alone.map(\.bitPattern) == bits, "\(level)")
            #expect(levels == expected.levels, "\(level)")
            #expect(
                zip(scales, expected.scales).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN },
                "\(level)")
        }
    }
}
