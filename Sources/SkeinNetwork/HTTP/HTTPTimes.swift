/// How long a server waits for its clients, each with its arithmetic. Parameters and no constants,
/// so that tests need not wait as long.
package struct HTTPTimes: Sendable {
    /// How long a client may take to send the head of a request, from its connection or its last
    /// answer to the last header's end: a byte now and then does not count as progress. A body has
    /// as long again, and more the longer it is.
    package var request = Duration.seconds(10)

    /// Bytes of a body that prolong its time by one second: 128 kbit/s, less than any link that
    /// is used to send prompts, so that 1 MiB may take 10 + 64 s and no body for ever.
    package var bodyBytesPerSecond = 16 << 10

    /// How long a connection may wait for its next request.
    package var idle = Duration.seconds(60)

    /// How long a client may take nothing of what waits for it.
    package var write = Duration.seconds(10)

    /// How often a stream without events says that it is alive: below the 60 s after which proxies
    /// give up a connection.
    package var keepAlive = Duration.seconds(15)

    /// How long what still comes in a connection that was refused is read and thrown away, so that
    /// the answer is not lost to a reset (RFC 9112, section 9.6): until nothing comes for `linger`,
    /// but no longer than `lingerTotal`, in which a client of 10 Mbit/s sends 37 MB. A server that
    /// drains does so for `linger` at all.
    package var linger = Duration.seconds(1)
    package var lingerTotal = Duration.seconds(30)

    package init() {}

    /// How long a body may take of which `bytes` have come.
    func body(_ bytes: Int) -> Duration {
        request + .seconds(Double(bytes) / Double(bodyBytesPerSecond))
    }
}
