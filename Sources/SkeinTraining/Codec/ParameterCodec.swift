/// Packs the adapter's parameters for workers: whole, or as the difference between two versions.
///
/// A difference is the XOR of the two bit patterns. If a parameter changed only in its lower bits,
/// its exponent and upper mantissa bytes are zero, and zstd removes them. Nothing is rounded.
package enum ParameterCodec {
    /// The most bytes that `snapshot` and `delta` make of `count` parameters.
    package static func mostPackedBytes(count: Int) -> Int {
        PackedPlanes.mostBytes(planes: 4, planeBytes: 4 * count)
    }

    /// Packs whole parameters.
    package static func snapshot(_ parameters: [Float]) -> [UInt8] {
        GradientCodec.packWhole(parameters, kind: .snapshot)
    }

    /// Packs what turns `old` into `new`, which has as many parameters.
    package static func delta(from old: [Float], to new: [Float]) -> [UInt8] {
        precondition(old.count == new.count, "versions of one adapter")
        return old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in
                PackedWriter.bytes(
                    capacity: mostPackedBytes(count: new.count), kind: .delta, count: new.count
                ) {
                    $0.appendPlanes(new.count, width: 4, level: GradientCodec.exponentLevel) {
                        BytePlanes.rotated(new[$0]) ^ BytePlanes.rotated(old[$0])
                    }
                }
            }
        }
    }

    /// The parameters of a snapshot, bit for bit.
    ///
    /// - Parameters:
    ///   - snapshot: from anywhere.
    ///   - count: of the parameters, known to the receiver.
    /// - Returns: `count` numbers.
    /// - Throws: `CodecError`.
    package static func parameters(
        of snapshot: [UInt8], count: Int
    ) throws -> [Float] {
        try snapshot.withUnsafeBytes { bytes in
            var reader = try PackedReader(
                bytes, count: count, limit: mostPackedBytes(count: count), kinds: [.snapshot])
            let values = try GradientCodec.unpackWhole(&reader, count: count)
            try reader.finish()
            return values
        }
    }

    /// Turns the old parameters into the new ones, bit for bit.
    ///
    /// - Parameters:
    ///   - delta: from anywhere. Only a hash can tell whether it is based on these parameters.
    ///   - parameters: unchanged when an error is thrown.
    /// - Throws: `CodecError`.
    package static func apply(
        _ delta: [UInt8], to parameters: inout [Float]
    ) throws {
        let count = parameters.count
        try delta.withUnsafeBytes { bytes in
            var reader = try PackedReader(
                bytes, count: count, limit: mostPackedBytes(count: count), kinds: [.delta])
            var planes: BytePlanes.Planes?
            try reader.fourPlanes(count) { planes = $0 }
            try reader.finish()
            guard let planes else { return }
            parameters.withUnsafeMutableBufferPointer { parameters in
                for i in 0..<count {
                    let difference = BytePlanes.float(rotated: BytePlanes.word(planes, i))
                    parameters[i] = Float(
                        bitPattern: parameters[i].bitPattern ^ difference.bitPattern)
                }
            }
        }
    }
}
