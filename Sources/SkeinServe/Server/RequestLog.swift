import SkeinBasics

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
    ///   - exchange: of the request, which has ended.
    ///   - status: the answer's; `gone`: its client left before; `dropped`: it was given up.
    func note(_ exchange: Exchange, _ status: String) {
        guard let leftOut = rate.admit(at: clock() - born) else { return }
        if leftOut > 0 { log.info("not logged: \(Figures.count(leftOut, "request"))") }
        let adapter = exchange.model.flatMap { $0 == base ? nil : $0 }
        log.info(
            "POST \(exchange.endpoint) \(status) in \(Figures.fixed(exchange.seconds, 2)) s: "
                + (exchange.model.map { "\($0), " } ?? "")
                + "\(exchange.promptTokens) prompt tokens (\(exchange.cachedTokens) cached), "
                + "\(exchange.answerTokens) answer tokens, \(exchange.name)",
            [
                ("request_id", .string(exchange.name)),
                ("model", exchange.model == nil ? .null : .string(base)),
                ("adapter", adapter.map { .string($0) } ?? .null),
                ("endpoint", .string(exchange.endpoint)), ("status", .string(status)),
                ("seconds", .number(exchange.seconds)),
                ("prompt_tokens", .integer(exchange.promptTokens)),
                ("cached_tokens", .integer(exchange.cachedTokens)),
                ("answer_tokens", .integer(exchange.answerTokens)),
            ])
    }
}
