import SkeinBasics
import SkeinJSON
import SkeinNetwork

/// The port of a server, bound before its model is read, so that a port that is taken is known at
/// once. Until the model is there, requests hear that it is being read, and nothing waits for it.
package final class ServeDoor: Sendable {
    let http: HTTPServer
    let access: ServeAccess
    private let site: Confined<DoorSite>
    /// The bound address, `HOST:PORT`.
    package var address: String { http.address }
    package var url: String { "http://\(address)" }

    /// Binds the port.
    ///
    /// - Parameters:
    ///   - options: of the server.
    ///   - sources: what tests fix.
    /// - Throws: `SocketError`.
    package init(
        _ options: OpenAIServer.Options, sources: ServeSources = ServeSources()
    ) throws {
        let name = try NetworkAddress(parsing: options.listen)
        let access = ServeAccess(
            keys: options.keys, host: name.host, allowed: options.allowedHosts,
            origin: options.corsOrigin)
        self.access = access
        var settings = HTTPServer.Settings()
        let descriptors = HTTPServer.raiseDescriptorLimit(to: options.connections + 256)
        settings.connections = max(16, min(options.connections, descriptors - 256))
        settings.bodyBytes = Limits.bodiesBytes
        settings.times = sources.times
        settings.yieldsToOthers = false
        let made = Condition<Confined<DoorSite>?>(nil)
        http = try HTTPServer(
            on: name.resolved(for: .listening), name: name, settings: settings
        ) { clock in
            let confined = try Confined(to: clock) { DoorSite(access, loop: clock) }
            made.change { $0 = confined }
            return try confined.call { Site(value: $0) }.value
        }
        site = made.wait { $0 }
    }

    /// What `call` gives back to its own thread.
    private struct Site: @unchecked Sendable { let value: DoorSite }

    /// Lets a site answer from now on.
    ///
    /// - Throws: `SocketError.stopped`.
    func open(_ make: @escaping @Sendable (any Clock) -> ServeSite) throws {
        try site.call { $0.open(make) }
    }

    /// Answers no longer.
    package func close() { http.stop() }
}

/// Answers before there is a site, and passes on to it afterwards. Lives on the server's thread.
private final class DoorSite: HTTPSite {
    private let access: ServeAccess
    private let loop: any Clock
    private var site: ServeSite?
    private var isStopping = false
    private var answers = 0

    init(_ access: ServeAccess, loop: any Clock) {
        self.access = access
        self.loop = loop
    }

    func open(_ make: (any Clock) -> ServeSite) {
        let made = make(loop)
        if isStopping { made.finish() }
        site = made
    }

    func admit(_ head: HTTPRequest) -> HTTPAdmission {
        site?.admit(head) ?? .answered(loading(head))
    }

    func knows(_ head: HTTPRequest) -> Bool { access.knows(head) }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        site?.answer(request) ?? .response(loading(request))
    }

    func finish() {
        isStopping = true
        site?.finish()
    }

    func refusal(
        _ status: HTTPStatus, _ words: String, to head: HTTPRequest?
    ) -> HTTPResponse {
        if let site { return site.refusal(status, words, to: head) }
        return named(
            (status == .serviceUnavailable ? .loading : APIError(status, words)).response, head)
    }

    /// What everything is answered with meanwhile. Who may not ask hears that first.
    private func loading(_ request: HTTPRequest) -> HTTPResponse {
        if request.method == "OPTIONS" { return access.preflight(request) }
        let refusal = access.refusal(of: request)
        var response = (refusal ?? .loading).response
        if refusal == nil, ServeRoute.isHealth(request.path) {
            response.body = HTTPResponse(json: .fields([("status", .text("loading"))])).body
        }
        return named(response, request)
    }

    private func named(_ response: HTTPResponse, _ request: HTTPRequest?) -> HTTPResponse {
        answers += 1
        var response = response
        if let request { response.headers += access.headers(for: request) }
        response.headers.append(
            ("X-Request-Id", ServeAccess.name(of: request, else: "req-loading-\(answers)")))
        return response
    }
}
