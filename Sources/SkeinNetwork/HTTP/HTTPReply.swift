/// Takes an answer that comes later, whole or as events. Lives on its loop's thread.
///
/// A site must answer it at some time: nothing else ends the wait of a client that stays.
package final class HTTPReply {
    private(set) weak var connection: HTTPConnection?

    /// Whether the server gave its client up, which took nothing for too long or more than its share,
    /// and the client has not left by itself; to be asked in `onEnd`.
    package private(set) var wasDropped = false

    /// Called once when the client is gone before the answer was given whole, by `respond` or by
    /// the `end` of its events, or when the server stops. A client that ends only its own side
    /// counts as gone. It may be called from within `send` of the events.
    package var onEnd: () -> Void = {}

    init(_ connection: HTTPConnection) {
        self.connection = connection
    }

    /// Whether the client is there and the answer was not given whole.
    package var isOpen: Bool { connection != nil }

    /// Answers; does nothing when the client is gone, or after `respond` or `beginEvents`.
    package func respond(_ response: HTTPResponse) {
        guard let connection, connection.awaitsAnswer else { return }
        ended(tells: false)
        connection.respond(response)
    }

    /// Begins an answer of server-sent events. With HTTP/1.1 the connection can be used again after
    /// their end.
    ///
    /// - Parameter headers: beside those that every answer has.
    /// - Returns: the stream; when the client is gone, or after `respond` or `beginEvents`, one
    ///   that takes nothing.
    package func beginEvents(headers: [(name: String, value: String)] = []) -> EventStream {
        guard let connection, connection.awaitsAnswer else { return EventStream(nil) }
        return connection.sendEvents(headers: headers)
    }

    /// Gives the client up, for whom more is held than there is room for: `onEnd` is called.
    package func drop() { connection?.drop() }

    /// - Parameters:
    ///   - tells: whether the holder hears of it.
    ///   - dropped: whether the server gave the client up.
    func ended(tells: Bool, dropped: Bool = false) {
        wasDropped = dropped
        connection = nil
        let tell = onEnd
        onEnd = {}
        if tells { tell() }
    }
}
