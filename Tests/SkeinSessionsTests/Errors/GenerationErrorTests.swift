import Foundation
import SkeinSessions
import Testing

@Suite("Errors of a request")
struct GenerationErrorTests {
    typealias Failure = LanguageModelSession.GenerationError

    private static let context = Failure.Context(debugDescription: "facts")

    static let all: [Failure] = [
        .exceededContextWindowSize(context), .assetsUnavailable(context),
        .guardrailViolation(context), .unsupportedGuide(context),
        .unsupportedLanguageOrLocale(context), .decodingFailure(context), .rateLimited(context),
        .concurrentRequests(context),
        .refusal(Failure.Refusal(transcriptEntries: []), context),
    ]

    @Test("Each case says what happened, why, and what to do", arguments: all.indices)
    func prose(index: Int) {
        let error = Self.all[index]
        #expect(error.context == Self.context)
        #expect(error.errorDescription?.hasSuffix(".") == true)
        #expect(error.failureReason == "facts")
        #expect(error.recoverySuggestion?.hasSuffix(".") == true)
        #expect(error.localizedDescription == error.errorDescription)
        #expect(error.errorDescription?.contains("..") == false)
    }

    @Test("Numbers and times stand in the texts")
    func numbers() {
        let window = Failure.exceededContextWindowSize(
            Failure.Context(debugDescription: "tokens", limit: 4096, count: 5000))
        #expect(window.failureReason == "tokens: 5000, and the limit is 4096")
        let limit = Failure.rateLimited(
            Failure.Context(
                debugDescription: "queue", limit: 8, retryAfter: .milliseconds(1500)))
        #expect(limit.failureReason == "queue: the limit is 8")
        #expect(limit.recoverySuggestion == "Try again a little later. Wait 2 s first.")
        let nothing = Failure.rateLimited(Failure.Context(debugDescription: ""))
        #expect(nothing.failureReason == nil)
        #expect(Failure.Context(debugDescription: "x").retryAfter == nil)
    }

    @Test("The patterns of samples match")
    func patterns() {
        func name(_ error: any Error) -> String {
            do {
                throw error
            } catch LanguageModelSession.GenerationError.guardrailViolation(_) {
                return "guardrail"
            } catch let error as LanguageModelSession.GenerationError {
                switch error {
                case .exceededContextWindowSize: return "window"
                case .rateLimited(let retryAfter): return retryAfter.debugDescription
                case .refusal(let refusal, _): return "\(refusal.transcriptEntries.count)"
                default: return "other"
                }
            } catch {
                return "unknown"
            }
        }
        #expect(name(Self.all[0]) == "window")
        #expect(name(Self.all[2]) == "guardrail")
        #expect(name(Self.all[6]) == "facts")
        #expect(name(Self.all[8]) == "0")
        #expect(name(Self.all[5]) == "other")
    }

    @Test("A refusal keeps its entries, and a reason where there is one")
    func refusals() throws {
        let entries = Array(try SampleTranscript.full())
        #expect(Failure.Refusal(transcriptEntries: entries).transcriptEntries == entries)
        #expect(Failure.Refusal(transcriptEntries: entries).reason == nil)
        #expect(Failure.Refusal(transcriptEntries: [], reason: "no").reason == "no")
    }

    @Test("The error of a tool names the tool and keeps what it threw")
    func toolErrors() {
        let error = LanguageModelSession.ToolCallError(
            tool: RunTimeTool(name: "broken"), underlyingError: RunTimeTool.Broken())
        #expect(error.tool.name == "broken")
        #expect(error.underlyingError as? RunTimeTool.Broken == RunTimeTool.Broken())
        #expect(error.errorDescription == #"The tool "broken" failed."#)
        #expect(error.failureReason == "Broken()")
        let explained = LanguageModelSession.ToolCallError(
            tool: RunTimeTool(name: "a"), underlyingError: OptionsError.top(0))
        #expect(
            explained.failureReason == "GenerationOptions: the number of random(top:) is 0")
        #expect(explained.recoverySuggestion == "give 1 or more")
    }
}
