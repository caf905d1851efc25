import Foundation
import SkeinBasics
import SkeinNetwork
import Testing

@testable import SkeinServe

@Suite("the chat page")
struct ChatPageTests {
    private var html: String { ChatPage.page.html }

    /// What stands between two marks, which are each there once.
    private func text(from start: String, to end: String) throws -> String {
        let first = html.components(separatedBy: start)
        #expect(first.count == 2, "one \(start)")
        let second = try #require(first.last).components(separatedBy: end)
        #expect(second.count == 2, "one \(end)")
        return second[0]
    }

    @Test("the policy allows the page's own script and style, and nothing inline besides")
    func policy() throws {
        let policy = try #require(ChatPage.page.response.headers.first).value
        for (kind, name) in [("script", "script"), ("style", "style")] {
            let digest = SHA256.digest(of: try text(from: "<\(name)>", to: "</\(name)>"))
            let hash = Data(digest.bytes).base64EncodedString()
            #expect(policy.contains("\(kind)-src 'sha256-\(hash)'"), "\(kind)")
        }
        #expect(!policy.contains("unsafe") && policy.hasPrefix("default-src 'none'"))
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
