import Foundation
import SkeinBasics

extension SocketError: Explained {
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
        case .systemRefused(let operation, let code):
            Explanation(
                what: "the system refused to \(operation): \(Self.text(code))",
                remedy: Self.refusalRemedy(code),
                status: .inputOutput)
        case .stopped:
            Explanation(
                what: "this node has been stopped", remedy: "start it again", status: .interrupted)
        }
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

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
