import Foundation
import SkeinNetwork
import Testing

@testable import SkeinServe

@Suite("the chat page")
struct ChatPageTests {
    private var html: String { ChatPage.page.html }

    @Test("nothing is inline but the page's own script and style, and no text becomes markup")
    func policy() throws {
        let policy = try #require(ChatPage.page.response.headers.first).value
        #expect(!policy.contains("unsafe") && policy.contains("require-trusted-types-for 'script'"))
        for mark in ["<script>", "</script>", "<style>", "</style>"] {
            #expect(html.components(separatedBy: mark).count == 2, "one \(mark)")
        }
        let body = ChatMarkup.body
        #expect(body.range(of: #"\s(on[a-z]+|style)="#, options: .regularExpression) == nil)
    }

    @Test("the page refers to nothing elsewhere and makes no markup of text")
    func words() {
        let words = ["http://", "https://", "innerHTML", "insertAdjacentHTML", "localStorage"]
        for word in words {
            #expect(!html.contains(word), "\(word)")
        }
    }

    @Test("what the script looks for by its id is in the markup, once")
    func names() throws {
        let expression = try Regex(#"\$\("([a-z-]+)"\)"#, as: (Substring, Substring).self)
        let names = Set(ChatScript.text.matches(of: expression).map { String($0.output.1) })
        #expect(names.count > 20)
        for name in names {
            #expect(ChatMarkup.body.components(separatedBy: "id=\"\(name)\"").count == 2, "\(name)")
        }
    }
}
