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
        }
    }
}
