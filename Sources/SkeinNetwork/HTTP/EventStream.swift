/// A client that follows server-sent events (HTML standard, section 9.2). Lives on its loop's
/// thread.
package final class EventStream {
    private weak var connection: HTTPConnection?

    /// Called when the client has taken something and there is room for more (`hasRoom`); not from
    /// within `send`.
    package var onRoom: () -> Void = {}

    /// Called once when the client is gone or was dropped, or the server ends the stream; not after
    /// `end`. It may be called from within `send`.
    package var onEnd: () -> Void = {}

    /// - Parameter connection: nil: the client is gone already.
    init(_ connection: HTTPConnection?) {
        self.connection = connection
    }

    /// Whether it has taken what was sent: what waits for a slow client is bounded, and a sender
    /// leaves out events that a later one replaces.
    package var isReady: Bool { connection?.hasRoom ?? false }

    /// Whether so little waits for the client that more may be sent. A site that must leave
    /// nothing out holds it until then (`onRoom`).
    package var hasRoom: Bool { connection?.hasRoomForMore ?? false }

    /// Bytes that were sent and that the system has not taken for the client. One that is sent more
    /// when `Limits.streamBytes` wait, or takes nothing for `HTTPTimes.write`, is dropped.
    package var waitingBytes: Int { connection?.waitingBytes ?? 0 }

    /// Sends one event; nothing once the client is gone or the stream has ended.
    ///
    /// - Parameters:
    ///   - name: of the event, without line breaks; nil: an event without a name.
    ///   - data: text without line breaks, such as JSON on one line.
    package func send(_ name: String?, _ data: String) {
        let line = name.map { "event: \($0)\n" } ?? ""
        connection?.stream([Array("\(line)data: \(data)\n\n".utf8)])
    }

    /// Sends events without a name, all of them at once.
    package func send(_ data: [String]) {
        if !data.isEmpty { connection?.stream(data.map { Array("data: \($0)\n\n".utf8) }) }
    }

    /// Sends what clients pass over, so that they and what is between hear something.
    ///
    /// - Parameter text: without line breaks.
    package func comment(_ text: String) { connection?.stream([Array(": \(text)\n\n".utf8)]) }

    /// Ends the stream once what was sent has left.
    package func end() {
        let ended = connection
        connection = nil
        onEnd = {}
        ended?.endStream()
    }

    func ended() {
        connection = nil
        let tell = onEnd
        onEnd = {}
        tell()
    }
}
