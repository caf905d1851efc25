import CSkeinHashes

/// SHA-256 (FIPS 180-4), incremental. The compression runs in C on the CPU's own instructions.
package struct SHA256: Sendable {
    /// 32 bytes; prints as 64 lower-case hexadecimal digits.
    package struct Digest: Sendable, Hashable, LosslessStringConvertible {
        package let bytes: [UInt8]

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        /// A digest from its bytes; nil unless there are 32.
        package init?(_ bytes: [UInt8]) {
            guard bytes.count == 32 else { return nil }
            self.bytes = bytes
        }

        /// A digest from its `description`; nil unless that is 64 hexadecimal digits.
        package init?(_ description: String) {
            let digits = description.compactMap(\.hexDigitValue)
            guard digits.count == 64, description.count == 64 else { return nil }
            bytes = stride(from: 0, to: 64, by: 2).map {
                UInt8(digits[$0] << 4 | digits[$0 + 1])
            }
        }

        package var description: String {
            var text = ""
            text.reserveCapacity(64)
            for byte in bytes {
                text += String(byte >> 4, radix: 16)
                text += String(byte & 15, radix: 16)
            }
            return text
        }
    }

    // Both are stored inline: a frame's tag is a few blocks long, and arrays would cost more than
    // hashing them.
    private var state = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
        0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
    private var tail = SIMD64<UInt8>()
    private var tailCount = 0
    private var length: UInt64 = 0

    package init() {}

    /// Appends bytes to the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length += UInt64(bytes.count)
        var rest = bytes
        if tailCount > 0 {
            rest = keep(rest)
            if tailCount < 64 { return }
            compressTail()
        }
        let whole = rest.count / 64
        if whole > 0, let base = rest.baseAddress {
            compress(base, blocks: whole)
            rest = UnsafeRawBufferPointer(rebasing: rest[(whole * 64)...])
        }
        _ = keep(rest)
    }

    /// Appends bytes to two messages at once, in hardly more time than one takes: a round's
    /// instructions wait for the round before, which leaves time for the other.
    package static func update(
        _ first: inout SHA256, _ firstBytes: UnsafeRawBufferPointer,
        _ second: inout SHA256, _ secondBytes: UnsafeRawBufferPointer
    ) {
        var (one, two) = (firstBytes, secondBytes)
        // The tails are filled first; then both messages are at a block's start.
        first.fillTail(from: &one)
        second.fillTail(from: &two)
        let isBetween = first.tailCount == 0 && second.tailCount == 0
        let blocks = isBetween ? min(one.count, two.count) / 64 : 0
        if blocks > 0, let oneBase = one.baseAddress, let twoBase = two.baseAddress {
            first.length += UInt64(64 * blocks)
            second.length += UInt64(64 * blocks)
            first.withState { firstState in
                second.withState { secondState in
                    skein_sha256_compress_two(
                        firstState, oneBase.assumingMemoryBound(to: UInt8.self), secondState,
                        twoBase.assumingMemoryBound(to: UInt8.self), blocks)
                }
            }
        }
        first.update(UnsafeRawBufferPointer(rebasing: one[(64 * blocks)...]))
        second.update(UnsafeRawBufferPointer(rebasing: two[(64 * blocks)...]))
    }

    /// Moves bytes from the front of `bytes` until the begun block is full or none are left.
    private mutating func fillTail(from bytes: inout UnsafeRawBufferPointer) {
        guard tailCount > 0 else { return }
        let count = min(64 - tailCount, bytes.count)
        update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    /// Puts as many bytes into the tail as fit, and returns the others.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let count = min(64 - tailCount, bytes.count)
        guard count > 0 else { return bytes }
        let start = tailCount
        withUnsafeMutableBytes(of: &tail) { tail in
            UnsafeMutableRawBufferPointer(rebasing: tail[start..<start + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        tailCount += count
        return UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    /// Appends bytes to the message.
    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Appends the UTF-8 bytes of a text to the message.
    package mutating func update(_ text: String) {
        update(Array(text.utf8))
    }

    /// Pads the message and returns its digest. The value is spent after this.
    package consuming func finish() -> Digest {
        let bits = length &* 8
        tail[tailCount] = 0x80
        tailCount += 1
        if tailCount > 56 {
            for place in tailCount..<64 { tail[place] = 0 }
            compressTail()
        }
        for place in tailCount..<56 { tail[place] = 0 }
        for place in 0..<8 {
            tail[56 + place] = UInt8(truncatingIfNeeded: bits >> (56 - 8 * place))
        }
        compressTail()
        let state = state
        return Digest(
            bytes: [UInt8](unsafeUninitializedCapacity: 32) { out, count in
                for place in 0..<32 {
                    out[place] = UInt8(truncatingIfNeeded: state[place / 4] >> (24 - place % 4 * 8))
                }
                count = 32
            })
    }

    private mutating func compressTail() {
        let block = tail
        withUnsafeBytes(of: block) { block in
            if let base = block.baseAddress { compress(base, blocks: 1) }
        }
        tailCount = 0
    }

    private mutating func compress(_ base: UnsafeRawPointer, blocks: Int) {
        withState {
            skein_sha256_compress($0, base.assumingMemoryBound(to: UInt8.self), blocks)
        }
    }

    /// The eight words of the state, as C takes them.
    private mutating func withState(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
        withUnsafeMutablePointer(to: &state) { state in
            state.withMemoryRebound(to: UInt32.self, capacity: 8) { body($0) }
        }
    }

    /// Digest of one whole message.
    package static func digest(of bytes: UnsafeRawBufferPointer) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    /// Digests of two whole messages, hashed side by side.
    package static func digests(
        of first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) -> (Digest, Digest) {
        var (one, two) = (SHA256(), SHA256())
        update(&one, first, &two, second)
        return (one.finish(), two.finish())
    }

    /// Digest of one whole message.
    package static func digest(of bytes: [UInt8]) -> Digest {
        bytes.withUnsafeBytes { digest(of: $0) }
    }

    /// Digest of the UTF-8 bytes of a text.
    package static func digest(of text: String) -> Digest {
        digest(of: Array(text.utf8))
    }
}
