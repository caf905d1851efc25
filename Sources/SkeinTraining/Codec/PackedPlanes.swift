import Foundation

/// What a packed message contains; its second byte.
enum PackedKind: UInt8 {
    case fp32 = 1
    case bf16 = 2
    case int8 = 3
    case snapshot = 4
    case delta = 5
    case topNumbers = 6

    var name: String {
        switch self {
        case .fp32: "an fp32 gradient"
        case .bf16: "a bf16 gradient"
        case .int8: "an int8 gradient"
        case .snapshot: "a snapshot of parameters"
        case .delta: "a difference of parameters"
        case .topNumbers: "the largest numbers of a change"
        }
    }
}

/// The layout of all packed messages: version, kind, count of numbers (u32), then for each plane
/// its method (0 raw, 1 zstd), its length (u32) and its bytes. Little endian.
///
/// A frame is used only if it is shorter than its plane, so the longest message is known from the
/// count alone.
enum PackedPlanes {
    static let version: UInt8 = 1
    static let headerBytes = 6
    static let planeHeaderBytes = 5

    enum Method: UInt8 {
        case raw = 0
        case zstd = 1
    }

    /// Bytes of a message whose planes are all raw.
    static func mostBytes(planes: Int, planeBytes: Int) -> Int {
        headerBytes + planes * planeHeaderBytes + planeBytes
    }
}

/// Writes a message into memory of the greatest length that it can have.
struct PackedWriter: ~Copyable {
    private let out: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    private let compressor = ZstdFrame.Compressor()

    /// The bytes of a message of at most `capacity` bytes.
    static func bytes(
        capacity: Int, kind: PackedKind, count: Int, _ body: (inout PackedWriter) -> Void
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity) { buffer, written in
            var writer = PackedWriter(out: UnsafeMutableRawBufferPointer(buffer))
            writer.append(PackedPlanes.version)
            writer.append(kind.rawValue)
            writer.append(UInt32(count))
            body(&writer)
            written = writer.count
        }
    }

    private init(out: UnsafeMutableRawBufferPointer) {
        self.out = out
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        out.storeBytes(of: value.littleEndian, toByteOffset: count, as: type(of: value))
        count += value.bitWidth / 8
    }

    /// Appends a plane, as a zstd frame if that is shorter.
    mutating func append(plane: UnsafeRawBufferPointer, level: Int32) {
        let start = count + PackedPlanes.planeHeaderBytes
        let room = UnsafeMutableRawBufferPointer(
            rebasing: out[start..<(start + max(plane.count - 1, 0))])
        if PlaneSample.isCompressible(plane),
            let length = compressor.compress(plane, level: level, into: room)
        {
            append(PackedPlanes.Method.zstd.rawValue)
            append(UInt32(length))
            count += length
            return
        }
        append(PackedPlanes.Method.raw.rawValue)
        append(UInt32(plane.count))
        UnsafeMutableRawBufferPointer(rebasing: out[start...]).copyMemory(from: plane)
        count += plane.count
    }

    /// Splits words of `width` bytes and appends their planes.
    @inline(__always)
    mutating func appendPlanes(
        _ count: Int, width: Int, level: Int32, word: (Int) -> UInt32
    ) {
        let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: max(width * count, 1))
        defer { scratch.deallocate() }
        BytePlanes.split(count, width: width, into: scratch, word: word)
        for plane in 0..<width {
            append(
                plane: UnsafeRawBufferPointer(start: scratch + plane * count, count: count),
                level: level)
        }
    }
}

/// Guesses from a few thousand bytes whether a plane is worth compressing.
enum PlaneSample {
    private static let runs = 16
    private static let runBytes = 1024
    /// zstd gives up below a gain of 1/64 of a block.
    private static let mostBits = 8.0 * 63 / 64

    /// Whether the bytes of sixteen short runs, spread evenly, have less entropy than noise.
    static func isCompressible(_ plane: UnsafeRawBufferPointer) -> Bool {
        var counts = [Int](repeating: 0, count: 256)
        var total = 0
        let stride = max(runBytes, plane.count / runs)
        var start = 0
        while start < plane.count {
            let end = min(start + runBytes, plane.count)
            for i in start..<end { counts[Int(plane[i])] += 1 }
            total += end - start
            start += stride
        }
        var bits = 0.0
        for count in counts where count > 0 {
            let share = Double(count) / Double(total)
            bits -= share * log2(share)
        }
        return total > 0 && bits < mostBits
    }
}
