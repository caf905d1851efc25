import Foundation
import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinNetwork

/// What the server answers. Lives on the server's thread: long work goes to other threads, and their
/// results come back with `post`.
final class ServeSite {
    /// The parts that answer, made before the site.
    struct Parts: Sendable {
        var preparation: Preparation
        var threads: PreparationThreads
        var access: ServeAccess
        /// Requests that may be answered or wait at once.
        var requests: Int
        /// The most bytes of a request's body.
        var bodyBytes: Int
        var sources: ServeSources
        var log: Log
        /// Whether each request is a line in the log.
        var logsRequests: Bool

        var host: ModelHost { preparation.host }
        var engine: AnswerEngine { host.engine }
    }

    let parts: Parts
    private let loop: any Clock
    /// Runs something on the server's thread.
    private let post: @Sendable (@escaping @Sendable (ServeSite) -> Void) -> Void
    var servedRequests: [RequestID: ServedRequest] = [:]
    /// Those whose clients are gone, until the engine has ended what it did for them.
    private var leaving: [RequestID: ServedRequest] = [:]
    private var whenAllLeft: @Sendable () -> Void = {}
    let metrics = ServeMetrics()
    private var next: UInt64 = 0
    /// Requests that were answered at once.
    var others: UInt64 = 0
    /// Tells this server's requests from those of its next start.
    let start: UInt64
    var isStopping = false
    /// What was said of schemas that cannot be held as a whole.
    private var remarks: Set<String> = []
    /// Bytes of what the engine told and slow clients were not.
    private var heldBytes = 0
    /// Bytes of bodies that wait to be read.
    private var waitingBytes = 0
    /// Work that other threads have for requests whose clients went away: how much, and the bodies' bytes.
    private struct Unwanted {
        var works = 0
        var bytes = 0
    }
    private var unwanted: [RequestOwner: Unwanted] = [:]
    private var unwantedWorks: Int { unwanted.values.reduce(0) { $0 + $1.works } }
    private let requestLog: RequestLog?

    init(
        _ parts: Parts, loop: any Clock,
        post: @escaping @Sendable (@escaping @Sendable (ServeSite) -> Void) -> Void
    ) {
        self.parts = parts
        self.loop = loop
        self.post = post
        start = parts.sources.random()
        requestLog =
            parts.logsRequests
            ? RequestLog(
                parts.log, base: parts.preparation.models.base.id, clock: parts.sources.instant)
            : nil
    }

    // MARK: What is answered later

    func begin(_ work: ServeWork, _ request: HTTPRequest) -> HTTPAnswer {
        if let reason = fullness(for: request.body.count, of: parts.access.owner(of: request)) {
            let error = APIError.overloaded(reason, retryAfter: retryAfter)
            return .response(answer(request, work.rawValue, error.response))
        }
        return .later { [self] reply in begin(work, request, reply) }
    }

    /// The limit that a request of an owner with a body of `bytes` would exceed; nil: there is room for
    /// it. Where there are several keys, none of them takes more than `Limits.ownerShare` of all.
    private func fullness(for bytes: Int, of owner: RequestOwner) -> String? {
        if parts.access.keys.count > 1 {
            let own = servedRequests.values.lazy.filter { $0.owner == owner }
            let left = unwanted[owner] ?? Unwanted()
            let count = own.reduce(left.works) { sum, _ in sum + 1 }
            if count >= max(1, Int(Limits.ownerShare * Double(parts.requests))) {
                return "\(count) requests of this key are being answered or wait"
            }
            let held = own.reduce(left.bytes) { $0 + $1.bodyBytes }
            if Double(held + bytes) > Limits.ownerShare * Double(Limits.bodiesBytes) {
                return "the bodies of this key's requests that wait to be read take "
                    + "\(Figures.bytes(held)), and this one has \(Figures.bytes(bytes))"
            }
        }
        if servedRequests.count + unwantedWorks >= parts.requests {
            let open = "\(servedRequests.count) requests are being answered or wait"
            guard unwantedWorks > 0 else { return open }
            return open + ", and work goes on for \(unwantedWorks) whose clients left"
        }
        guard waitingBytes + bytes > Limits.bodiesBytes else { return nil }
        return "the bodies of requests that wait to be read take \(Figures.bytes(waitingBytes)) of "
            + "\(Figures.bytes(Limits.bodiesBytes)), and this one has \(Figures.bytes(bytes))"
    }

