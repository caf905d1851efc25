/// A client that follows server-sent events (HTML standard, section 9.2). Lives on its loop's thread.
package final class EventStream {
    private weak var connection: HTTPConnection?

    /// Called once when the client is gone or was dropped.
    package var onEnd: () -> Void = {}

    init(_ connection: HTTPConnection) {
        self.connection = connection
    }

    /// Whether it has taken what was sent: what waits for a slow client is bounded, and whoever sends
    /// leaves out events that a later one replaces.
    package var isReady: Bool { connection?.hasRoom ?? false }

    /// Sends one event; nothing once the client is gone.
    ///
    /// - Parameters:
    ///   - name: of the event, without line breaks.
    ///   - data: text without line breaks, such as JSON on one line.
    package func send(_ name: String, _ data: String) {
        connection?.stream(Array("event: \(name)\ndata: \(data)\n\n".utf8))
    }

    /// Ends the stream once what was sent has left.
    package func end() { connection?.endStream() }

    func keepAlive() {
        if isReady { connection?.stream(Array(": still here\n\n".utf8)) }
    }

    func ended() {
        let tell = onEnd
        onEnd = {}
        tell()
    }
}
