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

    /// The next message, or nil where the input ends, or where no sane message follows.
    func receive() -> [UInt8]? {
        guard let header = read(count: 8) else { return nil }
        let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= UInt64(MacroLimits.messageBytes) else { return nil }
        return read(count: Int(length))
    }

    /// Writes a message; false if nobody reads any more.
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
