/// What answers requests. It lives on its server's thread.
package protocol HTTPSite: AnyObject {
    /// What becomes of a body that this head announces; without this method, it is refused. Asked
    /// once the head is complete, before any byte of the body is kept: what the head alone shows to
    /// be wrong is answered then, and the body holds nothing.
    func admit(_ head: HTTPRequest) -> HTTPAdmission

    /// Whether the client of this request has shown that it may ask, such as by a key; without this
    /// method, none has. Where there is no room for all, strangers leave first.
    func knows(_ head: HTTPRequest) -> Bool

    /// Answers at once, or says how it will.
    func answer(_ request: HTTPRequest) -> HTTPAnswer

    /// The server stops, or stops listening: the last events.
    func finish()

    /// The answer to a request that is refused before the site sees it: it is too long or
    /// malformed, does not come in time, or the server is full. Lets a site keep the shape of its
    /// errors, and say them to a page of another site, too.
    ///
    /// - Parameters:
    ///   - status: of the answer.
    ///   - words: what is wrong.
    ///   - head: nil: it has not come, or cannot be read.
    /// - Returns: the whole answer; the connection ends with it.
    func refusal(_ status: HTTPStatus, _ words: String, to head: HTTPRequest?) -> HTTPResponse
}

extension HTTPSite {
    package func admit(_ head: HTTPRequest) -> HTTPAdmission { .body(limit: 0) }

    package func knows(_ head: HTTPRequest) -> Bool { false }

    package func refusal(
        _ status: HTTPStatus, _ words: String, to head: HTTPRequest?
    ) -> HTTPResponse {
        HTTPResponse(status, line: words)
    }
}

/// What a site says of a body before it comes.
package enum HTTPAdmission {
    /// It may have so many bytes; 0: it is refused with 413.
    case body(limit: Int)
    /// The request is answered without it, such as with 401. What still comes is thrown away within
    /// `Limits.lingerBytes` and `HTTPTimes.lingerTotal`, and the connection ends.
    case answered(HTTPResponse)
}

/// What a site gives for a request.
package enum HTTPAnswer {
    case response(HTTPResponse)
    /// Server-sent events until either side ends; called with the stream once its head is sent. The
    /// connection ends with them, and so do they when the server drains.
    case events((EventStream) -> Void)
    /// The answer comes later, whole or as events; called at once with what takes it.
    case later((HTTPReply) -> Void)
}
