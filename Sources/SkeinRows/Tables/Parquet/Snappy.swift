/// Snappy's raw format, without frames, as Parquet uses it.
///
/// Source: format_description.txt of google/snappy.
enum Snappy {
    enum Problem: Error, Equatable {
        /// The text claims another length than the caller knows.
        case wrongLength
        case damaged(offset: Int)
    }

    /// The longest text that `count` bytes can hold: three bytes copy at most 64.
    static func mostBytes(_ count: Int) -> Int { count * 22 }

    /// Decodes `bytes`, which must fill `out`.
    static func decompress(
        _ bytes: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer
    ) throws(Problem) {
        var length: UInt64 = 0
        var place = 0
        while true {
            guard place < min(bytes.count, 5) else { throw .damaged(offset: place) }
            length |= UInt64(bytes[place] & 0x7F) << UInt64(7 * place)
            place += 1
            if bytes[place - 1] < 0x80 { break }
        }
        guard length == UInt64(out.count) else { throw .wrongLength }
        guard let source = bytes.baseAddress, let target = out.baseAddress else {
            guard place == bytes.count else { throw .damaged(offset: place) }
            return
        }
        try elements(source, from: place, to: bytes.count, into: target, out.count)
    }

    private static func elements(
        _ source: UnsafeRawPointer, from start: Int, to end: Int,
        into target: UnsafeMutableRawPointer, _ room: Int
    ) throws(Problem) {
        /// A little-endian number of 1 to 4 bytes.
        @inline(__always) func number(_ place: Int, _ size: Int) -> Int {
            var value = 0
            for index in 0..<size {
                let byte = source.load(fromByteOffset: place &+ index, as: UInt8.self)
                value |= Int(byte) &<< (8 &* index)
            }
            return value
        }
        var (place, written) = (start, 0)
        while place < end {
            let tag = Int(source.load(fromByteOffset: place, as: UInt8.self))
            let element = place
            place &+= 1
            let size: Int
            switch tag & 3 {
            case 0: size = max(0, (tag >> 2) &- 59)
            case 3: size = 4
            default: size = tag & 3
            }
            guard size <= end &- place else { throw .damaged(offset: element) }
            if tag & 3 == 0 {
                let length = (size == 0 ? tag >> 2 : number(place, size)) &+ 1
                place &+= size
                guard length <= end &- place, length <= room &- written else {
                    throw .damaged(offset: element)
                }
                (target + written).copyMemory(from: source + place, byteCount: length)
                place &+= length
                written &+= length
                continue
            }
            let (length, distance): (Int, Int)
            if tag & 3 == 1 {
                length = ((tag >> 2) & 7) &+ 4
                distance = (tag >> 5) << 8 | number(place, 1)
            } else {
                length = (tag >> 2) &+ 1
                distance = number(place, size)
            }
            place &+= size
            guard distance > 0, distance <= written, length <= room &- written else {
                throw .damaged(offset: element)
            }
            copy(target + written, distance, length)
            written &+= length
        }
        guard written == room else { throw .damaged(offset: end) }
    }

    /// Repeats what lies `distance` bytes before `target`, which may overlap the copy.
    @inline(__always)
    private static func copy(_ target: UnsafeMutableRawPointer, _ distance: Int, _ length: Int) {
        if distance >= length {
            target.copyMemory(from: target - distance, byteCount: length)
            return
        }
        for index in 0..<length {
            let byte = (target - distance).load(fromByteOffset: index, as: UInt8.self)
            target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
    }
}
