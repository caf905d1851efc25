/// Bounds on what a server holds for its clients, each with its arithmetic.
enum Limits {
    /// Bytes of a request's first line: longer ones are answered with 414.
    static let requestLineBytes = 8 << 10

    /// Bytes of a request's first line and headers together. Browsers and proxies send 1 to 4 KiB.
    static let headBytes = 16 << 10

    /// Header lines of a request.
    static let headers = 64

    /// Bytes read from one connection before the loop serves the others again.
    static let readBytes = 16 << 10

    /// How long a client may take to send a request, from its connection or its last answer to the
    /// last header's end: a byte now and then does not count as progress.
    static let requestTime = Duration.seconds(10)

    /// How long a connection may wait for its next request.
    static let idleTime = Duration.seconds(60)

    /// How long a client may take nothing of what waits for it.
    static let writeTime = Duration.seconds(10)

    /// Bytes that may wait for a client that follows events when another event comes. One event alone
    /// may be longer: whoever sends waits until it has left.
    static let streamBytes = 1 << 20

    /// How often a stream without events says that it is alive: below the 60 s after which proxies
    /// give up a connection.
    static let keepAlive = Duration.seconds(15)

    /// How long what is already in a connection that was refused is read and thrown away, so that
    /// the answer is not lost to a reset (RFC 9112, section 9.6).
    static let lingerTime = Duration.seconds(1)
}
