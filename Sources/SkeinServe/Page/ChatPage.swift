import Foundation
import SkeinBasics

/// The server's chat page: one HTML file without outside resources. It holds no facts of the
/// server; its script asks `v1/models` and `v1/chat/completions` beside it as any client does, so
/// the page itself needs no API key.
struct ChatPage: Sendable {
    static let contentType = "text/html; charset=utf-8"

    let html: [UInt8]
    /// Allows this script, this style and connections to where the page comes from, nothing else.
    /// Text can never become markup: `require-trusted-types-for` lets the browser refuse every
    /// `innerHTML`, in case that a later script has one.
    let contentSecurityPolicy: String

    /// What is sent besides `contentType`.
    var headers: [(name: String, value: String)] {
        [("Content-Security-Policy", contentSecurityPolicy)]
    }

    init() {
        let style = ChatStyle.text
        let script = [ChatStream.text, ChatText.text, ChatTurns.text, ChatScript.text]
            .joined(separator: "\n")
        func source(_ text: String) -> String {
            "'sha256-\(Data(SHA256.digest(of: text).bytes).base64EncodedString())'"
        }
        html = Array(
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Skein chat</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="icon" href="data:,"><style>\(style)</style></head>
            <body>
            \(ChatMarkup.body)
            <script>\(script)</script>
            </body></html>
            """.utf8)
        contentSecurityPolicy =
            "default-src 'none'; script-src \(source(script)); style-src \(source(style)); "
            + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    }
}
