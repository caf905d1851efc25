import Foundation
import SkeinBasics

/// Why a launch did not come to its good end.
package enum LaunchError: Error, Equatable {
    /// The system did not start a program.
    case notStarted(program: String, code: Int32)
    /// Ctrl-C; `directory` is the run's.
    case interrupted(directory: String)
    /// A child ended the run; its own lines say why.
    case memberFailed(name: String, ending: String, status: ExitStatus)
}

extension LaunchError: Explained {
    package var explanation: Explanation {
        switch self {
        case .notStarted(let program, let code):
            Explanation(
                what: "cannot start a program: \(String(cString: strerror(code)))",
                place: program, remedy: "check that it is there and may be run",
                status: .inputOutput)
        case .interrupted(let directory):
            Explanation(
                what: "interrupted", place: directory,
                remedy: "continue with the same command and --resume", status: .interrupted)
        case .memberFailed(let name, let ending, let status):
            Explanation(
                what: "\(name) ended with \(ending)", place: "skein launch",
                remedy: "its own lines above say why", status: status)
        }
    }
}
