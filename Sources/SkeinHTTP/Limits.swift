/// Bounds on what a server holds for its clients, each with its arithmetic.
enum Limits {
    /// Bytes of a request's first line: longer ones are answered with 414.
    static let requestLineBytes = 8 << 10

    /// Bytes of a request's first line and headers together. Browsers and proxies send 1 to 4 KiB.
    static let headBytes = 16 << 10

    /// Header lines of a request.
    static let headers = 64

    /// Bytes of a line that begins a chunk: 16 digits and some extension that nobody sends.
    static let chunkLineBytes = 256

    /// Bytes of extensions in all chunks of a body: without it, chunks of one byte could bring 250
    /// times as many bytes as the body's limit allows.
    static let chunkExtensionBytes = 1 << 10

    /// Bytes of the trailers after a body.
    static let trailerBytes = 4 << 10

    /// Bytes read from one connection before the loop serves the others again.
    static let readBytes = 16 << 10

    /// Bytes of further requests that are held while an answer is under way; beyond them, nothing
    /// is read. A dozen requests of a client that does not wait.
    static let pipelineBytes = 16 << 10

    /// How long a client may take to send the head of a request, from its connection or its last
    /// answer to the last header's end: a byte now and then does not count as progress. A body has
    /// as long again, and more the longer it is.
    static let requestTime = Duration.seconds(10)

    /// Bytes of a body that prolong its time by one second: 128 kbit/s, less than any link that
    /// is used to send prompts, so that 1 MiB may take 10 + 64 s and no body for ever.
    static let bodyBytesPerSecond = 16 << 10

    /// How long a connection may wait for its next request.
    static let idleTime = Duration.seconds(60)

    /// How long a client may take nothing of what waits for it.
    static let writeTime = Duration.seconds(10)

    /// Bytes that may wait for a client that follows events when another event comes. One event
    /// alone may be longer: whoever sends waits until it has left.
    static let streamBytes = 1 << 20

    /// Written bytes that are kept in front of those that wait: a client that is always a little
    /// late must not let them grow, and moving the others for each write would cost more than
    /// sending them.
    static let writtenBytes = 64 << 10

    /// How often a stream without events says that it is alive: below the 60 s after which proxies
    /// give up a connection.
    static let keepAlive = Duration.seconds(15)

    /// How long what still comes in a connection that was refused is read and thrown away, so that
    /// the answer is not lost to a reset (RFC 9112, section 9.6): until nothing comes for
    /// `lingerTime`, but no longer than `lingerTotal`, in which a client of 10 Mbit/s sends 37 MB.
    static let lingerTime = Duration.seconds(1)
    static let lingerTotal = Duration.seconds(30)

    /// Clients beyond the limit that are told so and not just hung up on, each for `lingerTime`.
    static let refusedConnections = 64
}
