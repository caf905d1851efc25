/// What answers requests. It lives on its server's thread.
package protocol HTTPSite: AnyObject {
    /// Bytes that the body of a request with this head may have; 0: a body is refused, as it is
    /// without this method. Asked once the head is complete, before any byte of the body is kept,
    /// and only if the head announces a body.
    func bodyLimit(for head: HTTPRequest) -> Int

    /// Answers at once, or says how it will.
    func answer(_ request: HTTPRequest) -> HTTPAnswer

    /// The server stops, or stops listening: the last events.
    func finish()

    /// The answer to a request that is refused before the site sees it: it is too long or
    /// malformed, does not come in time, or the server is full. Lets a site keep the shape of its
    /// errors.
    func refusal(_ status: HTTPStatus, _ words: String) -> HTTPResponse
}

extension HTTPSite {
    package func bodyLimit(for head: HTTPRequest) -> Int { 0 }

    package func refusal(_ status: HTTPStatus, _ words: String) -> HTTPResponse {
        HTTPResponse(status, line: words)
    }
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
