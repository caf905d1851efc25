/// CRC-32 with the polynomial of gzip, which Parquet's page headers may have.
enum CRC32 {
    /// Eight tables of 256: byte k of a word needs table 7 - k ("slicing by 8", Kounavis and Berry 2005).
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
            tables[index] = value
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 255)]
        }
        return tables
    }()

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard let base = bytes.baseAddress else { return 0 }
        return tables.withUnsafeBufferPointer { tables in
            var (crc, place) = (~UInt32(0), 0)
            while place &+ 8 <= bytes.count {
                let word =
                    UInt64(littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                    ^ UInt64(crc)
                crc = 0
                for index in 0..<8 {
                    let byte = Int(truncatingIfNeeded: word &>> UInt64(8 &* index)) & 255
                    crc ^= tables[(7 &- index) &* 256 &+ byte]
                }
                place &+= 8
            }
            while place < bytes.count {
                let byte = base.load(fromByteOffset: place, as: UInt8.self)
                crc = crc >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ byte)]
                place &+= 1
            }
            return ~crc
        }
    }
}
