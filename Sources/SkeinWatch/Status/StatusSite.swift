import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinJSON
import SkeinNetwork
import SkeinRows
import SkeinTraining

/// What is served of a run over HTTP: the page, its events, metrics, status, health. Lives on the
/// server's thread.
///
/// Everything is read-only and made of one view of the board, which is taken at most every
/// `Limits.viewAge`, however many clients ask.
final class StatusSite: HTTPSite {
    private let board: RunBoard
    private let access: StatusAccess
    private let loop: any Clock
    private let version: String
    private var followers: [Follower] = []
    private var isBeating = false
    private var cached: (view: RunBoard.View, at: ContinuousClock.Instant)?
    /// The cached view's snapshot as JSON and for Prometheus, made for the first who wants it.
    private var cachedJSON: [UInt8]?
    private var cachedMetrics: [UInt8]?
    /// All curves up to the cached view, for those who come new.
    private var cachedHistory: (text: String, mark: HistoryMark)?
    private var cachedData: String?

    /// A browser that follows the run.
    private final class Follower {
        let stream: EventStream
        var mark: HistoryMark?
        var hasData = false

        init(_ stream: EventStream) {
            self.stream = stream
        }
    }

    init(board: RunBoard, access: StatusAccess, version: String, loop: any Clock) {
        self.board = board
        self.access = access
        self.version = version
        self.loop = loop
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        guard request.method == "GET" else {
            var answer = HTTPResponse(.methodNotAllowed, line: "only GET is answered here")
            answer.headers = [("Allow", "GET")]
            return .response(answer)
        }
        if request.header("upgrade")?.lowercased().contains("websocket") == true {
            return .response(HTTPResponse(.badRequest, line: "there are no web sockets here"))
        }
        if let refusal = access.refusal(of: request) { return .response(refusal) }
        switch request.path {
        case "/": return .response(StatusPage.page.response)
        case "/healthz": return .response(HTTPResponse(.ok, line: "ok"))
        case "/readyz": return .response(readiness())
        case "/events":
            return .events { [weak self] in self?.follow($0) }
        case "/metrics":
            return .response(
                HTTPResponse(contentType: MetricsText.contentType, body: metrics()))
        case "/status.json": return .response(status())
        default:
            return .response(
                HTTPResponse(
                    .notFound,
                    line: "there are /, /events, /metrics, /status.json, /healthz and /readyz"))
        }
    }

    func knows(_ head: HTTPRequest) -> Bool { access.knows(head) }

    private func status() -> HTTPResponse {
        do {
            return HTTPResponse(contentType: "application/json", body: try json() + [0x0A])
        } catch {
            // A number that JSON does not have; the next status may have none.
            return HTTPResponse(.serviceUnavailable, line: "the status cannot be written as JSON")
        }
    }

    private func metrics() -> [UInt8] {
        let view = view()
        if let cachedMetrics { return cachedMetrics }
        let metrics = Array(PrometheusText.text(of: view.snapshot, version: version).utf8)
        cachedMetrics = metrics
        return metrics
    }

    private func json() throws -> [UInt8] {
        let view = view()
        if let cachedJSON { return cachedJSON }
        let json = try view.snapshot.json()
        cachedJSON = json
        return json
    }

    private func readiness() -> HTTPResponse {
        if !board.isPrepared { return HTTPResponse(.serviceUnavailable, line: "starting") }
        if case .ended = view().snapshot.waiting.reason {
            return HTTPResponse(.serviceUnavailable, line: "ended")
        }
        return HTTPResponse(.ok, line: "ready")
    }

    private func view() -> RunBoard.View {
        if let cached, loop.moment - cached.at < Limits.viewAge { return cached.view }
        let view = board.view()
        cached = (view, loop.moment)
        (cachedJSON, cachedMetrics, cachedHistory) = (nil, nil, nil)
        return view
    }

    // MARK: Events

    private func follow(_ stream: EventStream) {
        let follower = Follower(stream)
        followers.append(follower)
        stream.onEnd = { [weak self, weak follower] in
            self?.followers.removeAll { $0 === follower }
        }
        tell(follower)
        guard !isBeating else { return }
        isBeating = true
        beat()
    }

    /// Sends the view once a second for as long as a client follows.
    private func beat() {
        loop.setAlarm(after: Limits.viewInterval) { [weak self] in
            guard let self else { return }
            guard !followers.isEmpty else {
                isBeating = false
                return
            }
            for follower in followers { tell(follower) }
            beat()
        }
    }

    /// Sends what is new. A slow client gets nothing before it has taken what it was sent, event by
    /// event; then it gets all that it missed.
    ///
    /// - Parameters:
    ///   - follower: whom to tell.
    ///   - isLast: no later turn can send what has to wait, so all is sent now.
    private func tell(_ follower: Follower, isLast: Bool = false) {
        func mayHear() -> Bool { isLast || follower.stream.isReady }
        guard mayHear() else { return }
        let view = view()
        if !follower.hasData, let data = data() {
            follower.hasData = true
            follower.stream.send("data", data)
        }
        guard mayHear() else { return }
        if let news = history(view, after: &follower.mark) {
            follower.stream.send("history", news)
        }
        guard mayHear() else { return }
        do {
            follower.stream.send("snapshot", String(decoding: try json(), as: UTF8.self))
        } catch {
            // A number that JSON does not have; the next snapshot may have none.
            return
        }
    }

    /// The report about the data as JSON, made once; nil while the rows are read.
    private func data() -> String? {
        if cachedData == nil { cachedData = board.report.map { DataFacts.json(of: $0).written } }
        return cachedData
    }

    /// What a follower does not have. All of it is made once for all who come to the same view: clients
    /// that came and went took a seventh of a coordinator's processor time with it.
    private func history(_ view: RunBoard.View, after mark: inout HistoryMark?) -> String? {
        if mark == nil, let cachedHistory {
            mark = cachedHistory.mark
            return cachedHistory.text
        }
        let isWhole = mark == nil
        let text = board.history(after: &mark, timeline: view.timeline)?.written
        if isWhole, let text, let mark { cachedHistory = (text, mark) }
        return text
    }

    /// The run is over: all followers get the last state.
    func finish() {
        cached = nil
        for follower in followers {
            tell(follower, isLast: true)
            follower.stream.send("end", "{}")
        }
    }
}

/// The report about the data for the page.
private enum DataFacts {
    static func json(of report: DataReport) -> JSONValue {
        let facts: [(String, String)] = [
            ("rows", Figures.grouped(report.rows)), ("tokens", Figures.grouped(report.tokens)),
            ("with loss", Figures.grouped(report.lossTokens)),
            ("longest row", Figures.grouped(report.longest)),
            ("training rows", Figures.grouped(report.trainingRows)),
            ("validation rows", Figures.grouped(report.validationRows)),
            ("cut", Figures.grouped(report.cut)), ("skipped", Figures.grouped(report.skipped)),
            ("bad lines", Figures.grouped(report.badLines)),
            ("steps", Figures.grouped(report.steps)), ("format", report.format.rawValue),
        ]
        return JSONValue.fields([
            ("facts", .list(facts.map { .list([.text($0.0), .text($0.1)]) })),
            ("warnings", .list(report.warnings.map { .text($0.text) })),
            (
                "rows",
                .list(
                    report.examples.map { parts in
                        .list(parts.map { .list([.text($0.text), .bool($0.isTrained)]) })
                    })
            ),
        ])
    }
}
