import SkeinGrammar
import SkeinText
import Testing

@testable import SkeinServe

@Suite("Answers with calls")
struct ToolGuideTests {
    /// All pieces of a text are tokens.
    private static func pieces(of text: String, added: [(String, Bool)] = []) throws
        -> TestTokenizer
    {
        let bytes = Array(text.utf8)
        var words: Set<[UInt8]> = []
        for start in bytes.indices {
            for end in bytes.indices where end > start { words.insert(Array(bytes[start...end])) }
        }
        for (text, _) in added { words.remove(Array(text.utf8)) }
        return try TestTokenizer(
            words: words.sorted {
                ($0.count, String(decoding: $0, as: UTF8.self)) < (
                    $1.count, String(decoding: $1, as: UTF8.self)
                )
            },
            added: added.map { (text: $0.0, isSpecial: $0.1) })
    }

    private static func guide(
        _ vocabulary: TestTokenizer, _ format: ToolFormat, _ choice: ToolChoice = .auto,
        parallel: Bool = true, limit: Int = 1000
    ) throws -> ToolGuide {
        try ToolGuide(
            format, tools: try TestTools.all, choice: choice, parallel: parallel,
            grammars: vocabulary.grammars, tokenizer: vocabulary.tokenizer, limit: limit,
            idSeed: "request")
    }

    /// Every way to cut a text into at most four pieces.
    private static func cuts(_ text: [UInt8]) -> [[[UInt8]]] {
        var all = [[text]]
        for first in 1..<text.count {
            all.append([Array(text[..<first]), Array(text[first...])])
            for second in first + 1..<max(first + 1, text.count) {
                let head = [Array(text[..<first]), Array(text[first..<second])]
                all.append(head + [Array(text[second...])])
            }
        }
        return all
    }

    @Test("a marker is found wherever tokens cut it, and whatever is after it in its last token")
    func markerCuts() throws {
        for (name, format) in ToolFormat.tested where !format.isBare {
            let whole = "a " + format.marker + format.afterMarker + "{x"
            let vocabulary = try Self.pieces(of: whole)
            let marker = format.marker.utf8.count + 2
            for cut in Self.cuts(Array(whole.utf8)) {
                var guide = try Self.guide(vocabulary, format)
                var fed: [UInt8] = []
                var events: [ToolEvent] = []
                for piece in cut {
                    guard case .free = try guide.next() else { break }
                    let token = try #require(vocabulary.token(piece), "\(name): \(piece)")
                    let tokens = try guide.accept(token)
                    let bytes = tokens.flatMap { vocabulary.tokenizer.bytes(of: $0) }
                    #expect(piece.starts(with: bytes), "\(name) \(cut)")
                    if bytes != piece { #expect(fed.count + bytes.count >= marker) }
                    fed += bytes
                    events += guide.takeEvents()
                }
                // Then the way into the call is forced.
                while case .forced(let tokens) = try guide.next(), fed.count < whole.utf8.count - 2
                {
                    for token in tokens {
                        #expect(try guide.accept(token) == [token])
                        fed += vocabulary.tokenizer.bytes(of: token)
                    }
                }
                let wanted = Array(whole.utf8.dropLast(2))
                #expect(
                    fed.starts(with: wanted),
                    "\(name): \(cut) \(String(decoding: fed, as: UTF8.self))")
                #expect(events == [.text("a")], "\(name): \(cut) \(events)")
            }
        }
    }

    @Test("a marker may be one added token, special or not", arguments: [true, false])
    func addedMarker(_ isSpecial: Bool) throws {
        let vocabulary = try TestTokenizer(words: [], added: [("<tool_call>", isSpecial)])
        let marker = try #require(vocabulary.tokenizer.id(of: "<tool_call>"))
        var guide = try Self.guide(vocabulary, .hermes)
        for byte in "Well \n".utf8 { _ = try guide.accept(Int32(byte)) }
        #expect(try guide.accept(marker) == [marker])
        #expect(guide.takeEvents() == [.text("Well")])
        guard case .forced([10]) = try guide.next() else {
            Issue.record("a line's end comes next")
            return
        }
        // The second call's marker is that token, too.
        #expect(guide.parts.callNext == [10, marker, 10])
        #expect(guide.parts.opening == [marker, 10])
    }

