import Foundation
import SkeinBasics

extension NodeError: Explained {
    package var explanation: Explanation {
        switch self {
        case .tokenFile(let path, let problem):
            problem.explanation(path: path)
        case .tooFewFiles, .adapterTooLarge, .replayTooLarge, .roundTooLarge, .tokenRequired,
            .workersMissing, .stateLost, .coordinatorMissing, .nameReserved,
            .refused, .runFailed, .offerUnusable, .leaseUnusable, .connectionLost,
            .modelDamaged, .noStatus:
            clusterExplanation
        }
    }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension NodeError.TokenFileProblem {
    fileprivate func explanation(path: String) -> Explanation {
        let (what, remedy, status): (String, String, ExitStatus) =
            switch self {
            case .failed(let operation, let code):
                (
                    "cannot \(operation) the token file: \(NodeError.text(code))",
                    code == ENOENT
                        ? "check the path; '(umask 077; openssl rand -hex 32 > FILE)' makes a token"
                        : "check the permissions of the file and of its directory",
                    .inputOutput
                )
            case .notRegular:
                ("the token file is not a regular file", "give a regular file", .badData)
            case .owner(let found, let expected):
                (
                    "the token file belongs to user \(found), not to \(expected) or root",
                    "copy it to a file that you own", .badData
                )
            case .mode(let found):
                (
                    "others may use the token file: its mode is \(Self.octal(found))",
                    "chmod 600 \(path)", .badData
                )
            case .length(let found, let expected):
                (
                    "the token has \(found) bytes, not \(expected.lowerBound) to "
                        + "\(expected.upperBound)",
                    "make one with: (umask 077; openssl rand -hex 32 > FILE)", .badData
                )
            case .exists:
                (
                    "the token file already exists and is not overwritten",
                    "use it, or remove it first", .usage
                )
            }
        return Explanation(what: what, place: path, remedy: remedy, status: status)
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
