import SkeinBasics
import SkeinCoordination

/// Why a connection ended other than by its owner's `close()`.
package enum CloseReason: Error, Equatable {
    /// The peer has closed it, or died.
    case ended
    /// It is broken (errno).
    case failed(Int32)
    /// The peer sent something malformed, or something that it may not send.
    case violation(WireError)
    /// The peer does not read, and too much waits for it.
    case notReading(pendingBytes: Int)
    /// The last message has been delivered.
    case flushed
    /// The last message could not be delivered in time.
    case notFlushed
}

extension CloseReason: CustomStringConvertible {
    /// As in "lost worker w3: the peer closed the connection".
    package var description: String {
        switch self {
        case .ended: "the peer closed the connection"
        case .failed(let code): "the connection broke: \(NodeError.text(code))"
        case .violation(let error): "the peer broke the protocol: \(error.explanation.what)"
        case .notReading(let pendingBytes):
            "the peer did not read: \(pendingBytes) bytes waited for it"
        case .flushed: "closed after the last message"
        case .notFlushed: "closed before the last message could be delivered"
        }
    }
}
