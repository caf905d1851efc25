import SkeinGrammar
import SkeinText
import Testing

@testable import SkeinInference

@Suite("Answers with calls")
struct ToolGuideTests {
    /// Writes a text byte by byte through whatever the guide asks for.
    private static func write(_ text: String, _ guide: inout ToolGuide) throws -> [ToolEvent] {
        var events: [ToolEvent] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            switch try guide.next() {
            case .forced(let tokens):
                for token in tokens {
                    let bytes = guide.tokenizer.bytes(of: token)
                    try #require(
                        rest.starts(with: bytes), "\(String(decoding: rest, as: UTF8.self))")
                    _ = try guide.accept(token)
                    rest.removeFirst(bytes.count)
                }
            case .free, .choice:
                #expect(try guide.accept(Int32(byte)) == [Int32(byte)])
                rest.removeFirst()
            case .end: throw ToolGuide.Misuse.end
            }
            events += guide.takeEvents()
        }
        return events
    }

    @Test("several calls, streamed in pieces")
    func parallelCalls() throws {
        let vocabulary = try TestTokenizer(words: [])
        for (_, format) in ToolFormat.tested where format.callNext != nil {
            var guide = try TestTools.guide(vocabulary, format)
            let key = format.argumentsKey
            let text =
                "I look.\n" + format.opening
                + #"{"name": "get_weather", "\#(key)": {"place":"Zürich"}}"# + format.callEnd
                + (format.callNext ?? "") + #"{"name":"nothing","\#(key)":{}}"# + format.callEnd
                + format.listEnd
            let events = try Self.write(text, &guide)
            let ids = (0..<2).map {
                CallID.make(request: "request", index: $0, style: format.idStyle)
            }
            #expect(events.first == .text("I") && !events.contains(.text("\n")))
            #expect(events.contains(.callBegan(index: 0, id: ids[0], name: "get_weather")))
            #expect(events.contains(.arguments(index: 0, "ü")))
            #expect(
                events.suffix(2).contains(.arguments(index: 1, "{}"))
                    || events.suffix(2) == [.arguments(index: 1, "{"), .arguments(index: 1, "}")])
            let places = [ids[0], ids[1]].compactMap { id in
                events.firstIndex { if case .callBegan(_, id, _) = $0 { true } else { false } }
            }
            #expect(places.count == 2 && places[0] < places[1])
            if format.listEnd.isEmpty {
                guard case .choice(let all, let fitting, true) = try guide.next() else {
                    Issue.record("another call, or the end")
                    return
                }
                #expect(all.tokens.tokens == [try #require(guide.parts.callNext?.first)])
                #expect(all === fitting)
                try guide.acceptEnd()
            }
            guard case .end = try guide.next() else {
                Issue.record("the end")
                return
            }
            #expect(guide.finish == .toolCalls && guide.rest().isEmpty && guide.calls == 2)
            guide.isCutShort = true
            #expect(guide.finish == .length)
        }
    }

    @Test("an answer of Llama that begins like a call is one, and any other is text")
    func bare() throws {
        let vocabulary = try TestTokenizer.pieces(of: #"{"name": {"#)
        let call = #"{"name":"get","parameters":{"on":true}}"#
        var guide = try TestTools.guide(vocabulary, .llama)
        let events = try Self.write(call, &guide)
        #expect(
            events.first
                == .callBegan(index: 0, id: CallID.make(request: "request", index: 0), name: "get"))
        #expect(guide.finish == .toolCalls)
        // The token crosses the beginning, and no call has what follows.
        for crossing in [#"{"name": {"#, #"name": {"#, #"": {"#] {
            var guide = try TestTools.guide(vocabulary, .llama)
            var fed: [UInt8] = []
            let before = Array(#"{"name": {"#.utf8.dropLast(crossing.utf8.count))
            for byte in before { fed += try guide.accept(Int32(byte)).map { UInt8($0) } }
            let token = try #require(vocabulary.token(Array(crossing.utf8)))
            let tokens = try guide.accept(token)
            fed += tokens.flatMap { vocabulary.tokenizer.bytes(of: $0) }
            #expect(fed == Array(#"{"name""#.utf8))
            #expect(guide.takeEvents().isEmpty)
            _ = try Self.write(#": "nothing", "parameters": {}}"#, &guide)
            #expect(guide.finish == .toolCalls)
        }
        // Text that only begins like one.
        guide = try TestTools.guide(vocabulary, .llama)
        let text = try Self.write(#"{"names"# + call, &guide)
        try guide.acceptEnd()
        let said = (text + guide.rest()).map {
            if case .text(let piece) = $0 { piece } else { "?" }
        }
        #expect(said.joined() == #"{"names"# + call && guide.finish == .stop)
        // Its other marker works in the middle of text.
        guide = try TestTools.guide(vocabulary, .llama)
        #expect(try Self.write("So: <|python_tag|>" + call, &guide).first == .text("S"))
        #expect(guide.finish == .toolCalls)
    }

    @Test("where no call fits any longer, a marker is text, and a required call is refused")
    func limits() throws {
        let vocabulary = try TestTokenizer(words: [])
        let needed =
            "<tool_call>\n".utf8.count + #"{"name":"get","arguments":{"on":true}}"#.utf8.count
            + "\n</tool_call>".utf8.count
        for (choice, tokens) in [(ToolChoice.named("get"), needed), (.required, needed + 1)] {
            let shortest =
                choice == .required
                ? needed - #"{"on":true}get"#.utf8.count + "{}nothing".utf8.count : tokens
            _ = try TestTools.guide(vocabulary, .hermes, choice, limit: shortest)
            #expect(
                throws: ToolProblem(
                    path: "max_completion_tokens",
                    flaw: .doesNotFit(needed: shortest, limit: shortest - 1))
            ) { try TestTools.guide(vocabulary, .hermes, choice, limit: shortest - 1) }
        }
        let shortest = needed - #"{"on":true}get"#.utf8.count + "{}nothing".utf8.count
        for (limit, fits) in [(shortest, true), (shortest - 1, false)] {
            var guide = try TestTools.guide(vocabulary, .hermes, limit: limit)
            for byte in "<tool_call>".utf8 { _ = try guide.accept(Int32(byte)) }
            if fits {
                guard case .forced = try guide.next() else {
                    Issue.record("a call begins")
                    return
                }
                #expect(guide.takeEvents().isEmpty)
            } else {
                guard case .free = try guide.next() else {
                    Issue.record("text goes on")
                    return
                }
                #expect(guide.takeEvents() == [.text("<tool_call>")])
            }
        }
        // Text ends at the limit.
        var guide = try TestTools.guide(vocabulary, .hermes, limit: 3)
        for byte in "abc".utf8 { _ = try guide.accept(Int32(byte)) }
        guard case .end = try guide.next() else {
            Issue.record("the limit ends the answer")
            return
        }
        #expect(guide.rest() == [.text("abc")] && guide.finish == .length)
    }

    @Test("what is not allowed is refused")
    func misuse() throws {
        let vocabulary = try TestTokenizer(words: [])
        var guide = try TestTools.guide(vocabulary, .hermes, .required)
        #expect(throws: ToolGuide.Misuse.token(7)) { try guide.accept(7) }
        #expect(throws: ToolGuide.Misuse.end) { try guide.acceptEnd() }
        guide = try TestTools.guide(vocabulary, .hermes, .named("get"))
        _ = try Self.write("<tool_call>\n{\"name\":", &guide)
        _ = try guide.next()
        #expect(throws: ToolGuide.Misuse.token(7)) { try guide.accept(7) }
        #expect(throws: ToolGuide.Misuse.token(-1)) { try guide.accept(-1) }
        #expect(throws: ToolProblem(path: "tool_choice", flaw: .unknownTool("x"))) {
            try TestTools.guide(vocabulary, .hermes, .named("x"))
        }
        guide = try TestTools.guide(vocabulary, .hermes, .none)
        let text = "<tool_call>\n{\"name\""
        let events = try Self.write(text, &guide)
        #expect(events.count > 1 && guide.calls == 0)
    }
}
