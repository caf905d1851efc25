import SkeinBasics
import SkeinCoordination

/// Why a connection has ended without its owner's `close()`.
package enum CloseReason: Error, Equatable {
    /// The peer has closed it, or died.
    case ended
    /// It is broken (errno).
    case failed(Int32)
    /// The peer has said what cannot be understood, or what it may not say.
    case violation(WireError)
    /// The peer leaves more unread than is kept for it.
    case notReading(pendingBytes: Int)
    /// The last words are with the peer.
    case flushed
    /// The last words could not be delivered in time.
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
