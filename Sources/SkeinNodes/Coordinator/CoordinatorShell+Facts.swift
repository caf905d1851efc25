import SkeinBasics
import SkeinCoordination

// Facts for programs that read the log.
extension CoordinatorShell {
    /// `event` of a line. docs/OPERATING.md has the same list.
    enum Fact: String {
        case opened, closed, joined, left, lost, leased, cancelled, arrived, accepted, refused
    }

    /// Logs a fact, only with `--log-format json`: there are too many for people.
    func note(
        _ fact: Fact, worker: String? = nil, of key: WorkKey? = nil,
        _ more: @autoclosure () -> [JSONLine.Field] = []
    ) {
        guard log.format == .json else { return }
        var fields: [JSONLine.Field] = []
        if let worker { fields.append(("worker", .string(worker))) }
        if let key {
            fields.append(("round", .integer(Int(clamping: key.round))))
            fields.append(("micro_batch", .integer(Int(key.index))))
        }
        log.info(fact.rawValue, facts(fact, fields + more()))
    }

    /// The fields of a fact's line.
    func facts(_ fact: Fact, _ more: [JSONLine.Field]) -> [JSONLine.Field] {
        // Not the time of the loop's turn: the time between facts should show.
        [("event", .string(fact.rawValue)), ("seconds", .number(sinceStart / .seconds(1)))] + more
    }

    func noteOpened(_ round: LeasedRound) {
        note(
            .opened,
            [
                ("round", .integer(Int(clamping: round.number))),
                ("step", .integer(round.step)), ("label", .string("\(round.label)")),
                ("pieces", .integer(round.rows.count)),
            ])
    }

    func noteClosed(_ number: UInt64) {
        note(.closed, [("round", .integer(Int(clamping: number)))])
    }
}
