import Foundation
import SkeinNetwork

/// Random bytes from the system, for nonces, incarnations, tokens and jitter.
///
/// The only randomness that is not addressed. Nothing that a run computes may depend on it.
package enum SystemRandomness {
    /// `count` random bytes; at least 0.
    ///
    /// - Throws: `SocketError.systemRefused`.
    package static func bytes(_ count: Int) throws(SocketError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            // getentropy(3) gives at most 256 bytes at a time.
            let part = min(256, count - filled)
            let status = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { getentropy($0 + filled, part) } ?? -1
            }
            guard status == 0 else {
                throw .systemRefused(operation: "give random bytes", code: errno)
            }
            filled += part
        }
        return bytes
    }
}

/// Where a shell gets its random bytes: the system, or the seed of a simulation.
package struct Randomness: Sendable {
    /// Returns that many random bytes.
    let bytes: @Sendable (Int) throws(SocketError) -> [UInt8]

    package init(bytes: @escaping @Sendable (Int) throws(SocketError) -> [UInt8]) {
        self.bytes = bytes
    }

    static let system = Randomness(bytes: SystemRandomness.bytes)

    /// A number from 0 up to 1 (exclusive), for jitter.
    ///
    /// - Throws: `SocketError.systemRefused`.
    func fraction() throws(SocketError) -> Double {
        let word = try bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Double(word >> 11) / Double(UInt64(1) << 53)
    }
}
