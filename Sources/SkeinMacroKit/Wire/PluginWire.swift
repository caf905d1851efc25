#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The compiler's two pipes: each message is its length in 8 bytes, the lowest first, and then
/// JSON (swift-syntax, `PluginMessageConnection`).
struct PluginWire {
    let input: Int32
    let output: Int32

    /// What came in.
    enum Message: Equatable {
        case whole([UInt8])
        /// Longer than `MacroLimits.messageBytes`, and passed over.
        case tooLong
    }

    /// The next message, or nil where the input ends.
    func receive() -> Message? {
        guard let header = read(count: 8) else { return nil }
        let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= UInt64(MacroLimits.messageBytes) else {
            return skip(count: length) ? .tooLong : nil
        }
        return read(count: Int(length)).map { .whole($0) }
    }

    /// Reads bytes and forgets them; false if the input ends before.
    private func skip(count: UInt64) -> Bool {
        var left = count
        while left > 0 {
            let part = Int(min(left, UInt64(MacroLimits.readBytes)))
            guard read(count: part) != nil else { return false }
            left -= UInt64(part)
        }
        return true
    }

    /// Writes a message; false if the reader is gone.
    func send(_ message: [UInt8]) -> Bool {
        var length = UInt64(message.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(message.count + 8)
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: length))
            length >>= 8
        }
        bytes += message
        var sent = 0
        while sent < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                write(output, buffer.baseAddress.map { $0 + sent }, buffer.count - sent)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            sent += written
        }
        return true
    }

    /// Exactly `count` bytes, or nil if the input ends before.
    private func read(count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: min(count, MacroLimits.readBytes))
        while bytes.count < count {
            let wanted = min(part.count, count - bytes.count)
            let got = part.withUnsafeMutableBytes { buffer in
                #if canImport(Glibc)
                    Glibc.read(input, buffer.baseAddress, wanted)
                #elseif canImport(Musl)
                    Musl.read(input, buffer.baseAddress, wanted)
                #else
                    Darwin.read(input, buffer.baseAddress, wanted)
                #endif
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            bytes += part.prefix(got)
        }
        return bytes
    }
}
