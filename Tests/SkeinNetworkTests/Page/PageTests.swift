import Foundation
import SkeinBasics
import Testing

@testable import SkeinNetwork

@Suite("a page and its policy")
struct PageTests {
    private func source(_ text: String) -> String {
        "'sha256-\(Data(SHA256.digest(of: text).bytes).base64EncodedString())'"
    }

    @Test("a page that is sent has its policy in a header")
    func sent() {
        let page = Page(
            title: "T", styles: ["a { }"], body: "B", scripts: ["x", "y"],
            policy: .sent(["z 'none'"]))
        #expect(
            page.html == """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><title>T</title>
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <link rel="icon" href="data:,"><style>a { }</style></head>
                <body>
                B
                <script>x\ny</script>
                </body></html>
                """)
        let response = page.response
        #expect(response.contentType == "text/html; charset=utf-8")
        #expect(response.body == Array(page.html.utf8))
        #expect(
            response.headers.map(\.value) == [
                "default-src 'none'; script-src \(source("x\ny")); style-src \(source("a { }")); "
                    + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                    + "frame-ancestors 'none'; z 'none'"
            ])
    }

    @Test("a file holds its policy, and without scripts it connects to nothing")
    func held() {
        let page = Page(title: "T", styles: ["a { }"], body: "B", policy: .held)
        #expect(
            page.html == """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8">
                <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
                style-src \(source("a { }")); img-src data:; base-uri 'none'; form-action 'none'">
                <title>T</title>
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <link rel="icon" href="data:,"><style>a { }</style></head>
                <body>
                B
                </body></html>
                """)
    }
}
