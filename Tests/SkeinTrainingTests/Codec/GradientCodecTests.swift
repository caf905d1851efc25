import SkeinBasics
import Testing

@testable import SkeinTraining

@Suite struct GradientCodecTests {
    private func gradient(_ count: Int) -> [Float] {
        let random = AddressedRandom(seed: 4, purpose: .benchmark)
        return (0..<count).map { AddressedRandom.unitFloat(random.block(UInt32($0)).x) - 0.5 }
    }

    @Test(
        "bf16 rounds to nearest, ties to even, and keeps NaN and infinity",
        arguments: [
            (0x3F80_0000, 0x3F80_0000), (0x3F80_7FFF, 0x3F80_0000), (0x3F80_8000, 0x3F80_0000),
            (0x3F80_8001, 0x3F81_0000), (0x3F81_8000, 0x3F82_0000), (0xBF81_8000, 0xBF82_0000),
            (0x7F7F_FFFF, 0x7F80_0000), (0x7F80_0000, 0x7F80_0000), (0x0000_0001, 0x0000_0000),
            (0x7F80_0001, 0x7FC0_0000), (0x8000_0000, 0x8000_0000),
        ] as [(UInt32, UInt32)])
    func bf16(bits: UInt32, expected: UInt32) {
        #expect(GradientCodec.bf16(Float(bitPattern: bits)).bitPattern == expected)
    }

    @Test("fp32 changes nothing; bf16 stays within one part in 256")
    func plain() {
        let original = gradient(1000)
        var rounded = original
        GradientCodec.fp32.round(&rounded, seed: 0, step: 1, microBatch: 0)
        #expect(rounded == original)
        GradientCodec.bf16.round(&rounded, seed: 0, step: 1, microBatch: 0)
        #expect(zip(rounded, original).allSatisfy { abs($0 - $1) <= abs($1) / 256 })
        #expect(rounded != original)
    }

    @Test("int8 stays within one level of its block, is a function of its address, and is unbiased")
    func int8() {
        let original = gradient(200)
        func rounded(step: Int, microBatch: Int) -> [Float] {
            var copy = original
            GradientCodec.int8.round(&copy, seed: 9, step: step, microBatch: microBatch)
            return copy
        }
        var sums = [Double](repeating: 0, count: 200)
        for step in 1...400 {
            for (index, value) in rounded(step: step, microBatch: 2).enumerated() {
                sums[index] += Double(value)
            }
        }
        for start in stride(from: 0, to: 200, by: 64) {
            let block = start..<min(start + 64, 200)
            let level = (original[block].map(abs).max() ?? 0) / 127
            let once = rounded(step: 7, microBatch: 1)
            for index in block {
                #expect(abs(once[index] - original[index]) <= level * 1.0001)
                // 400 draws: five times the standard error, which is at most level / 2 / 20.
                let mean = sums[index] / 400
                #expect(abs(mean - Double(original[index])) < Double(level) * 0.125)
            }
        }
        #expect(rounded(step: 1, microBatch: 2) == rounded(step: 1, microBatch: 2))
        #expect(rounded(step: 1, microBatch: 2) != rounded(step: 2, microBatch: 2))
        #expect(rounded(step: 1, microBatch: 2) != rounded(step: 1, microBatch: 3))
    }

    @Test("int8 is scale * floor(x / scale + u), bit for bit")
    func formula() {
        let random = AddressedRandom(seed: 11, purpose: .rounding)
        var original = gradient(1000) + [0, -0.0, 1, -1, 1, -1]
        // A block in which every number is a level already, and one of equal numbers.
        for i in 128..<192 { original[i] = Float(i - 160) * 4 }
        original[128] = -127
        for i in 192..<256 { original[i] = -0.3 }
        var rounded = original
        GradientCodec.int8.round(&rounded, seed: 11, step: 4, microBatch: 6)
        for (index, x) in original.enumerated() {
            let start = index / 64 * 64
            let block = original[start..<min(start + 64, original.count)]
            let scale = (block.map(abs).max() ?? 0) / 127
            let u = AddressedRandom.unitFloat(random.block(UInt32(index / 4), 4, 6)[index % 4])
            let level = max(-127, min(127, (x / scale + u).rounded(.down)))
            #expect(rounded[index].bitPattern == (level * scale).bitPattern, "\(index)")
        }
    }

    @Test("int8 rounds each block alone, and does not change zeros or blocks that are not finite")
    func blocks() {
        var zeros = [Float](repeating: 0, count: 70)
        zeros[69] = .leastNonzeroMagnitude
        GradientCodec.int8.round(&zeros, seed: 0, step: 1, microBatch: 0)
        #expect(zeros.allSatisfy { $0 == 0 })
        var broken = gradient(128)
        broken[3] = .nan
        let original = broken
        GradientCodec.int8.round(&broken, seed: 0, step: 1, microBatch: 0)
        #expect(broken[3].isNaN)
        #expect(broken[..<3] == original[..<3])
        #expect(broken[64...] != original[64...])
        var alone = Array(original[64...])
        var shifted = [Float](repeating: 0, count: 64) + alone
        GradientCodec.int8.round(&shifted, seed: 0, step: 1, microBatch: 0)
        #expect(Array(shifted[64...]) == Array(broken[64...]))
        GradientCodec.int8.round(&alone, seed: 0, step: 1, microBatch: 0)
        #expect(alone != Array(broken[64...]))
    }

    @Test("the digest is that of the little-endian bytes")
    func digest() {
        #expect(
            GradientCodec.digest(of: [1, -2])
                == SHA256.digest(of: [0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0]))
    }
}
