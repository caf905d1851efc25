import SkeinBasics

/// What must never happen in a benchmark.
package enum BenchError: Error, Equatable {
    case failed(what: String, place: String)
    /// The plan of `ModelProbe` at `place` cannot be computed.
    case badPlan(what: String, place: String)
    /// The run at `place` did not end with the adapter that it must have.
    case adaptersDiffer(place: String)
    /// `place` has a run already.
    case hasRun(place: String)
    /// A process ended in the wrong way; `lines` are its last ones.
    case memberFailed(name: String, ending: String, status: ExitStatus, lines: [String])
    /// `what` did not happen in time at this process.
    case deadline(name: String, what: String, lines: [String])
    /// There is no program at `place` that could be started.
    case noSkein(place: String)
    /// Ctrl-C.
    case interrupted

    /// The last lines of the process at fault.
    package var lastLines: [String] {
        switch self {
        case .memberFailed(_, _, _, let lines), .deadline(_, _, let lines): lines
        case .failed, .badPlan, .adaptersDiffer, .hasRun, .noSkein, .interrupted: []
        }
    }
}

extension BenchError: Explained {
    private static let command = "skein-lab bench"

    /// Statuses of faults that a user can mend.
    private static let mistakes: [ExitStatus] = [.usage, .badData, .inputOutput]

    package var explanation: Explanation {
        let (what, place) =
            switch self {
            case .failed(let what, let place), .badPlan(let what, let place): (what, place)
            case .adaptersDiffer(let place):
                ("this adapter differs from that of an equal run", place)
            case .hasRun(let place): ("this directory has a run already", place)
            case .memberFailed(let name, let ending, _, _):
                ("\(name) ended with \(ending); its last lines are above", Self.command)
            case .deadline(let name, let what, _):
                ("\(name): timed out waiting for \(what)", Self.command)
            case .noSkein(let place): ("there is no skein to start", place)
            case .interrupted: ("interrupted", Self.command)
            }
        let (remedy, status): (String, ExitStatus) =
            switch self {
            case .interrupted: ("start it again", .interrupted)
            case .adaptersDiffer:
                ("report it, with the run directories: no load may change a hash", .internalError)
            case .hasRun: ("give a new directory", .usage)
            case .noSkein:
                (
                    "build it with `swift build -c release --product skein`, or name it with --skein",
                    .usage
                )
            case .badPlan: ("write it as Scripts/check-families does", .badData)
            case .memberFailed(_, _, let status, _) where Self.mistakes.contains(status):
                ("see its lines above", status)
            case .failed, .memberFailed, .deadline:
                ("try again on a quiet machine, then report it", .internalError)
            }
        return Explanation(what: what, place: place, remedy: remedy, status: status)
    }
}
