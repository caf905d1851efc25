import CSHA256

/// SHA-256 (FIPS 180-4), incremental. The compression runs in C on the CPU's own instructions.
public struct SHA256: Sendable {
    /// 32 bytes; prints as 64 lower-case hexadecimal digits.
    public struct Digest: Sendable, Hashable, LosslessStringConvertible {
        public let bytes: [UInt8]

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        /// Bytes from elsewhere; nil when they are not 32.
        public init?(_ bytes: [UInt8]) {
            guard bytes.count == 32 else { return nil }
            self.bytes = bytes
        }

        /// What `description` gives; nil when it is not 64 hexadecimal digits.
        public init?(_ description: String) {
            let digits = description.compactMap(\.hexDigitValue)
            guard digits.count == 64, description.count == 64 else { return nil }
            bytes = stride(from: 0, to: 64, by: 2).map {
                UInt8(digits[$0] << 4 | digits[$0 + 1])
            }
        }

        public var description: String {
            var text = ""
            text.reserveCapacity(64)
            for byte in bytes {
                text += String(byte >> 4, radix: 16)
                text += String(byte & 15, radix: 16)
            }
            return text
        }
    }

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
        0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var tail: [UInt8] = []
    private var length: UInt64 = 0

    public init() {}

    /// Appends bytes to the message.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length += UInt64(bytes.count)
        var rest = bytes
        if !tail.isEmpty {
            let take = min(64 - tail.count, rest.count)
            tail.append(contentsOf: rest[..<take])
            rest = UnsafeRawBufferPointer(rebasing: rest[take...])
            if tail.count < 64 { return }
            compress(tail)
            tail.removeAll(keepingCapacity: true)
        }
        let whole = rest.count / 64
        if whole > 0, let base = rest.baseAddress {
            skein_sha256_compress(&state, base.assumingMemoryBound(to: UInt8.self), whole)
        }
        tail.append(contentsOf: rest[(whole * 64)...])
    }

    /// Appends bytes to the message.
    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Appends the UTF-8 bytes of a text to the message.
    public mutating func update(_ text: String) {
        update(Array(text.utf8))
    }

    /// Pads the message and returns its digest. The value is spent after this.
    public consuming func finish() -> Digest {
        let bits = length &* 8
        tail.append(0x80)
        while tail.count % 64 != 56 { tail.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            tail.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        compress(tail)
        var out: [UInt8] = []
        out.reserveCapacity(32)
        for word in state {
            for shift in stride(from: 24, through: 0, by: -8) {
                out.append(UInt8(truncatingIfNeeded: word >> UInt32(shift)))
            }
        }
        return Digest(bytes: out)
    }

    private mutating func compress(_ blocks: [UInt8]) {
        blocks.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            skein_sha256_compress(&state, base, buffer.count / 64)
        }
    }

    /// Digest of one whole message.
    public static func digest(of bytes: UnsafeRawBufferPointer) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    /// Digest of one whole message.
    public static func digest(of bytes: [UInt8]) -> Digest {
        bytes.withUnsafeBytes { digest(of: $0) }
    }

    /// Digest of the UTF-8 bytes of a text.
    public static func digest(of text: String) -> Digest {
        digest(of: Array(text.utf8))
    }
}
