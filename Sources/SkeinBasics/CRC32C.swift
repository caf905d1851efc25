import CSkeinHashes

/// CRC-32C (Castagnoli, polynomial 0x1EDC6F41 reflected), as in iSCSI, RFC 3720 appendix B.4.
///
/// Finds damage, not malice: tags do that. Uses the CPU's own instruction where it has one, else
/// eight bytes at a time through eight tables ("slicing-by-8", Kounavis and Berry, 2005).
package struct CRC32C: Sendable {
    private var state: UInt32 = 0xffff_ffff

    package init() {}

    /// The checksum of all bytes so far.
    package var value: UInt32 { ~state }

    /// Appends bytes to the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if skein_crc32c_accelerated() == 1, let base = bytes.baseAddress {
            state = skein_crc32c_update(
                state, base.assumingMemoryBound(to: UInt8.self), bytes.count)
        } else {
            updateByTables(bytes)
        }
    }

    /// The portable path, whatever the CPU has: the oracle of the tests.
    mutating func updateByTables(_ bytes: UnsafeRawBufferPointer) {
        var crc = state
        var position = 0
        let count = bytes.count
        Self.tables.withUnsafeBufferPointer { buffer in
            guard let table = buffer.baseAddress else { return }
            while count - position >= 8 {
                let next = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                let word = UInt64(littleEndian: next) ^ UInt64(crc)
                // Separate statements: one long expression takes the compiler minutes.
                crc = table[1792 + Int(word & 255)]
                crc ^= table[1536 + Int(word >> 8 & 255)]
                crc ^= table[1280 + Int(word >> 16 & 255)]
                crc ^= table[1024 + Int(word >> 24 & 255)]
                crc ^= table[768 + Int(word >> 32 & 255)]
                crc ^= table[512 + Int(word >> 40 & 255)]
                crc ^= table[256 + Int(word >> 48 & 255)]
                crc ^= table[Int(word >> 56)]
                position += 8
            }
            while position < count {
                crc = crc >> 8 ^ table[Int((crc ^ UInt32(bytes[position])) & 255)]
                position += 1
            }
        }
        state = crc
    }

    /// Checksum of one whole message.
    package static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes)
        return crc.value
    }

    /// Checksum of one whole message.
    package static func checksum(of bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { checksum(of: $0) }
    }

    /// Table k, at 256 k, moves a byte past k more bytes of zeros.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = []
        for byte in UInt32(0)..<256 {
            var crc = byte
            for _ in 0..<8 {
                let half = crc >> 1
                crc = crc & 1 == 1 ? half ^ 0x82f6_3b78 : half
            }
            tables.append(crc)
        }
        for index in 256..<2048 {
            let before = tables[index - 256]
            tables.append(before >> 8 ^ tables[Int(before & 255)])
        }
        return tables
    }()
}
