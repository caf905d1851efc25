/// Bytes that wait to be written to a socket.
struct Outbound {
    private var bytes: [UInt8] = []
    /// Bytes of `bytes` that have been written.
    private var written = 0

    enum Outcome {
        case allWritten
        case wouldBlock
        case failed
    }

    var count: Int { bytes.count - written }
    /// Bytes that it holds, also those that have been written.
    var heldBytes: Int { bytes.count }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ more: [UInt8]) {
        if isEmpty {
            (bytes, written) = (more, 0)
            return
        }
        if written > Limits.writtenBytes, written > bytes.count / 2 {
            bytes.removeFirst(written)
            written = 0
        }
        bytes += more
    }

    /// Writes what the system takes.
    mutating func write(to socket: Socket) -> Outcome {
        while !isEmpty {
            let transfer = bytes.withUnsafeBytes { bytes in
                socket.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))
            }
            switch transfer {
            case .bytes(let count): written += count
            case .wouldBlock: return .wouldBlock
            case .ended, .failed: return .failed
            }
        }
        (bytes, written) = ([], 0)
        return .allWritten
    }
}
