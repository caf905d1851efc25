import Foundation
import SkeinBasics
import SkeinNetwork

/// Who may see a run. Pure.
struct StatusAccess: Sendable {
    /// nil: all clients that can reach the address may look, which is this machine's alone.
    let token: [UInt8]?
    /// The host that the user gave.
    let host: String?

    /// What holds no facts of the run.
    private static let open: Set<String> = ["/", "/healthz", "/readyz"]

    /// Why a request is refused; nil if it is not.
    func refusal(of request: HTTPRequest) -> HTTPResponse? {
        if let name = request.header("host"), token == nil, !OwnHost.isOwn(name, named: host) {
            // A page of another site whose name was pointed here would be read as that site's own.
            return HTTPResponse(
                .misdirected,
                line: "this is not \(Self.printable(name)): use the address that skein printed")
        }
        if Self.open.contains(request.path) { return nil }
        if request.header("sec-fetch-site") == "cross-site" {
            return HTTPResponse(.forbidden, line: "another site may not read this")
        }
        guard token == nil || knows(request) else {
            var answer = HTTPResponse(
                .unauthorized,
                line: "the token is missing or wrong: send Authorization: Bearer TOKEN, or open "
                    + "the page as /#token=TOKEN")
            answer.headers = [("WWW-Authenticate", "Bearer realm=\"skein\"")]
            return answer
        }
        return nil
    }

    /// Whether the request has the token.
    func knows(_ request: HTTPRequest) -> Bool {
        guard let token, let bearer = request.bearer else { return false }
        return ConstantTime.areEqual(Array(bearer.utf8), token)
    }

    private static func printable(_ text: String) -> String {
        String(text.prefix(80).filter { $0.isASCII && !$0.isNewline })
    }
}
