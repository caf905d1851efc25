/// Parquet's mixture of runs and bit-packed groups: levels, indices of a dictionary, flags.
///
/// Source: Encodings of apache/parquet-format, "Run Length Encoding / Bit-Packing Hybrid".
struct RunLengths {
    private let base: UnsafeRawPointer?
    private let count: Int
    private let width: Int
    private var place = 0
    /// Values left of the run, and the value.
    private var left = 0
    private var value = 0
    /// Values left of the bit-packed groups, and the place of the next in bits.
    private var packedLeft = 0
    private var bit = 0

    /// - Parameters:
    ///   - bytes: the runs.
    ///   - width: of a value, 0 to 32 bits.
    init(_ bytes: UnsafeRawBufferPointer, width: Int) {
        base = bytes.baseAddress
        count = bytes.count
        self.width = width
    }

    /// The next value; nil if the bytes end before it.
    @inline(__always)
    mutating func next() -> Int? {
        if left > 0 {
            left &-= 1
            return value
        }
        if packedLeft > 0 { return packed() }
        return start()
    }

    private mutating func packed() -> Int? {
        packedLeft &-= 1
        guard let base else { return 0 }
        // At most 32 bits from any bit on lie in 5 bytes.
        let (first, shift) = (bit >> 3, bit & 7)
        var word: UInt64 = 0
        if first &+ 8 <= count {
            word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: first, as: UInt64.self))
        } else {
            for index in 0..<min(8, count &- first) {
                let byte = base.load(fromByteOffset: first &+ index, as: UInt8.self)
                word |= UInt64(byte) << UInt64(8 * index)
            }
        }
        bit &+= width
        return Int(truncatingIfNeeded: (word >> UInt64(shift)) & (1 << UInt64(width) &- 1))
    }

    /// Begins the next run.
    private mutating func start() -> Int? {
        guard let base else { return nil }
        var head = 0
        var shift = 0
        while true {
            guard place < count, shift < 35 else { return nil }
            let byte = Int(base.load(fromByteOffset: place, as: UInt8.self))
            head |= (byte & 0x7F) << shift
            place += 1
            shift += 7
            if byte < 0x80 { break }
        }
        if head & 1 == 1 {
            // Groups of eight values, of which the last may lack bytes that it does not need.
            let values = (head >> 1) * 8
            let there = width == 0 ? values : (count - place) * 8 / width
            packedLeft = min(values, there)
            bit = place * 8
            place = min(count, place + (head >> 1) * width)
            guard packedLeft > 0 else { return nil }
            return packed()
        }
        let size = (width + 7) / 8
        guard head >> 1 > 0, size <= count - place else { return nil }
        value = 0
        for index in 0..<size {
            let byte = base.load(fromByteOffset: place + index, as: UInt8.self)
            value |= Int(byte) << (8 * index)
        }
        guard width == 0 || value >> width == 0 else { return nil }
        place += size
        left = (head >> 1) - 1
        return value
    }
}
