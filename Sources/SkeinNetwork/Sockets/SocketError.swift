import Foundation

/// What keeps a process from listening, from connecting, or from running a loop.
package enum SocketError: Error, Equatable {
    /// `text` does not name a host and a port; `reason` says why.
    case addressInvalid(text: String, reason: String)
    /// The system knows no address of `host`; `detail` is what it said.
    case nameNotResolved(host: String, detail: String)
    /// Another process listens on `address`.
    case portInUse(address: String)
    /// The system refused to listen on `address` with `code` (errno).
    case cannotListen(address: String, code: Int32)
    /// No peer answered at `address`; `code` is what the system said (errno).
    case cannotConnect(address: String, code: Int32)
    /// The system refused `operation`, which involves no file and no peer, with `code` (errno).
    case systemRefused(operation: String, code: Int32)
    /// A loop was asked for something after it had been stopped.
    case stopped

    /// What `pthread_create` says when a limit of the process or its container is reached.
    package static let threadRefused = SocketError.systemRefused(
        operation: "start a thread", code: EAGAIN)
}
