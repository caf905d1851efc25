/// Log-probabilities on the wire, in files and for their digest: 8 bytes each, little endian.
package enum LogProbabilityPayload {
    package static func bytes(of values: [Double]) -> [UInt8] {
        values.flatMap { value in
            withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
        }
    }

    /// - Returns: nil unless there are `count` of them.
    package static func values(_ bytes: [UInt8], count: Int) -> [Double]? {
        guard bytes.count == 8 * count else { return nil }
        return bytes.withUnsafeBytes { bytes in
            (0..<count).map { index in
                Double(
                    bitPattern: UInt64(
                        littleEndian: bytes.loadUnaligned(
                            fromByteOffset: 8 * index, as: UInt64.self)))
            }
        }
    }
}
