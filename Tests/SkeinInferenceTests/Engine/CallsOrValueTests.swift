import SkeinGrammar
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinInference

/// Answers that are calls of tools if they begin with one, and else values of a schema.
@Suite struct CallsOrValueTests {
    private static let schema =
        #"{"type":"object","properties":{"name":{"type":"string","maxLength":8}},"#
        + #""required":["name"],"additionalProperties":false}"#

    /// What came of an answer, and how often it began anew.
    private struct Told: Equatable {
        var text = ""
        var calls: [String] = []
        var arguments = ""
        var reason = FinishReason.length
        var restarts = 0
        var tokens = 0
    }

    /// Writes an answer of a model that says `texts`, one after another: the next whenever the answer
    /// begins anew.
    private static func answer(
        _ texts: [String], _ format: ToolFormat, choice: ToolChoice = .auto, limit: Int = 200,
        stops: [String] = []
    ) throws -> Told {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let weights = try GenerationWeights(model: model, team: ComputeTeam(threadCount: 1))
            let vocabulary = try TestTokenizer(words: [])
            let tools = try ToolGuide(
                format, tools: TestTools.all, choice: choice, parallel: true,
                beginsWithCalls: true, grammars: vocabulary.grammars,
                tokenizer: vocabulary.tokenizer, limit: limit, idSeed: "request")
            let grammar = try vocabulary.grammars.grammar(.schema(Array(schema.utf8)))
            let job = AnswerJob(
                request: RequestID(number: 1), choice: 0, prompt: [1], maximumTokens: limit,
                adapter: GenerationProjections(weights, adapter: nil), sampler: Sampler(),
                bias: [:], stops: stops, ignoresEnd: false,
                guide: .callsOrValue(tools, try GrammarMatcher(grammar, limit: limit)),
                logprobs: nil, tellsPrompt: false, recordsEnd: false)
            let answer = RunningAnswer(job, vocabulary.tokenizer)
            var told = Told()
            var script = Array(texts[0].utf8)[...]
            var outcome = try answer.first()
            let size = vocabulary.tokenizer.usableCount
            let end = try #require(vocabulary.tokenizer.endOfTurnIDs.first)
            func note() {
                let piece = answer.takePiece()
                told.text += piece.text
                for event in piece.tools {
                    switch event {
                    case .callBegan(_, _, let name): told.calls.append(name)
                    case .arguments(_, let more): told.arguments += more
                    case .text: Issue.record("text is no event of a call")
                    }
                }
            }
            for _ in 0..<1000 {
                note()
                switch outcome {
                case .ended(let reason):
                    note()
                    told.reason = reason
                    told.tokens = answer.tokens.count
                    return told
                case .restart:
                    told.restarts += 1
                    script = Array(texts[min(told.restarts, texts.count - 1)].utf8)[...]
                    outcome = try answer.first()
                case .feed(let tokens):
                    // What was written because it had to be is said.
                    for token in tokens {
                        let bytes = vocabulary.tokenizer.bytes(of: token)
                        if script.starts(with: bytes) { script.removeFirst(bytes.count) }
                    }
                    var logits = [Float](repeating: 0, count: max(size, Int(end) + 1))
                    logits[script.first.map { Int($0) } ?? Int(end)] = 10
                    outcome = try logits.withUnsafeBufferPointer { try answer.advance($0) }
                }
            }
            Issue.record("the answer does not end")
            return told
        }
    }

    @Test("an answer that begins with a call is calls, in every format")
    func calls() throws {
        for (name, format) in ToolFormat.tested {
            let call = #"{"name": "get", "\#(format.argumentsKey)": {"on": true}}"#
            let text =
                (format.isBare ? "" : format.opening) + call + format.callEnd + format.listEnd
            let told = try Self.answer([text], format)
            #expect(told.calls == ["get"], "\(name): \(told)")
            #expect(told.arguments == #"{"on": true}"#, "\(name)")
            #expect(told.text == "" && told.reason == .toolCalls && told.restarts == 0, "\(name)")
        }
    }

    @Test("one that says anything else is a value from its beginning, and nothing else is told")
    func values() throws {
        let value = #"{"name":"Ann"}"#
        for (name, format) in ToolFormat.tested {
            for text in [
                "Sure, here it is.", "", "  \n", value, "<tool", "\n\n Yes",
                #"{"name": "get_off"}"#,
                #"{"name": 7}"#, String(repeating: " ", count: 100),
            ] {
                let told = try Self.answer([text, value], format)
                #expect(
                    told == Told(text: value, reason: .stop, restarts: 1, tokens: 14),
                    "\(name) after \(text): \(told)")
            }
        }
    }

    @Test("a call that must come comes, and stop texts end what was said, not what was thrown away")
    func required() throws {
        let told = try Self.answer(["Sure."], .hermes, choice: .required)
        #expect(!told.calls.isEmpty && told.text.isEmpty && told.restarts == 0)
        let stopped = try Self.answer(
            ["Sure.", #"{"name":"Anna"}"#], .hermes, stops: ["ure", "nn"])
        #expect(stopped.text == #"{"name":"A"# && stopped.reason == .stop)
        #expect(stopped.restarts == 1)
    }

    @Test("calls of tools that the choice does not allow are never written")
    func allowed() throws {
        for (name, format) in ToolFormat.tested {
            let call = #"{"name": "get_weather", "\#(format.argumentsKey)": {"place":"a"}}"#
            let text =
                (format.isBare ? "" : format.opening) + call + format.callEnd + format.listEnd
            let told = try Self.answer(
                [text, #"{"name":"Ann"}"#], format, choice: .allowed(["get"], isRequired: false))
            // A marker was written, so a call follows: of the only tool that may be called.
            #expect(Set(told.calls) == (format.isBare ? [] : ["get"]), "\(name): \(told)")
            let required = try Self.answer(
                [text], format, choice: .allowed(["get"], isRequired: true))
            #expect(Set(required.calls) == ["get"], "\(name)")
        }
    }
}
