import SkeinBasics
import SkeinCoordination
import SkeinJSON

// Facts for programs that read the log.
extension CoordinatorShell {
    /// `event` of a line. docs/OPERATING.md has the same list.
    enum Fact: String {
        case opened, closed, joined, left, lost, leased, cancelled, arrived, accepted, refused
        case replayed
    }

    /// Logs a fact, only with `--log-format json`: there are too many for people.
    func note(
        _ fact: Fact, worker: String? = nil, of key: WorkKey? = nil,
        _ more: @autoclosure () -> [(String, JSONValue)] = []
    ) {
        guard log.format == .json else { return }
        var fields: [(String, JSONValue)] = []
        if let worker { fields.append(("worker", .text(worker))) }
        if let key {
            fields.append(("round", .integer(Int(clamping: key.round))))
            fields.append(("micro_batch", .integer(Int(key.index))))
        }
        log.info(fact.rawValue, facts(fact, fields + more()))
    }

    /// The fields of a fact's line.
    func facts(_ fact: Fact, _ more: [(String, JSONValue)]) -> [(String, JSONValue)] {
        // Not the time of the loop's turn: the time between facts should show.
        [("event", .text(fact.rawValue)), ("seconds", .decimal(sinceStart / .seconds(1)))] + more
    }
}
