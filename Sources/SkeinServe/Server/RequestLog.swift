import SkeinBasics
import SkeinJSON

/// A line for each request that other threads worked for. Lives on the server's thread.
final class RequestLog {
    private let log: Log
    /// What requests call the base model.
    private let base: String
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let born: ContinuousClock.Instant
    private var rate = LineRate(burst: Limits.logLines, interval: .milliseconds(50))

    init(_ log: Log, base: String, clock: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.log = log
        self.base = base
        self.clock = clock
        born = clock()
    }

    /// - Parameters:
    ///   - served: of the request, which has ended.
    ///   - status: the answer's; `gone`: its client left before; `dropped`: it was given up.
    func note(_ served: ServedRequest, _ status: String) {
        guard let leftOut = rate.admit(at: clock() - born) else { return }
        if leftOut > 0 { log.info("not logged: \(Figures.count(leftOut, "request"))") }
        let adapter = served.model.flatMap { $0 == base ? nil : $0 }
        log.info(
            "POST \(served.endpoint) \(status) in \(Figures.fixed(served.seconds, 2)) s: "
                + (served.model.map { "\($0), " } ?? "")
                + "\(served.promptTokens) prompt tokens (\(served.cachedTokens) cached), "
                + "\(served.answerTokens) answer tokens, \(served.name)",
            [
                ("request_id", .text(served.name)),
                ("model", served.model == nil ? .null : .text(base)),
                ("adapter", adapter.map { .text($0) } ?? .null),
                ("endpoint", .text(served.endpoint)), ("status", .text(status)),
                ("seconds", .decimal(served.seconds)),
                ("prompt_tokens", .integer(served.promptTokens)),
                ("cached_tokens", .integer(served.cachedTokens)),
                ("answer_tokens", .integer(served.answerTokens)),
            ])
    }
}
