import SkeinBasics
import Testing

@testable import SkeinTraining

@Suite struct DeltaCodecTests {
    private static let seed: UInt64 = 20_261_124

    private static func change(_ count: Int, seed: UInt64 = seed) -> [Float] {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        return (0..<count).map { index in
            let words = random.block(UInt32(index))
            let value = AddressedRandom.unitFloat(words.x) + AddressedRandom.unitFloat(words.y) - 1
            return value * Float(sign: .plus, exponent: -Int(words.z % 12), significand: 1)
        }
    }

    private static func bits(_ values: [Float]) -> [UInt32] { values.map(\.bitPattern) }

    private static let address = DeltaCodec.Address(seed: 3, round: 5, sender: 2)
    private static let codecs =
        DeltaCodec.Kind.allCases.map { DeltaCodec($0) }
        + [DeltaCodec(.topk, density: 1), DeltaCodec(.topk, density: 1e-9)]

    @Test("unpacking gives what coding left of the change, bit for bit", arguments: codecs)
    func identity(codec: DeltaCodec) throws {
        let changes =
            [1, 2, 63, 64, 65, 1000, 4097].map { Self.change($0) }
            + [
                [0], [Float](repeating: 0, count: 100), [.nan, 1, 2],
                [Float](repeating: -1, count: 70),
                [.infinity] + Self.change(100), [.leastNonzeroMagnitude, 0, 0],
                [.greatestFiniteMagnitude, -.greatestFiniteMagnitude],
            ]
        for original in changes {
            var coded = original
            let bytes = codec.pack(&coded, Self.address)
            #expect(bytes.count <= codec.mostPackedBytes(count: original.count))
            let unpacked = try codec.unpack(bytes, count: original.count)
            #expect(Self.bits(unpacked) == Self.bits(coded), "seed \(Self.seed)")
            var again = original
            #expect(codec.pack(&again, Self.address) == bytes)
        }
    }

    @Test("topk keeps the largest numbers, the earlier ones of equals")
    func largest() {
        for values in [
            Self.change(1000), Self.change(37), [Float](repeating: 2, count: 9),
            [0, -0.0, 0, 1, -1, 1, -1], [0, 0, 0],
        ] {
            for count in 1...values.count {
                let sorted = values.indices.sorted {
                    (-values[$0].magnitude, $0) < (-values[$1].magnitude, $1)
                }
                #expect(
                    TopNumbers.largest(of: values, count: count) == sorted.prefix(count).sorted(),
                    "\(count) of \(values.count), seed \(Self.seed)")
            }
        }
        #expect(TopNumbers.kept(1.0 / 32, of: 921_600) == 28_800)
        #expect(TopNumbers.kept(1e-9, of: 5) == 1)
        #expect(TopNumbers.kept(1, of: 5) == 5)
    }

    @Test("what coding loses comes with the next change")
    func feedback() throws {
        let codec = DeltaCodec(.topk, density: 0.25)
        let change = Self.change(64)
        var error = [Float](repeating: 0, count: 64)
        var sent = [Float](repeating: 0, count: 64)
        for round in 1...200 {
            var coded = change
            let address = DeltaCodec.Address(seed: 0, round: round, sender: 0)
            error = CodedChange.pack(&coded, error: error, codec, address).error
            for i in sent.indices { sent[i] += coded[i] / 200 }
        }
        for (found, expected) in zip(sent, change) {
            #expect(abs(found - expected) < 0.02)
        }
    }

    @Test("topk at 1 in 32 takes below 2 bytes for a number that it keeps")
    func size() {
        var change = Self.change(921_600)
        let bytes = DeltaCodec(.topk).pack(&change, Self.address)
        #expect(bytes.count < 2 * 28_800, "\(bytes.count) bytes, seed \(Self.seed)")
    }

    @Test("damaged bytes are an error or other numbers, never a crash", arguments: codecs)
    func damaged(codec: DeltaCodec) throws {
        var change = Self.change(130)
        let bytes = codec.pack(&change, Self.address)
        for place in bytes.indices {
            for flip: UInt8 in [1, 0x80, 0xFF] {
                var damaged = bytes
                damaged[place] ^= flip
                do {
                    #expect(try codec.unpack(damaged, count: 130).count == 130)
                } catch {
                    #expect(error is CodecError)
                }
            }
            #expect(throws: CodecError.self) {
                try codec.unpack(Array(bytes[..<place]), count: 130)
            }
        }
        #expect(throws: CodecError.self) { try codec.unpack(bytes + [0], count: 130) }
        #expect(throws: CodecError.self) { try codec.unpack(bytes, count: 131) }
    }

    @Test("an index outside of the vector is named")
    func outside() throws {
        var change = Self.change(64)
        let first = TopNumbers.largest(of: change, count: 2)[0]
        var bytes = DeltaCodec(.topk).pack(&change, Self.address)
        // Header, then four planes of two gaps; the fourth has the low bytes.
        bytes[PackedPlanes.headerBytes + 3 * 7 + 6] = 200
        #expect(throws: CodecError.indexOutOfRange(found: first + 201, count: 64)) {
            try DeltaCodec(.topk).unpack(bytes, count: 64)
        }
    }
}
