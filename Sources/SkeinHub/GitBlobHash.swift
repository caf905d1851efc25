/// Git's name of a file: SHA-1 (FIPS 180-4) of `blob SIZE\0` and the bytes. The Hub gives it as the
/// ETag of files that are not in large storage. Foundation has no SHA-1 on Linux.
///
/// It finds damage, not malice: collisions of SHA-1 can be made. Weights have a SHA-256.
package struct GitBlobHash: Sendable {
    private var state: [UInt32] = [
        0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0,
    ]
    private var words = [UInt32](repeating: 0, count: 80)
    private var tail: [UInt8] = []
    private var length: UInt64 = 0

    /// - Parameter size: Bytes of the whole file.
    package init(size: Int) {
        update(Array("blob \(size)\0".utf8))
    }

    package mutating func update(_ bytes: some Collection<UInt8>) {
        length += UInt64(bytes.count)
        tail.append(contentsOf: bytes)
        var start = 0
        while tail.count - start >= 64 {
            compress(from: start)
            start += 64
        }
        tail.removeFirst(start)
    }

    /// 40 hexadecimal digits. The value is spent after this.
    package consuming func finish() -> String {
        let bits = length &* 8
        var padding: [UInt8] = [0x80]
        let rest = (tail.count + 1) % 64
        padding += [UInt8](repeating: 0, count: (56 - rest + 64) % 64)
        padding += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
        update(padding)
        return state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    private mutating func compress(from start: Int) {
        for t in 0..<16 {
            let at = start + 4 * t
            words[t] =
                UInt32(tail[at]) << 24 | UInt32(tail[at + 1]) << 16 | UInt32(tail[at + 2]) << 8
                | UInt32(tail[at + 3])
        }
        for t in 16..<80 {
            let mixed = words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]
            words[t] = mixed << 1 | mixed >> 31
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for t in 0..<80 {
            let (f, k): (UInt32, UInt32) =
                switch t {
                case 0..<20: ((b & c) | (~b & d), 0x5A82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = (a << 5 | a >> 27) &+ f &+ e &+ k &+ words[t]
            (a, b, c, d, e) = (next, a, b << 30 | b >> 2, c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }
}