    /// Seconds until a place may be free: what has been needed so far, at most a minute.
    private var retryAfter: Int {
        let figures = parts.engine.figures
        let waiting = Double(figures.waiting) / Double(max(1, figures.running))
        return Int(min(60, max(1, waiting * meanSeconds)))
    }

    private var finished = 0
    private var finishedSeconds = 0.0
    private var meanSeconds: Double { finished == 0 ? 1 : finishedSeconds / Double(finished) }

    private func begin(_ work: ServeWork, _ request: HTTPRequest, _ reply: HTTPReply) {
        let id = RequestID(number: next)
        next += 1
        let name = ServeAccess.name(
            of: request, else: "req-" + RequestNames.text(start, id.number))
        let served = ServedRequest(
            id, endpoint: work.rawValue, owner: parts.access.owner(of: request), name: name,
            reply: reply,
            headers: parts.access.headers(for: request) + [("X-Request-Id", name)],
            clock: parts.sources.instant)
        servedRequests[id] = served
        reply.onEnd = { [weak self] in self?.isGone(id) }
        served.onRoom = { [weak self] in self?.tellMore(id) }
        let names = RequestNames(
            start: start, created: parts.sources.date(),
            // Such as a client could give, too.
            seed: parts.sources.random() >> 1)
        let body = request.body
        let (preparation, isWanted) = (parts.preparation, served.isWanted)
        run(for: served, .preparing, holding: body.count) {
            preparation.answer(to: work, body, id, names, isWanted)
        } then: { site, served, prepared in
            site.go(on: served, prepared, bodyBytes: body.count)
        }
    }

    /// Does long work for a request on another thread, unless its client has gone by then.
    ///
    /// - Parameters:
    ///   - served: of the request.
    ///   - kind: of the work.
    ///   - bytes: of the body that is held until then.
    ///   - work: what takes long.
    ///   - then: on this thread, if the client is still there.
    private func run<Result: Sendable>(
        for served: ServedRequest, _ kind: PreparationThreads.Kind, holding bytes: Int = 0,
        _ work: @escaping @Sendable () -> Result,
        then: @escaping @Sendable (ServeSite, ServedRequest, Result) -> Void
    ) {
        waitingBytes += bytes
        served.bodyBytes = bytes
        served.isWithThreads = true
        let (id, owner, isWanted, post) = (served.id, served.owner, served.isWanted, post)
        parts.threads.run(kind, for: owner) {
            let result = isWanted.isSet ? work() : nil
            post { site in
                site.waitingBytes -= bytes
                guard let served = site.servedRequests[id] else {
                    return site.hasEnded(owner, bytes)
                }
                served.isWithThreads = false
                served.bodyBytes = 0
                if let result { then(site, served, result) }
            }
        }
    }

    /// A thread has ended work for a request whose client had gone.
    private func hasEnded(_ owner: RequestOwner, _ bytes: Int) {
        guard var left = unwanted[owner] else { return }
        left.works -= 1
        left.bytes -= bytes
        unwanted[owner] = left.works > 0 ? left : nil
    }

    private func go(on served: ServedRequest, _ prepared: PreparedAnswer, bodyBytes: Int) {
        switch prepared {
        case .compile(let streams, let work):
            if streams { beginSoon(served) }
            // What was made of the body is held until then.
            return run(for: served, .compiling, holding: bodyBytes, work) {
                $0.go(on: $1, $2, bodyBytes: bodyBytes)
            }
        case .error(let error): served.fail(error)
        case .json(let response): served.respond(response)
        case .text(let text):
            served.respond(HTTPResponse(body: Array((text.text + "\n").utf8)))
        case .plan(let plan):
            served.plan(plan, TokenNames(tokenizer: parts.preparation.tokenizer))
            parts.engine.submit(plan.jobs, for: served.owner)
            if let header = plan.dropped.header { remark(onDropped: header.value) }
            if plan.format.streams { beginSoon(served) }
            return
        }
        close(served)
    }

    /// Says once which parts of a schema answers are not held to.
    private func remark(onDropped places: String) {
        guard remarks.count < Limits.remarks, remarks.insert(places).inserted else { return }
        parts.log.warning(
            "answers are not held to these parts of a request's schema: \(places); with "
                + "\"strict\": true such a request is refused")
    }

    /// Begins a stream that has waited long for its first token, so that neither its client nor a proxy
    /// gives it up. What goes wrong later is told as an event, as OpenAI and vLLM tell it.
    private func beginSoon(_ served: ServedRequest) {
        let id = served.id
        let left = parts.sources.streamPatience - .seconds(served.seconds)
        loop.setAlarm(after: max(.zero, left)) { [weak self] in
            self?.servedRequests[id]?.beginWaiting()
        }
    }

