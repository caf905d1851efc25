import SkeinSessions
import Synchronization
import Testing

@Suite("Guardrails")
struct GuardrailsTests {
    typealias Guardrails = SystemLanguageModel.Guardrails

    /// Finds a text anywhere, and counts the bytes that it looked at.
    private final class Finder: GuardrailCheck {
        let text: String
        let verdict: GuardrailVerdict
        let looked = Mutex(0)

        init(_ text: String, _ verdict: GuardrailVerdict) {
            self.text = text
            self.verdict = verdict
        }

        func check(_ text: String, on stage: GuardrailStage) -> GuardrailVerdict {
            looked.withLock { $0 += text.utf8.count }
            return text.contains(self.text) ? verdict : .pass
        }
    }

    private struct Failing: GuardrailCheck {
        struct Failure: Error {}
        let name = "failing"

        func check(_ text: String, on stage: GuardrailStage) async throws -> GuardrailVerdict {
            throw Failure()
        }
    }

    @Test("The default and the permissive guardrails let everything pass")
    func defaults() async throws {
        for guardrails in [Guardrails.default, .permissiveContentTransformations] {
            for isGuided in [false, true] {
                #expect(
                    try await guardrails.finding(in: "bad", on: .input, isGuided: isGuided) == nil)
                #expect(guardrails.growing(on: .output, isGuided: isGuided).isEmpty)
            }
        }
        #expect(Guardrails.permissiveContentTransformations.isPermissive)
        #expect(!Guardrails.default.isPermissive)
    }

    @Test("Checks are asked in their order, and the first finding counts")
    func order() async throws {
        let guardrails = Guardrails(checks: [
            Finder("a", .violation(reason: "an a")), Finder("b", .refusal(explanation: "no b")),
            try DenyList(["c"]),
        ])
        func finding(_ text: String) async throws -> GuardrailFinding? {
            try await guardrails.finding(in: text, on: .input, isGuided: false)
        }
        #expect(try await finding("x") == nil)
        #expect(try await finding("ba")?.verdict == .violation(reason: "an a"))
        #expect(try await finding("b c")?.verdict == .refusal(explanation: "no b"))
        #expect(try await finding("c")?.check == "DenyList")
        #expect(try await finding("b")?.check == "Finder")
    }

    @Test("Permissive guardrails check guided requests alone")
    func permissive() async throws {
        let guardrails = Guardrails(
            checks: [try DenyList(["bad"])], permissiveContentTransformations: true)
        #expect(try await guardrails.finding(in: "bad", on: .output, isGuided: false) == nil)
        #expect(try await guardrails.finding(in: "bad", on: .output, isGuided: true) != nil)
        var growing = guardrails.growing(on: .output, isGuided: true)
        #expect(try await growing.add("bad.") != nil)
    }

    @Test("A check that fails lets nothing pass")
    func failing() async throws {
        let guardrails = Guardrails(checks: [Failing()])
        await #expect(throws: Failing.Failure.self) {
            _ = try await guardrails.finding(in: "x", on: .input, isGuided: false)
        }
        var growing = guardrails.growing(on: .output, isGuided: false)
        await #expect(throws: Failing.Failure.self) { _ = try await growing.end() }
    }

    @Test("A check of whole texts follows a stream in linear time, and sees the end")
    func stream() async throws {
        let finder = Finder("needle", .violation(reason: "found"))
        var growing = Guardrails(checks: [finder]).growing(on: .output, isGuided: false)
        var bytes = 0
        for _ in 0..<10_000 {
            #expect(try await growing.add("hay ") == nil)
            bytes += 4
        }
        #expect(try await growing.add("needle") == nil)
        #expect(try await growing.end()?.verdict == .violation(reason: "found"))
        #expect(finder.looked.withLock { $0 } <= 3 * (bytes + 6))
    }

    @Test("A finding in a stream comes before its end once the text has doubled")
    func early() async throws {
        let finder = Finder("needle", .violation(reason: "found"))
        var growing = Guardrails(checks: [finder]).growing(on: .output, isGuided: false)
        var finding: GuardrailFinding?
        var pieces = 0
        while finding == nil && pieces < 100 {
            finding = try await growing.add("a needle in the hay ")
            pieces += 1
        }
        #expect(pieces == 4)
    }
}
