import Foundation
import SkeinBasics

extension NodeError: Explained {
    package var explanation: Explanation {
        switch self {
        case .addressInvalid(let text, let reason):
            Explanation(
                what: "'\(text)' is not an address: \(reason)",
                remedy: "write it as HOST:PORT, for example 10.0.0.7:7534 or [fd00::7]:7534",
                status: .usage)
        case .nameNotResolved(let host, let detail):
            Explanation(
                what: "cannot resolve the host name: \(detail)", place: host,
                remedy: "check its spelling, or give its numeric address", status: .peerGone)
        case .portInUse(let address):
            Explanation(
                what: "another process listens on this port", place: address,
                remedy: "see which one with: ss -ltnp (Linux) or lsof -iTCP -sTCP:LISTEN; "
                    + "stop it, or listen on another port",
                status: .inputOutput)
        case .cannotListen(let address, let code):
            Explanation(
                what: "cannot listen: \(Self.text(code))", place: address,
                remedy: Self.listenRemedy(code), status: .inputOutput)
        case .cannotConnect(let address, let code):
            Explanation(
                what: "cannot connect: \(Self.text(code))", place: address,
                remedy: Self.connectRemedy(code), status: .peerGone)
        case .tokenFile(let path, let problem):
            problem.explanation(path: path)
        case .systemRefused(let operation, let code):
            Explanation(
                what: "the system refused to \(operation): \(Self.text(code))",
                remedy: Self.refusalRemedy(code),
                status: .inputOutput)
        case .tooFewFiles, .adapterTooLarge, .tokenRequired, .workersMissing, .coordinatorMissing,
            .refused, .runFailed, .offerUnusable, .leaseUnusable, .connectionLost,
            .modelPieceDamaged, .modelDamaged, .noStatus:
            clusterExplanation
        case .stopped:
            Explanation(
                what: "this node has been stopped", remedy: "start it again", status: .interrupted)
        }
    }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func refusalRemedy(_ code: Int32) -> String {
        switch code {
        case EMFILE, ENFILE: "raise the limit on open files (ulimit -n)"
        case EAGAIN: "raise the limit on processes (ulimit -u, or the container's)"
        default: "check the limits of this process (ulimit -a)"
        }
    }

    private static func listenRemedy(_ code: Int32) -> String {
        switch code {
        case EACCES, EPERM: "use a port above 1023"
        case EADDRNOTAVAIL:
            "no network interface of this machine has this address; give one of "
                + "its own (ip address shows them), or 0.0.0.0:PORT for all"
        case EMFILE, ENFILE: "raise the limit on open files (ulimit -n)"
        default: "check the address and the network interfaces of this machine"
        }
    }

    private static func connectRemedy(_ code: Int32) -> String {
        switch code {
        case ECONNREFUSED: "check that the coordinator runs there, and its port"
        case ETIMEDOUT, EHOSTUNREACH, ENETUNREACH:
            "check the address, and that no firewall is in between"
        case EMFILE, ENFILE: "raise the limit on open files (ulimit -n)"
        default: "check the address and the network"
        }
    }
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
