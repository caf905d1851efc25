/// Reads requests from bytes as they come (RFC 9112). Pure; holds at most `Limits.headBytes` and
/// one piece that it was given, and the body.
///
/// Strict where leniency lets two programs understand one request differently: a space before a
/// colon, a folded header, a bare carriage return, two lengths, a length beside a transfer coding
/// and unknown codings are refused. `HTTPHead` reads heads, `HTTPBody` reads bodies.
package struct HTTPRequestParser {
    private var bytes: [UInt8] = []
    /// Bytes of `bytes` in which no head ends.
    private var searched = 0
    /// A head that is complete, where its body is not, or is one that may not come.
    private(set) var head: HTTPRequest?
    private var body: HTTPBody?
    private var owesContinue = false

    package init() {}

    /// Whether a request has begun and is not complete.
    package var isInside: Bool { !bytes.isEmpty || isInBody }

    /// Whether the head of the request is complete and its body is not.
    var isInBody: Bool { body != nil }

    /// Bytes of the body that have come.
    var bodyBytes: Int { body?.bytes.count ?? 0 }

    /// Bytes that have come and are not part of a body yet.
    var heldBytes: Int { bytes.count }

    /// Whether the client waits for a `100 Continue` before it sends the body; true once.
    mutating func takeContinue() -> Bool {
        defer { owesContinue = false }
        return owesContinue
    }

    /// Takes the next bytes of the connection.
    ///
    /// - Parameter more: at most a few kilobytes; call `next` after each piece.
    package mutating func take(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// The next request.
    ///
    /// - Parameter bodyLimit: how many bytes the body of a request with this head may have, nil: the
    ///   request is refused; asked once, before any of them is kept, and only if the head announces
    ///   a body.
    /// - Returns: nil: more bytes are needed.
    /// - Throws: `HTTPProblem`; nothing can be read from the connection after it.
    package mutating func next(
        bodyLimit: (HTTPRequest) -> Int? = { _ in 0 }
    ) throws(HTTPProblem) -> HTTPRequest? {
        if body == nil {
            guard let head = try nextHead() else { return nil }
            self.head = head
            body = try HTTPBody(of: head, limit: bodyLimit)
            guard body != nil else {
                self.head = nil
                return head
            }
            owesContinue =
                head.minorVersion > 0 && head.header("expect") != nil && bytes.isEmpty
        }
        if !bytes.isEmpty { owesContinue = false }
        guard let body, var request = head else { return nil }
        drop(try body.take(bytes))
        guard body.isComplete else { return nil }
        (head, self.body) = (nil, nil)
        request.body = body.bytes
        return request
    }

    private mutating func nextHead() throws(HTTPProblem) -> HTTPRequest? {
        // Empty lines before a request are allowed (RFC 9112, section 2.2).
        let empty = bytes.prefix { $0 == 0x0D || $0 == 0x0A }.count
        if empty > 0 { drop(empty) }
        guard let end = headEnd() else {
            // One byte more may be the carriage return of a line that just fits.
            let line = bytes.firstIndex(of: 0x0A) ?? bytes.count
            let isLong = line > Limits.requestLineBytes + 1
            if isLong || HTTPHead.lineBytes(bytes) ?? 0 > Limits.requestLineBytes {
                throw .requestLineTooLong
            }
            if bytes.count > Limits.headBytes { throw .headersTooLong }
            return nil
        }
        let head = Array(bytes[..<end])
        drop(end)
        return try HTTPHead.request(head)
    }

    /// Forgets the first bytes, and frees their memory after the last: an idle connection holds
    /// none.
    private mutating func drop(_ count: Int) {
        if count == bytes.count { bytes = [] } else { bytes.removeFirst(count) }
        searched = 0
    }

    /// The index after the empty line that ends the head.
    private mutating func headEnd() -> Int? {
        var index = max(0, searched - 3)
        while index < bytes.count {
            defer { index += 1 }
            guard bytes[index] == 0x0A, index > 0 else { continue }
            if bytes[index - 1] == 0x0A { return index + 1 }
            if index > 1, bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A { return index + 1 }
        }
        searched = bytes.count
        return nil
    }
}
