import SkeinFormats
import SkeinGrammar
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// Values that a model of random weights writes, with tokens of one or two characters.
@Suite("A generator that a grammar guides")
struct GuidedGeneratorTests {
    private static let schema = #"""
        {"type":"array","items":{"anyOf":[{"type":"integer","minimum":0},{"enum":["ab","abc"]}]},
        "maxItems":6}
        """#

    /// By id; the last one ends the turn.
    private static func vocabulary(_ size: Int) -> TokenVocabulary {
        let words =
            ["[", "]", ",", "\"", "a", "b", "c", " ", "[\"", "\",", "ab", "1,"]
            + (0...9).map { "\($0)" }
        let tokens: [[UInt8]?] = (0..<size - 1).map { id in
            id < words.count ? Array(words[id].utf8) : nil
        }
        return TokenVocabulary(tokens: tokens + [nil])
    }

    private static func with<Result>(
        isBroken: Bool = false,
        _ body: (DecoderSession, TokenVocabulary, Int32) throws -> Result
    ) throws -> Result {
        try GenerationCase.tiny(.f32, isWindowed: false).open { model, adapter in
            var adapter = adapter
            if isBroken { adapter.values = adapter.values.map { _ in .nan } }
            let team = ComputeTeam(threadCount: 2)
            let session = DecoderSession(
                weights: try GenerationWeights(model: model, team: team), adapter: adapter,
                capacity: 128, team: team, answerRows: Generator.forcedRows)
            let size = model.configuration.vocabularySize
            return try body(session, vocabulary(size), Int32(size - 1))
        }
    }

    @Test("a value is complete for every limit, by whatever it was picked")
    func complete() throws {
        try Self.with { session, vocabulary, stop in
            let grammar = try CompiledGrammar(schema: Array(Self.schema.utf8), vocabulary)
            var ends: Set<Generator.End> = []
            for limit in 2...40 {
                for temperature in [Float(0), 1, 20] {
                    for asksAlways in [false, true] {
                        session.truncate(to: 0)
                        var matcher = try GrammarMatcher(grammar, limit: limit)
                        let generator = Generator(
                            session: session,
                            sampler: Sampler(temperature: temperature, seed: UInt64(limit)),
                            stopTokens: [stop])
                        var tokens: [Int32] = []
                        let end = try generator.run(
                            prompt: [1, 2, 3], matcher: &matcher, segment: { _ in [] },
                            asksAlways: asksAlways, check: DecoderSession.uninterrupted,
                            each: {
                                tokens.append($0)
                                return true
                            })
                        ends.insert(end)
                        let isComplete = try matcher.isComplete()
                        #expect(isComplete && tokens.count <= limit)
                        #expect(tokens.count == matcher.used)
                        _ = try GrammarJSON.read(matcher.bytes)
                    }
                }
            }
            #expect(ends.contains(.maximumTokens) && ends.contains(.stopToken))
        }
    }

    @Test("runs of forced bytes are what the tokenizer makes of them, read in one piece")
    func forced() throws {
        try Self.with { session, vocabulary, stop in
            let grammar = try CompiledGrammar(
                schema: Array(#"{"const":["abc",12]}"#.utf8), vocabulary)
            var matcher = try GrammarMatcher(grammar, limit: 30)
            let generator = Generator(session: session, sampler: Sampler(), stopTokens: [stop])
            var tokens: [Int32] = []
            // Byte by byte, where a vocabulary has longer tokens.
            let singles: [UInt8: Int32] = Dictionary(
                uniqueKeysWithValues: "[],\"abc".utf8.map { byte in
                    (
                        byte,
                        Int32(
                            ["[", "]", ",", "\"", "a", "b", "c"].firstIndex {
                                $0.utf8.first == byte
                            } ?? 0)
                    )
                })
            try generator.run(
                prompt: [1, 2, 3], matcher: &matcher,
                segment: { $0.compactMap { singles[$0] } },
                check: DecoderSession.uninterrupted,
                each: {
                    tokens.append($0)
                    return true
                })
            #expect(String(decoding: matcher.bytes, as: UTF8.self).hasPrefix(#"["abc","#))
            // The last token of a run is the model's choice.
            #expect(Array(tokens.prefix(5)) == [0, 3, 4, 5, 6])
        }
    }

    @Test("logits that are not finite are an error, not a value and not a text")
    func notFinite() throws {
        try Self.with(isBroken: true) { session, vocabulary, stop in
            let grammar = try CompiledGrammar(schema: Array(Self.schema.utf8), vocabulary)
            for temperature in [Float(0), 1] {
                let generator = Generator(
                    session: session, sampler: Sampler(temperature: temperature),
                    stopTokens: [stop])
                session.truncate(to: 0)
                #expect(throws: GenerationError.notFinite) {
                    try generator.run(
                        prompt: [1, 2], maximumTokens: 4, check: DecoderSession.uninterrupted,
                        each: { _ in true })
                }
                session.truncate(to: 0)
                var matcher = try GrammarMatcher(grammar, limit: 9)
                #expect(throws: GenerationError.notFinite) {
                    try generator.run(
                        prompt: [1, 2], matcher: &matcher, segment: { _ in [] },
                        check: DecoderSession.uninterrupted, each: { _ in true })
                }
            }
        }
    }

    @Test("one number that is not finite among others is found, wherever it is")
    func oneOfMany() {
        for count in [1, 7, 8, 9, 40] {
            for place in 0..<count {
                for wrong in [Float.nan, .infinity, -.infinity] {
                    var logits = (0..<count).map { Float($0) }
                    let isFinite = logits.withUnsafeBufferPointer { Sampler.areFinite($0) }
                    #expect(isFinite)
                    logits[place] = wrong
                    let isFound = logits.withUnsafeBufferPointer { !Sampler.areFinite($0) }
                    #expect(isFound)
                }
            }
        }
    }
}
