import Foundation
import SkeinBasics

/// The page of a run: one HTML file without outside resources. It holds no facts of the run; its
/// script fetches them, so the page itself needs no token.
struct StatusPage: Sendable {
    let html: [UInt8]
    /// Allows this script, this style and connections to where the page comes from, nothing else.
    let contentSecurityPolicy: String

    init() {
        let (style, script) = (PageStyle.text, PageCharts.text + "\n" + PageScript.text)
        func source(_ text: String) -> String {
            "'sha256-\(Data(SHA256.digest(of: text).bytes).base64EncodedString())'"
        }
        html = Array(
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Skein</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="icon" href="data:,"><style>\(style)</style></head>
            <body>
            \(PageMarkup.body)
            <script>\(script)</script>
            </body></html>
            """.utf8)
        contentSecurityPolicy =
            "default-src 'none'; script-src \(source(script)); style-src \(source(style)); "
            + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }
}
