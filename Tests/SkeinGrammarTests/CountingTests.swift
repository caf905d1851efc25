import SkeinTestSupport
import Testing

@testable import SkeinGrammar

@Suite("Lengths that are counted")
struct CountingTests {
    static let schemas = [
        ##"{"type":"string","maxLength":7}"##,
        ##"{"type":"string","minLength":4}"##,
        ##"{"type":["string","null"],"minLength":3,"maxLength":5}"##,
        ##"{"type":"string","pattern":"^[a-c]+(-[0-9]{2})?$","minLength":2,"maxLength":9}"##,
        ##"{"type":"string","pattern":"ab|é\"","minLength":3,"maxLength":6}"##,
        ##"{"type":"string","pattern":"^[A-Z]{2}\\d{0,40}$"}"##,
        ##"{"type":"string","pattern":"^[^x]{3,50}$","minLength":5,"maxLength":8}"##,
        ##"{"type":"string","format":"uri","minLength":8,"maxLength":12}"##,
        ##"{"type":"string","format":"email","maxLength":12}"##,
        ##"{"type":"string","pattern":"^(ab|c)*$","maxLength":7}"##,
        ##"{"type":"string","pattern":"^(ab)*$","maxLength":7,"minLength":3}"##,
        ##"{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":5}"##,
        ##"{"type":"array","items":{"type":"string","maxLength":2},"minItems":3}"##,
        ##"{"type":"array","prefixItems":[{"type":"null"}],"items":{"enum":[1,12,"a"]},"maxItems":4}"##,
        ##"""
        {"type":"array","maxItems":3,"items":{"type":"array","minItems":1,"maxItems":3,
        "items":{"type":"string","maxLength":3}}}
        """##,
        ##"""
        {"anyOf":[{"type":"string","maxLength":3},{"type":"string","minLength":5,"maxLength":6},
        {"type":"string","pattern":"^a*$","maxLength":8}]}
        """##,
        ##"""
        {"anyOf":[{"type":"array","items":{"type":"integer"},"maxItems":2},{"type":"array",
        "items":{"type":"number"},"minItems":4,"maxItems":5}]}
        """##,
        ##"{"type":"object","additionalProperties":{"type":"null"},"maxProperties":3}"##,
        ##"""
        {"$ref":"#/$defs/t","$defs":{"t":{"type":"array","minItems":0,"maxItems":2,
        "items":{"$ref":"#/$defs/t"}}}}
        """##,
    ]

    /// A state for each number, and none: masks of both are equal, wherever a random walk leads.
    @Test("a number beside the state allows what a state for each number does", arguments: schemas)
    func agrees(_ schema: String) throws {
        let source = Array(schema.utf8)
        let vocabulary = Vocabularies.bytes
        let counted = CompiledGrammar(
            try SchemaCompiler.network(of: source, unrolled: 0), vocabulary)
        let unrolled = CompiledGrammar(
            try SchemaCompiler.network(of: source, unrolled: .max), vocabulary)
        for seed in 0..<80 {
            var random = TestRandom(state: UInt64(seed))
            let limit = seed < 60 ? 1 + seed : 200
            guard var a = Self.matcher(counted, limit), var b = Self.matcher(unrolled, limit) else {
                #expect(Self.matcher(counted, limit) == nil, "limit \(limit)")
                #expect(Self.matcher(unrolled, limit) == nil, "limit \(limit)")
                continue
            }
            walk: while true {
                let label: Comment = "seed \(seed): \(String(decoding: a.bytes, as: UTF8.self))"
                switch (try a.next(asksAlways: true), try b.next(asksAlways: true)) {
                case (.end, .end): break walk
                case (.choice(let all, let fitting), .choice(let allToo, let fittingToo)):
                    let isSame =
                        all.tokens == allToo.tokens && all.allowsEnd == allToo.allowsEnd
                        && fitting.tokens == fittingToo.tokens && all.need == allToo.need
                    try #require(isSame, label)
                    let forced = try a.forcedRun { $0.map { Int32($0) } }
                    let forcedToo = try b.forcedRun { $0.map { Int32($0) } }
                    try #require(forced == forcedToo, label)
                    let tokens = fitting.tokens.tokens
                    let pick = Int.random(
                        in: 0..<(tokens.count + (fitting.allowsEnd ? 1 : 0)), using: &random)
                    if pick == tokens.count { break walk }
                    try a.accept(tokens[pick])
                    try b.accept(tokens[pick])
                default:
                    Issue.record("one has ended", sourceLocation: #_sourceLocation)
                    break walk
                }
            }
        }
    }

    private static func matcher(_ grammar: CompiledGrammar, _ limit: Int) -> GrammarMatcher? {
        try? GrammarMatcher(grammar, limit: limit)
    }

    @Test("A network does not grow with what is counted")
    func sizes() throws {
        func size(_ schema: String) throws -> Int {
            try SchemaCompiler.network(of: Array(schema.utf8)).byteCount
        }
        for schema in [
            #"{"type":"string","maxLength":N}"#, #"{"type":"string","minLength":N}"#,
            #"{"type":"string","format":"uri","minLength":1,"maxLength":N}"#,
            #"{"type":"string","pattern":"^[a-z]{1,N}$"}"#,
            #"{"type":"string","pattern":"^[A-Z]{3}-\\w{N}$"}"#,
            #"{"type":"array","items":{"type":"string","maxLength":N},"minItems":5,"maxItems":N}"#,
            #"{"type":"array","items":{"type":"integer"},"minItems":N}"#,
            #"{"type":"object","additionalProperties":true,"maxProperties":N}"#,
        ] {
            let small = try size(schema.replacing("N", with: "100"))
            let large = try size(schema.replacing("N", with: "100000"))
            #expect(small == large, "\(schema)")
            #expect(large < 300_000, "\(schema): \(large) bytes")
        }
    }

    @Test(
        "An expression of the whole answer counts as well",
        arguments: [
            ("[a-z]{2,100000}", ["ab", "abcdefghij"], ["", "a"]),
            (
                "x{0,40}", ["", "x", String(repeating: "x", count: 40)],
                [String(repeating: "x", count: 41)]
            ),
            ("é{50}", [String(repeating: "é", count: 50)], ["é"]),
            (
                "a{33,}b", [String(repeating: "a", count: 33) + "b"],
                ["ab", String(repeating: "a", count: 34)]
            ),
        ])
    func expressions(_ expression: String, _ yes: [String], _ no: [String]) throws {
        let grammar = try CompiledGrammar(expression: expression, Vocabularies.bytes)
        func isWritten(_ text: String) throws -> Bool {
            var matcher = try GrammarMatcher(grammar, limit: 200)
            for byte in text.utf8 {
                guard try matcher.allows(Int32(byte)) else { return false }
                try matcher.accept(Int32(byte))
            }
            return try matcher.isComplete()
        }
        for text in yes { #expect(try isWritten(text), "\(text)") }
        for text in no { #expect(try !isWritten(text), "\(text)") }
    }

    @Test("Where bytes are no tokens, numbers are exact as before")
    func deficient() throws {
        let schema = #"{"type":"string","minLength":40,"maxLength":50}"#
        let grammar = try CompiledGrammar(
            schema: Array(schema.utf8), Vocabularies.withoutPunctuation)
        let unrolled = CompiledGrammar(
            try SchemaCompiler.network(of: Array(schema.utf8), unrolled: .max),
            Vocabularies.withoutPunctuation)
        for limit in 0..<45 {
            #expect(
                (Self.matcher(grammar, limit) == nil) == (Self.matcher(unrolled, limit) == nil))
        }
    }

    /// What ends a text in `deadEnds`: three tokens, each of which begins with the rest of a character of
    /// three bytes. They are longer together than what a mask looks ahead for one of them.
    private static let strange = TokenVocabulary(tokens: [
        Array("a".utf8), Array(#"{"a":"a"#.utf8),
        Array("aaaaaaaa".utf8) + [0xE2], [0x82, 0xAC] + Array("aaaaaaaa".utf8) + [0xE2, 0x82],
        [0xAC] + Array(#"aaaaaaaa"}"#.utf8),
    ])

    @Test("Where bytes are no tokens, the way on from an allowed token stays below a maxLength")
    func deadEnds() throws {
        // The second text has too many places for a state for each: so those of the first are counted.
        let schema = ##"""
            {"type":"object","required":["a"],"properties":{"a":{"type":"string","maxLength":M},
            "b":{"type":"string","maxLength":1000000}}}
            """##
        for most in [27, 34, 40, 70, 300] {
            let source = Array(schema.replacing("M", with: "\(most)").utf8)
            let grammar = try CompiledGrammar(schema: source, Self.strange)
            // As many letters as are allowed, and random ones.
            for seed in 0..<12 {
                var random = TestRandom(state: UInt64(seed))
                var matcher = try GrammarMatcher(grammar, limit: 400)
                writing: while true {
                    let label: Comment = "\(most), \(seed): \(matcher.bytes.count) bytes"
                    guard case .choice(_, let mask) = try matcher.next(asksAlways: true) else {
                        break writing
                    }
                    let tokens = mask.tokens.tokens
                    try #require(!tokens.isEmpty || mask.allowsEnd, label)
                    if tokens.isEmpty { break writing }
                    try matcher.accept(
                        seed == 0 ? tokens[0] : tokens.randomElement(using: &random) ?? tokens[0])
                }
                let text = String(decoding: matcher.bytes, as: UTF8.self)
                #expect(try matcher.isComplete() && text.hasSuffix("\"}"), "\(most): \(text)")
                #expect(text.unicodeScalars.count <= most + 8, "\(most): \(text)")
            }
        }
    }
}
