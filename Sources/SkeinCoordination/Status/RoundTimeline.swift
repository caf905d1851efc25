import SkeinBasics
import SkeinJSON

/// What happened in the last rounds: who computed what and when, and whose result came last.
///
/// Kept for people who look; nothing is decided by it. At most `mostRounds` rounds of `mostSpans`
/// spans: 2 MiB.
package struct RoundTimeline: Sendable, Equatable {
    package static let mostRounds = 32
    package static let mostSpans = 512

    /// A piece at a worker, from when a thread took it up.
    package struct Span: Sendable, Equatable {
        package enum Ending: String, Sendable, Codable {
            /// The result is here and is not checked yet.
            case arrived
            case accepted, refused, duplicate
            /// Another result came first, or another worker starts it.
            case cancelled
            /// Its worker is gone.
            case lost
        }

        package var index: Int
        package var worker: String
        package var attempt: Int
        /// Seconds since the round was opened.
        package var from: Double
        package var to: Double
        package var ending: Ending
    }

    package struct Entry: Sendable, Equatable {
        package var label: RoundLabel
        /// Counted from 1 within a term; a step whose round was spoiled has several.
        package var number: UInt64
        /// From the round's opening to its end, in seconds.
        package var seconds: Double
        package var pieces: Int
        package var spans: [Span] = []
        /// Spans beyond `mostSpans`.
        package var spansLeftOut = 0
        /// The worker whose good result came last, and by how much later than those of all others.
        package var last: String?
        package var lastSeconds: Double = 0

        package init(label: RoundLabel, number: UInt64, seconds: Double, pieces: Int) {
            self.label = label
            self.number = number
            self.seconds = seconds
            self.pieces = pieces
        }
    }

    /// The rounds that have ended, the oldest first.
    package private(set) var entries: [Entry] = []
    private var current: Entry?
    private var opened = Duration.zero
    /// When the last good result of each of the two latest workers came.
    private var latest: [(worker: String, at: Duration)] = []

    package init() {}

    package static func == (left: RoundTimeline, right: RoundTimeline) -> Bool {
        left.entries == right.entries && left.current == right.current
    }

    mutating func open(_ round: RoundPlan, now: Duration) {
        current = Entry(
            label: round.label, number: round.number, seconds: 0, pieces: round.costs.count)
        opened = now
        latest = []
    }

    mutating func close(now: Duration) {
        guard var entry = current else { return }
        current = nil
        entry.seconds = (now - opened).inSeconds
        if let last = latest.last {
            entry.last = last.worker
            let others = latest.dropLast().last?.at ?? opened
            entry.lastSeconds = (last.at - others).inSeconds
        }
        entries.append(entry)
        if entries.count > Self.mostRounds { entries.removeFirst() }
    }

    /// A lease on which a thread had begun has ended.
    mutating func end(
        _ lease: Lease, of worker: String, _ ending: Span.Ending, now: Duration
    ) {
        guard let started = lease.started, current != nil else { return }
        guard current?.spans.count ?? 0 < Self.mostSpans else {
            current?.spansLeftOut += 1
            return
        }
        current?.spans.append(
            Span(
                index: lease.index, worker: worker, attempt: Int(lease.attempt),
                from: (started - opened).inSeconds, to: (now - opened).inSeconds, ending: ending))
    }

    /// What became of a result that had arrived.
    mutating func answer(_ index: Int, of worker: String, _ ending: Span.Ending, now: Duration) {
        if ending == .accepted {
            latest.removeAll { $0.worker == worker }
            latest.append((worker, now))
            if latest.count > 2 { latest.removeFirst() }
        }
        let place = current?.spans.lastIndex {
            $0.index == index && $0.worker == worker && $0.ending == .arrived
        }
        if let place { current?.spans[place].ending = ending }
    }
}

extension RoundTimeline.Entry {
    /// `{"label": …, "seconds": …, "spans": [[index, worker, attempt, from, to, ending], …]}`, short,
    /// since a page gets one for each step.
    package var json: JSONValue {
        let (kind, step): (String, Int) =
            switch label {
            case .step(let step): ("step", step)
            case .validation(let step): ("validation", step)
            case .references: ("references", 0)
            }
        return .fields([
            ("number", .integer(Int(clamping: number))), ("kind", .text(kind)),
            ("step", .integer(step)), ("seconds", .decimal(seconds)), ("pieces", .integer(pieces)),
            ("last", last.map { .text($0) } ?? .null), ("last_seconds", .decimal(lastSeconds)),
            ("spans_left_out", .integer(spansLeftOut)),
            (
                "spans",
                .list(
                    spans.map { span in
                        .list([
                            .integer(span.index), .text(span.worker), .integer(span.attempt),
                            .decimal(span.from), .decimal(span.to), .text(span.ending.rawValue),
                        ])
                    })
            ),
        ])
    }
}
