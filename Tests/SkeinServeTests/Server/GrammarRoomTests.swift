import SkeinBasics
import SkeinGrammar
import SkeinInference
import SkeinModels
import SkeinNetwork
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinServe

/// Whose requests are refused where schemas take all room for them.
@Suite struct GrammarRoomTests {
    /// Runs `body` with room for one grammar, whatever its size: it is full as soon as there is one.
    private static func run(_ body: (Preparation) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            // Tools take some 500 tokens of a prompt.
            tiny.contextLength = 2048
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var options = OpenAIServer.Options(listen: "127.0.0.1:0")
            options.threads = 1
            options.prefixBytes = 0
            options.grammarBytes = 2
            let host = try ModelHost(
                ModelHost.Opened(model, options.host, for: options.use), chat: options.chat
            ) { _ in }
            defer { host.engine.stop() }
            try body(
                Preparation(
                    models: ServedModels(
                        host.adapters, name: "tiny", settings: ServedModels.Settings()),
                    host: host, answerTokens: 100, sampling: SamplingRule()))
        }
    }

    private static let names = RequestNames(start: 1, created: 2, seed: 3)

    private static func schema(_ number: Int) -> String {
        #"{"type":"object","properties":{"p\#(number)":{"type":"integer"}},"required":["p\#(number)"]}"#
    }

    /// What a request holds as long as it waits or is answered.
    private static func complete(
        _ preparation: Preparation, _ number: Int, prompts: String = #""the""#
    ) throws(APIError) -> AnswerPlan {
        let body =
            #"{"prompt":[\#(prompts)],"max_tokens":60,"guided_json":\#(schema(number))}"#
        let draft = try preparation.draft(
            completion: Array(body.utf8), id: RequestID(number: UInt64(number)), names)
        return try preparation.plan(draft, isWanted: { true })
    }

    private static func call(
        _ preparation: Preparation, _ number: Int
    ) throws(APIError) -> AnswerPlan {
        let tool =
            #"{"type":"function","function":{"name":"f","parameters":\#(schema(number))}}"#
        let body = #"{"messages":[{"role":"user","content":"a"}],"tools":[\#(tool)]}"#
        let draft = try preparation.draft(
            chat: Array(body.utf8), id: RequestID(number: UInt64(number)), names)
        return try preparation.plan(draft, isWanted: { true })
    }

    private static func grammar(_ plan: AnswerPlan, _ place: Int = 0) -> CompiledGrammar? {
        switch plan.jobs[place].guide {
        case .free: nil
        case .value(let matcher): matcher.grammar
        case .tools(let guide), .callsOrValue(let guide, _): guide.grammar
        }
    }

    private static func isRefused(_ work: () throws(APIError) -> AnswerPlan) -> Bool {
        do {
            _ = try work()
            return false
        } catch {
            return error.status == .tooManyRequests && error.retryAfter == 5
                && error.message.contains("schemas")
        }
    }

    @Test(
        "a request whose schema is in use needs no room, another schema gets 429 until it is free")
    func inUse() throws {
        try Self.run { preparation in
            do {
                let waiting = try Self.complete(preparation, 1)
                let grammar = try #require(Self.grammar(waiting))
                // The second time nothing keeps it any longer but the request that waits.
                for _ in 0..<2 {
                    #expect(try Self.grammar(Self.complete(preparation, 1)) === grammar)
                    #expect(
                        Self.isRefused { () throws(APIError) in try Self.complete(preparation, 2) })
                }
                #expect(Self.isRefused { () throws(APIError) in try Self.call(preparation, 1) })
                withExtendedLifetime(waiting) {}
            }
            #expect(try Self.grammar(Self.complete(preparation, 2)) != nil)
        }
    }

    @Test("two prompts with one schema take the room of one")
    func prompts() throws {
        try Self.run { preparation in
            let plan = try Self.complete(preparation, 1, prompts: #""the","in""#)
            #expect(plan.jobs.count == 2)
            let grammar = try #require(Self.grammar(plan))
            #expect(Self.grammar(plan, 1) === grammar)
        }
    }

    @Test("tools whose schemas are in use need no room, others get 429")
    func tools() throws {
        try Self.run { preparation in
            let waiting = try Self.call(preparation, 1)
            let grammar = try #require(Self.grammar(waiting))
            for _ in 0..<2 {
                #expect(try Self.grammar(Self.call(preparation, 1)) === grammar)
                #expect(Self.isRefused { () throws(APIError) in try Self.call(preparation, 2) })
            }
            withExtendedLifetime(waiting) {}
        }
    }
}