    @Test("text that may become a marker is held back, and let go when it does not")
    func heldBack() throws {
        let vocabulary = try TestTokenizer(words: [])
        var guide = try Self.guide(vocabulary, .hermes)
        func say(_ text: String) throws -> [ToolEvent] {
            for byte in text.utf8 { #expect(try guide.accept(Int32(byte)) == [Int32(byte)]) }
            return guide.takeEvents()
        }
        #expect(try say("é <tool_ca") == [.text("é")])
        #expect(try say("l") == [])
        #expect(try say("<") == [.text(" <tool_cal")])
        #expect(try say("<t") == [.text("<")])
        #expect(try say("!  ") == [.text("<t!")])
        #expect(try say("x") == [.text("  x")])
        #expect(try say(" <tool") == [])
        try guide.acceptEnd()
        #expect(guide.rest() == [.text(" <tool")] && guide.finish == .stop)
    }

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
            var guide = try Self.guide(vocabulary, format)
            let key = format.argumentsKey
            let text =
                "I look.\n" + format.opening
                + #"{"name": "get_weather", "\#(key)": {"place":"Zürich"}}"# + format.callEnd
                + (format.callNext ?? "") + #"{"name":"nothing","\#(key)":{}}"# + format.callEnd
                + format.listEnd
            let events = try Self.write(text, &guide)
            let ids = (0..<2).map { callID(request: "request", index: $0, style: format.idStyle) }
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
        let vocabulary = try Self.pieces(of: #"{"name": {"#)
        let call = #"{"name":"get","parameters":{"on":true}}"#
        var guide = try Self.guide(vocabulary, .llama)
        let events = try Self.write(call, &guide)
        #expect(
            events.first
                == .callBegan(index: 0, id: callID(request: "request", index: 0), name: "get"))
        #expect(guide.finish == .toolCalls)
        // The token crosses the beginning, and no call has what follows.
        for crossing in [#"{"name": {"#, #"name": {"#, #"": {"#] {
            var guide = try Self.guide(vocabulary, .llama)
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
        guide = try Self.guide(vocabulary, .llama)
        let text = try Self.write(#"{"names"# + call, &guide)
        try guide.acceptEnd()
        let said = (text + guide.rest()).map {
            if case .text(let piece) = $0 { piece } else { "?" }
        }
        #expect(said.joined() == #"{"names"# + call && guide.finish == .stop)
        // Its other marker works in the middle of text.
        guide = try Self.guide(vocabulary, .llama)
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
            _ = try Self.guide(vocabulary, .hermes, choice, limit: shortest)
            #expect(
                throws: ToolProblem(
                    path: "max_completion_tokens",
                    flaw: .doesNotFit(needed: shortest, limit: shortest - 1))
            ) { try Self.guide(vocabulary, .hermes, choice, limit: shortest - 1) }
        }
        let shortest = needed - #"{"on":true}get"#.utf8.count + "{}nothing".utf8.count
        for (limit, fits) in [(shortest, true), (shortest - 1, false)] {
            var guide = try Self.guide(vocabulary, .hermes, limit: limit)
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
        var guide = try Self.guide(vocabulary, .hermes, limit: 3)
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
        var guide = try Self.guide(vocabulary, .hermes, .required)
        #expect(throws: ToolGuide.Misuse.token(7)) { try guide.accept(7) }
        #expect(throws: ToolGuide.Misuse.end) { try guide.acceptEnd() }
        guide = try Self.guide(vocabulary, .hermes, .named("get"))
        _ = try Self.write("<tool_call>\n{\"name\":", &guide)
        _ = try guide.next()
        #expect(throws: ToolGuide.Misuse.token(7)) { try guide.accept(7) }
        #expect(throws: ToolGuide.Misuse.token(-1)) { try guide.accept(-1) }
        #expect(throws: ToolProblem(path: "tool_choice", flaw: .unknownTool("x"))) {
            try Self.guide(vocabulary, .hermes, .named("x"))
        }
        guide = try Self.guide(vocabulary, .hermes, .none)
        let text = "<tool_call>\n{\"name\""
        let events = try Self.write(text, &guide)
        #expect(events.count > 1 && guide.calls == 0)
    }
}
