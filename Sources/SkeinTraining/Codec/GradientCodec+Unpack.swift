extension GradientCodec {
    /// Makes the rounded gradient from the bytes of `pack`, bit for bit.
    ///
    /// Allocates at most twice what `count` numbers take, whatever the bytes say.
    ///
    /// - Parameters:
    ///   - bytes: from anywhere.
    ///   - count: of the gradient, known to the receiver.
    /// - Returns: `count` numbers.
    /// - Throws: `CodecError`.
    package func unpack(
        _ bytes: UnsafeRawBufferPointer, count: Int
    ) throws -> [Float] {
        let kinds: [PackedKind] =
            switch self {
            case .fp32: [.fp32]
            case .bf16: [.bf16]
            case .int8: [.int8, .fp32]
            }
        var reader = try PackedReader(
            bytes, count: count, limit: mostPackedBytes(count: count), kinds: kinds)
        let gradient: [Float]
        switch reader.kind {
        case .bf16: gradient = try Self.unpackHalves(&reader, count: count)
        case .int8: gradient = try Self.unpackLevels(&reader, count: count)
        default: gradient = try Self.unpackWhole(&reader, count: count)
        }
        try reader.finish()
        if self == .int8, reader.kind == .fp32, GradientNorm.firstNotFinite(in: gradient) == nil {
            throw CodecError.notRounded
        }
        return gradient
    }

    /// Makes the rounded gradient from the bytes of `pack`, bit for bit.
    ///
    /// - Parameters:
    ///   - bytes: from anywhere.
    ///   - count: of the gradient, known to the receiver.
    /// - Returns: `count` numbers.
    /// - Throws: `CodecError`.
    package func unpack(_ bytes: [UInt8], count: Int) throws -> [Float] {
        try bytes.withUnsafeBytes { try unpack($0, count: count) }
    }

    static func unpackWhole(
        _ reader: inout PackedReader, count: Int
    ) throws(CodecError) -> [Float] {
        var values: [Float] = []
        try reader.fourPlanes(count) { planes in
            values = [Float](unsafeUninitializedCapacity: count) { out, written in
                for i in 0..<count {
                    out[i] = BytePlanes.float(rotated: BytePlanes.word(planes, i))
                }
                written = count
            }
        }
        return values
    }

    private static func unpackHalves(
        _ reader: inout PackedReader, count: Int
    ) throws(CodecError) -> [Float] {
        let upper = try reader.plane(count)
        let lower = try reader.plane(count)
        return [Float](unsafeUninitializedCapacity: count) { out, written in
            for i in 0..<count {
                out[i] = BytePlanes.float(
                    rotatedHalf: UInt32(upper[i]) &<< 8 | UInt32(lower[i]))
            }
            written = count
        }
    }

    private static func unpackLevels(
        _ reader: inout PackedReader, count: Int
    ) throws(CodecError) -> [Float] {
        let scales = try unpackWhole(&reader, count: blocks(count))
        let levels = try reader.plane(count)
        return [Float](unsafeUninitializedCapacity: count) { out, written in
            for (block, scale) in scales.enumerated() {
                let start = block * blockCount
                for i in start..<min(start + blockCount, count) {
                    out[i] = value(Int8(bitPattern: levels[i]), scale)
                }
            }
            written = count
        }
    }
}