    /// Takes what the engine tells.
    func take(_ events: [AnswerEvent]) {
        for event in events {
            guard let served = servedRequests[event.request] else {
                // What was told before the engine heard that the client is gone was computed, too.
                leaving[event.request]?.count(event, metrics)
                continue
            }
            tell(served) { $0.take(event, metrics) }
        }
    }

    /// Tells a client more.
    private func tell(_ served: ServedRequest, _ body: (ServedRequest) -> Void) {
        body(served)
        // What it held is gone with it.
        guard servedRequests[served.id] != nil else { return }
        heldBytes += served.heldBytes - served.countedBytes
        served.countedBytes = served.heldBytes
        didTell(served)
        while heldBytes > parts.sources.heldBytes,
            let most = servedRequests.values.max(by: { $0.heldBytes < $1.heldBytes }),
            most.heldBytes > 0
        {
            most.drop()
        }
    }

    /// A slow client has taken what was sent.
    private func tellMore(_ id: RequestID) {
        guard let served = servedRequests[id] else { return }
        tell(served) { $0.tellHeld(metrics) }
    }

    /// What is large must not keep others waiting while it is written.
    private func didTell(_ served: ServedRequest) {
        // While it was told its client may have gone: nothing is begun for it any longer.
        guard servedRequests[served.id] != nil else { return }
        if let writer = served.takeUnwritten() {
            run(for: served, .writing) {
                HTTPResponse(json: writer.whole)
            } then: { site, served, response in
                served.respond(response)
                site.close(served)
            }
        }
        if let chunk = served.takeUnwrittenChunk() {
            run(for: served, .writing) {
                chunk.written
            } then: { site, served, text in
                site.tell(served) { $0.resume(with: text, site.metrics) }
            }
        }
        if served.status != nil { close(served) }
    }

    private func isGone(_ id: RequestID) {
        guard let served = servedRequests[id] else { return }
        forget(served)
        if served.wasDropped { metrics.dropped += 1 } else { metrics.abandoned += 1 }
        giveUp(served)
    }

    /// The engine has ended what it did for a client that is gone, or is to go.
    private func hasLeft(_ id: RequestID, _ cut: [CutAnswer]) {
        guard let served = leaving.removeValue(forKey: id) else { return }
        for answer in cut { served.count(answer, metrics) }
        if served.wasCutOff {
            end(served)
        } else {
            note(served, served.wasDropped ? "dropped" : "gone")
        }
        if leaving.isEmpty { whenAllLeft() }
    }

    /// Ends the work for a request, wherever it is, and notes what was cut.
    private func giveUp(_ served: ServedRequest) {
        let (id, post) = (served.id, post)
        leaving[id] = served
        served.isWanted.clear()
        if served.isWithThreads {
            unwanted[served.owner, default: Unwanted()].works += 1
            unwanted[served.owner, default: Unwanted()].bytes += served.bodyBytes
        }
        guard served.isPlanned else { return hasLeft(id, []) }
        parts.engine.cancel(id) { cut in post { $0.hasLeft(id, cut) } }
    }

    /// - Returns: whether it was there.
    @discardableResult
    private func forget(_ served: ServedRequest) -> Bool {
        guard servedRequests.removeValue(forKey: served.id) != nil else { return false }
        heldBytes -= served.countedBytes
        return true
    }

    private func close(_ served: ServedRequest) {
        // A client may be found gone while it is answered.
        if forget(served) { end(served) }
    }

    /// Counts and notes what has ended.
    private func end(_ served: ServedRequest) {
        if served.isPlanned {
            finished += 1
            finishedSeconds += served.seconds
        }
        let status = served.status?.rawValue ?? 0
        metrics.count(served.endpoint, status, model: served.model)
        note(served, String(status))
    }

    private func note(_ served: ServedRequest, _ status: String) {
        metrics.count(
            served.model, prompt: served.promptTokens, answer: served.answerTokens)
        requestLog?.note(served, status)
    }

    func finish() { isStopping = true }

    /// Ends all that is under way with an error: there is no more time.
    ///
    /// - Parameter then: called once the engine has ended all of it, and the log has it.
    func cutOff(then: @escaping @Sendable () -> Void) {
        for served in servedRequests.values {
            // Told that it is over, its client may turn out to be gone: it is given up once.
            guard forget(served) else { continue }
            served.wasCutOff = true
            served.fail(.stopping)
            giveUp(served)
        }
        if leaving.isEmpty { then() } else { whenAllLeft = then }
    }
}
