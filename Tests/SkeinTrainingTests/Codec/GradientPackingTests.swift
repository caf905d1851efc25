import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct GradientPackingTests {
    private static let seed: UInt64 = 20_261_122

    /// Sums of two uniform numbers over many magnitudes, like those of gradients.
    private static func gradient(_ count: Int, seed: UInt64 = seed) -> [Float] {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        return (0..<count).map { index in
            let words = random.block(UInt32(index))
            let value = AddressedRandom.unitFloat(words.x) + AddressedRandom.unitFloat(words.y) - 1
            return value * Float(sign: .plus, exponent: -Int(words.z % 12), significand: 1)
        }
    }

    private static func bits(_ values: [Float]) -> [UInt32] { values.map(\.bitPattern) }

    private static let special: [[Float]] = [
        [], [0], [-0.0], [.leastNonzeroMagnitude], [.nan], [.infinity, 1],
        [-.infinity] + gradient(100, seed: 1),
        [Float(bitPattern: 0x7F80_0001), Float(bitPattern: 0xFFC1_2345)],
        [.greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1],
        [Float](repeating: 0, count: 1000), gradient(200, seed: 2) + [.nan],
        [Float](repeating: 0, count: 64) + gradient(64, seed: 3) + [-0.0, Float(bitPattern: 9), 3],
        [Float](repeating: -0.0, count: 65),
    ]

    @Test("unpacking gives the same bits as rounding", arguments: GradientCodec.allCases)
    func identity(codec: GradientCodec) throws {
        let lengths = [1, 2, 15, 16, 63, 64, 65, 127, 1000, 4095, 4096, 4097, 70_001]
        for original in lengths.map({ Self.gradient($0) }) + Self.special {
            var rounded = original
            codec.round(&rounded, seed: 5, step: 3, microBatch: 2)
            var packed = original
            let bytes = codec.pack(&packed, seed: 5, step: 3, microBatch: 2)
            #expect(Self.bits(packed) == Self.bits(rounded), "seed \(Self.seed)")
            let unpacked = try codec.unpack(bytes, count: original.count)
            #expect(Self.bits(unpacked) == Self.bits(rounded), "seed \(Self.seed)")
            #expect(bytes.count <= codec.mostPackedBytes(count: original.count))
            var again = original
            #expect(bytes == codec.pack(&again, seed: 5, step: 3, microBatch: 2))
        }
    }

    @Test("noise takes exactly the bound", arguments: GradientCodec.allCases)
    func noise(codec: GradientCodec) throws {
        let random = AddressedRandom(seed: Self.seed, purpose: .benchmark)
        // A NaN in each block: int8 leaves the blocks as they are and sends them as fp32.
        let noise = (0..<5000).map { (i: Int) -> Float in
            i % 64 == 0 ? .nan : Float(bitPattern: random.block(UInt32(i)).x)
        }
        var packed = noise
        let bytes = codec.pack(&packed, seed: 0, step: 1, microBatch: 0)
        #expect(bytes.count == codec.mostPackedBytes(count: 5000), "seed \(Self.seed)")
        #expect(Self.bits(try codec.unpack(bytes, count: 5000)) == Self.bits(packed))
    }

    @Test("the layout of the bytes does not change", arguments: GradientCodec.allCases)
    func layout(codec: GradientCodec) throws {
        var gradient: [Float] = [1, -2]
        let bytes = codec.pack(&gradient, seed: 0, step: 1, microBatch: 0)
        let header: [UInt8] = [1, 0, 2, 0, 0, 0]
        // Rotated: 1 is 7F 00 00 00, -2 is 80 00 00 01; 2 / 127 is 3C81 0204, rotated 79 02 04 08.
        let expected: [UInt8] =
            switch codec {
            case .fp32:
                [0, 2, 0, 0, 0, 0x7F, 0x80] + [0, 2, 0, 0, 0, 0, 0] + [0, 2, 0, 0, 0, 0, 0]
                    + [0, 2, 0, 0, 0, 0, 1]
            case .bf16: [0, 2, 0, 0, 0, 0x7F, 0x80] + [0, 2, 0, 0, 0, 0, 1]
            case .int8:
                [0, 1, 0, 0, 0, 0x79] + [0, 1, 0, 0, 0, 0x02] + [0, 1, 0, 0, 0, 0x04]
                    + [0, 1, 0, 0, 0, 0x08] + [0, 2, 0, 0, 0, 63, 0x81]
            }
        var whole = header + expected
        whole[1] = codec == .fp32 ? 1 : codec == .bf16 ? 2 : 3
        // 63.5 rounds to 63 or 64.
        var found = bytes
        if codec == .int8, found.count == whole.count {
            #expect([63, 64].contains(found[found.count - 2]))
            found[found.count - 2] = 63
        }
        #expect(found == whole)
    }

    @Test(
        "every cut is an error, and every changed byte is an error or gives the same count",
        arguments: GradientCodec.allCases)
    func damage(codec: GradientCodec) throws {
        // Enough zeros for zstd frames in every plane, small enough to try everything.
        for zeros in [0, 300] {
            var gradient = Self.gradient(130, seed: 7) + [Float](repeating: 0, count: zeros)
            let count = gradient.count
            let bytes = codec.pack(&gradient, seed: 0, step: 1, microBatch: 0)
            for length in 0..<bytes.count {
                #expect(throws: CodecError.self) {
                    try codec.unpack(Array(bytes[..<length]), count: count)
                }
            }
            #expect(throws: CodecError.self) { try codec.unpack(bytes + [0], count: count) }
            var refused = 0
            for index in bytes.indices {
                for mask: UInt8 in [1, 0x80, 0xFF] {
                    var flipped = bytes
                    flipped[index] ^= mask
                    do {
                        #expect(try codec.unpack(flipped, count: count).count == count)
                    } catch is CodecError {
                        refused += 1
                    }
                }
            }
            #expect(refused > 3 * 16, "\(codec) \(zeros)")
        }
    }

    @Test("garbage is refused", arguments: GradientCodec.allCases)
    func garbage(codec: GradientCodec) throws {
        let random = AddressedRandom(seed: Self.seed, purpose: .benchmark)
        for round in 0..<2000 {
            let words = random.block(UInt32(round), 1)
            var bytes = (0..<(words.x % 300)).map {
                UInt8(truncatingIfNeeded: random.block(UInt32(round), 2, $0).x)
            }
            // Half of them begin with a valid header.
            let header: [UInt8] = [1, UInt8(1 + words.y % 3), 64, 0, 0, 0, UInt8(words.z % 3)]
            if round % 2 == 0, bytes.count >= 7 { bytes.replaceSubrange(0..<7, with: header) }
            do {
                #expect(try codec.unpack(bytes, count: 64).count == 64)
            } catch is CodecError {
                // Expected.
            }
        }
    }

    /// A header of 64 numbers in fp32, and one plane.
    private func message(method: UInt8, _ body: [UInt8], length: UInt32? = nil) -> [UInt8] {
        let length = length ?? UInt32(body.count)
        return [1, 1, 64, 0, 0, 0, method]
            + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + body
    }

    @Test("the error names what is wrong")
    func problems() throws {
        func check(_ bytes: [UInt8], _ error: CodecError, _ codec: GradientCodec = .fp32) {
            #expect(throws: error) { try codec.unpack(bytes, count: 64) }
            #expect(!error.explanation.what.isEmpty && error.explanation.status == .badData)
        }
        check([], .truncated(offset: 0, needed: 6, found: 0))
        check([UInt8](repeating: 0, count: 283), .tooLong(found: 283, limit: 282))
        check([2, 1, 64, 0, 0, 0], .unknownVersion(found: 2))
        check([1, 9, 64, 0, 0, 0], .wrongKind(expected: "an fp32 gradient", found: 9))
        check([1, 2, 64, 0, 0, 0], .wrongKind(expected: "an fp32 gradient", found: 2))
        check([1, 4, 64, 0, 0, 0], .wrongKind(expected: "an int8 gradient", found: 4), .int8)
        check([1, 1, 65, 0, 0, 0], .wrongCount(expected: 64, found: 65))
        check([1, 1, 0, 0, 0, 0xFF], .wrongCount(expected: 64, found: 0xFF00_0000))
        check(message(method: 2, []), .unknownMethod(plane: 0, found: 2))
        check(message(method: 0, [1]), .wrongLength(plane: 0, expected: 64, found: 1))
        check(
            message(method: 1, [], length: 64), .wrongLength(plane: 0, expected: 64, found: 64))
        check(
            message(method: 1, [], length: .max),
            .wrongLength(plane: 0, expected: 64, found: Int(UInt32.max)))
        check(message(method: 0, [], length: 64), .truncated(offset: 11, needed: 64, found: 0))
        // Finite numbers from int8 that were not rounded.
        var finite = Self.gradient(64)
        let whole = GradientCodec.fp32.pack(&finite, seed: 0, step: 1, microBatch: 0)
        check(whole, .notRounded, .int8)
    }

    /// A frame of one run-length block: three bytes for up to 128 KiB.
    private func bomb(contents: UInt64?, blocks: Int, blockBytes: Int = 128 << 10) -> [UInt8] {
        var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
        if let contents {
            // Single segment, eight bytes of contents' size.
            frame += [0xE0] + (0..<8).map { UInt8(truncatingIfNeeded: contents >> (8 * $0)) }
        } else {
            // A window of 128 MiB and no size.
            frame += [0x00, 0x88]
        }
        for block in 0..<blocks {
            let header = blockBytes << 3 | 1 << 1 | (block == blocks - 1 ? 1 : 0)
            frame += (0..<3).map { UInt8(truncatingIfNeeded: header >> (8 * $0)) } + [7]
        }
        return frame
    }

    @Test("frames that promise or hold anything but one plane are refused")
    func bombs() throws {
        func check(_ frame: [UInt8], _ problem: ZstdFrame.Problem) {
            #expect(throws: CodecError.badFrame(plane: 0, detail: problem.what)) {
                try GradientCodec.fp32.unpack(message(method: 1, frame), count: 64)
            }
        }
        check(bomb(contents: 1 << 40, blocks: 4), .wrongContents)
        check(bomb(contents: nil, blocks: 4), .wrongContents)
        check(bomb(contents: 64, blocks: 4), .damaged)
        check(bomb(contents: 64, blocks: 1, blockBytes: 63), .damaged)
        let good = bomb(contents: 64, blocks: 1, blockBytes: 64)
        check(good + [0], .wrongEnd)
        check(Array(good.dropLast()), .wrongEnd)
        check(Array(bomb(contents: 32, blocks: 1, blockBytes: 32)), .wrongContents)
        // Two frames of 64 bytes in all, a skippable frame, and a format of 2014.
        let half = bomb(contents: 64, blocks: 1, blockBytes: 32)
        check(Array(half.prefix(17)) + bomb(contents: 32, blocks: 1, blockBytes: 32), .wrongEnd)
        check([0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0] + good, .notAFrame)
        check([0x27, 0xB5, 0x2F, 0xFD] + good.dropFirst(4), .notAFrame)
        check([], .notAFrame)
        // The same frame, alone and of the right length, is a plane.
        let bytes =
            message(method: 1, good)
            + (0..<3).flatMap { _ in [0, 64, 0, 0, 0] + [UInt8](repeating: 0, count: 64) }
        let plane = try GradientCodec.fp32.unpack(bytes, count: 64)
        #expect(plane == [Float](repeating: Float(bitPattern: 0x0380_0000), count: 64))
    }

    @Test("the first number that is not finite is found, wherever it is")
    func notFinite() {
        let gradient =
            Self.gradient(3000) + [.greatestFiniteMagnitude, -0.0, .leastNonzeroMagnitude]
        #expect(GradientNorm.firstNotFinite(in: gradient) == nil)
        #expect(GradientNorm.firstNotFinite(in: []) == nil)
        for index in [0, 1, 1023, 1024, 2047, 3002] {
            for value in [Float.nan, .infinity, -.infinity, Float(bitPattern: 0xFF80_0001)] {
                var broken = gradient
                broken[3002] = .nan
                broken[index] = value
                #expect(GradientNorm.firstNotFinite(in: broken) == index)
            }
        }
    }
}
