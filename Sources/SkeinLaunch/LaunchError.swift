import Foundation
import SkeinBasics

/// Why a launch did not complete its run.
package enum LaunchError: Error, Equatable {
    /// The system did not start a program.
    case notStarted(program: String, code: Int32)
    /// Ctrl-C; `directory` is the run's.
    case interrupted(directory: String)
    /// A child's failure ended the run; its own lines say why.
    case memberFailed(name: String, ending: String, status: ExitStatus)
    /// Not a .tar.gz, or larger than any release.
    case badRelease(path: String)
    /// Ctrl-C while hosts were checked.
    case checkInterrupted
    /// These hosts of the file at `path` cannot take part; nothing was started.
    case hostsFailed(names: [String], of: Int, path: String, status: ExitStatus)
}

extension LaunchError: Explained {
    package var explanation: Explanation {
        switch self {
        case .notStarted(let program, let code):
            Explanation(
                what: "cannot start the program: \(String(cString: strerror(code)))",
                place: program, remedy: "check that it exists and is executable",
                status: .inputOutput)
        case .interrupted(let directory):
            Explanation(
                what: "interrupted", place: directory,
                remedy: "continue with the same command and --resume", status: .interrupted)
        case .memberFailed(let name, let ending, let status):
            Explanation(
                what: "\(name) ended with \(ending)", place: "skein launch",
                remedy: "see its own lines above", status: status)
        case .badRelease(let path):
            Explanation(
                what: "this is not a release of skein", place: path,
                remedy: "make one with Scripts/package; it is a .tar.gz", status: .badData)
        case .checkInterrupted:
            Explanation(
                what: "interrupted while the hosts were checked; nothing was started",
                place: "skein launch", remedy: "run the same command again", status: .interrupted)
        case .hostsFailed(let names, let count, let path, let status):
            Explanation(
                what: "\(names.count) of \(Figures.count(count, "host")) cannot take part ("
                    + names.prefix(8).joined(separator: ", ")
                    + (names.count > 8 ? ", ..." : "") + "); nothing was started",
                place: path,
                remedy: "do what is said above of each, or write # before its line to start "
                    + "without it", status: status)
        }
    }
}
