import SkeinBasics

/// What a service manager is told of this process, and when. Pure: looks and the time in, lines out.
///
/// `READY=1` once; `STATUS=` when the sentence is another one, but not often; `WATCHDOG=1` at half the
/// watchdog's time, unless nothing has moved for too long; `EXTEND_TIMEOUT_USEC=` while a start takes
/// long and goes on; `STOPPING=1` once.
struct ServiceReport: Sendable {
    /// How the process is at a moment.
    struct Look: Sendable, Equatable {
        /// What it does, in one sentence.
        var sentence: String
        var isReady = false
        var isStopping = false
        /// Whether this is the last look.
        var isLast = false
        /// When something last moved that matters, since the same start as `now`.
        var moved: Duration
    }

    /// The time between two sentences, but for the first and the last of a stage.
    static let sentenceInterval = Duration.seconds(5)
    /// A start that goes on asks for this much more time, a third of which may pass before it asks
    /// again. systemd allows 90 s by default.
    static let extraTime = Duration.seconds(60)

    private let watchdog: Duration?
    private let readyAfter: Duration?

    private var isReady = false
    private var isStopping = false
    private var sentence: String?
    private var sentenceAt = Duration.zero
    private var pingedAt: Duration?
    private var extendedAt: Duration?
    /// What could not be sent and must not be left out.
    private var owed: [String] = []

    /// - Parameters:
    ///   - watchdog: how long the manager waits for a sign of life; nil: it has no watchdog.
    ///   - readyAfter: when the service counts as started although it is not ready: who starts it
    ///     must not wait for ever; nil: never.
    init(watchdog: Duration?, readyAfter: Duration? = nil) {
        self.watchdog = watchdog
        self.readyAfter = readyAfter
    }

    /// The time until the next look: short until the service is ready, so that its manager hears of
    /// it soon.
    var interval: Duration {
        let longest = isReady && !isStopping ? Self.sentenceInterval : .milliseconds(250)
        return min(longest, max(.milliseconds(50), (watchdog ?? .seconds(60)) / 2))
    }

    /// - Parameters:
    ///   - look: how the process is.
    ///   - now: the time since the process began to report.
    /// - Returns: the lines of one message; none: nothing is to be said.
    mutating func lines(_ look: Look, now: Duration) -> [String] {
        var lines = owed
        owed = []
        var isNews = sentence == nil || look.isLast
        if look.isStopping, !isStopping {
            isStopping = true
            isNews = true
            lines.append("STOPPING=1")
        }
        if !isReady, !isStopping, look.isReady || readyAfter.map({ now >= $0 }) == true {
            isReady = true
            isNews = true
            lines.append("READY=1")
        }
        if look.sentence != sentence, isNews || now - sentenceAt >= Self.sentenceInterval {
            sentence = look.sentence
            sentenceAt = now
            lines.append("STATUS=" + Self.line(look.sentence))
        }
        if let watchdog, isDue(pingedAt, every: watchdog / 2, now), isAlive(look, now) {
            pingedAt = now
            lines.append("WATCHDOG=1")
        }
        if !isReady, !isStopping, isDue(extendedAt, every: Self.extraTime / 3, now),
            extendedAt.map({ look.moved > $0 }) ?? true
        {
            extendedAt = now
            lines.append("EXTEND_TIMEOUT_USEC=\(Self.extraTime.components.seconds * 1_000_000)")
        }
        return lines
    }

    /// The lines could not be sent: the states among them are sent again.
    mutating func lost(_ lines: [String]) {
        owed = lines.filter { $0 == "READY=1" || $0 == "STOPPING=1" }
        sentence = nil
        pingedAt = nil
    }

    /// Whether `interval` has passed, or will nearly have by the next look.
    private func isDue(_ last: Duration?, every time: Duration, _ now: Duration) -> Bool {
        last.map { now - $0 >= time - interval / 2 } ?? true
    }

    private func isAlive(_ look: Look, _ now: Duration) -> Bool {
        now - look.moved < Limits.stillness
    }

    /// On one line, of a length that every manager takes.
    private static func line(_ text: String) -> String {
        ForeignText.withoutControls(text, limit: 500)
    }
}
