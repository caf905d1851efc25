import Foundation
import SkeinBasics

/// One HTML page without outside resources, and the policy that goes with it: its own script, its own
/// style and connections to where it comes from, nothing else.
package struct Page: Sendable {
    package let html: String
    private let policy: String

    /// How a browser hears of the policy.
    package enum Policy: Sendable {
        /// In a header, with further directives; a page of another origin cannot frame this one.
        case sent([String])
        /// In the page, which is a file.
        case held
    }

    /// - Parameters:
    ///   - title: as HTML.
    ///   - styles: are joined: pieces of `PageStyle`, then the page's own.
    ///   - body: as HTML.
    ///   - scripts: are joined; a page without any connects to nothing.
    ///   - policy: how it is told.
    package init(
        title: String, styles: [String], body: String, scripts: [String] = [], policy: Policy
    ) {
        let style = styles.joined(separator: "\n")
        let script = scripts.joined(separator: "\n")
        func source(_ text: String) -> String {
            "'sha256-\(Data(SHA256.digest(of: text).bytes).base64EncodedString())'"
        }
        var directives = ["default-src 'none'"]
        if !scripts.isEmpty { directives.append("script-src \(source(script))") }
        directives.append("style-src \(source(style))")
        if !scripts.isEmpty { directives.append("connect-src 'self'") }
        directives += ["img-src data:", "base-uri 'none'", "form-action 'none'"]
        var meta = ""
        switch policy {
        case .sent(let more): directives += ["frame-ancestors 'none'"] + more
        case .held:
            let content = directives.joined(separator: "; ")
            meta = "\n<meta http-equiv=\"Content-Security-Policy\" content=\"\(content)\">\n"
        }
        self.policy = directives.joined(separator: "; ")
        html = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">\(meta)<title>\(title)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="icon" href="data:,"><style>\(style)</style></head>
            <body>
            \(body)
            \(scripts.isEmpty ? "" : "<script>\(script)</script>\n")</body></html>
            """
    }

    /// The page as it is served.
    package var response: HTTPResponse {
        HTTPResponse(
            contentType: "text/html; charset=utf-8",
            headers: [("Content-Security-Policy", policy)], body: Array(html.utf8))
    }
}
