import SkeinBasics
import SkeinFormats
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTensors
import SkeinText

/// What constrained decoding costs: preparing a vocabulary, compiling a schema, masks, and a token
/// beside the same token without a schema.
package struct GrammarBench {
    let model: ModelDirectory
    let tokenizer: Tokenizer
    let team: ComputeTeam
    let weights: GenerationWeights
    /// Tokens of a second vocabulary: the model's own, and pairs of them.
    private static let largeVocabulary = 262_144
    /// Values that are written for the masks, of each schema.
    private static let values = 40
    /// Tokens of the longest of them.
    private static let valueTokens = 160
    private static let promptTokens = 64

    init(modelPath: String, threads: Int) throws {
        model = try ModelDirectory.open(modelPath)
        tokenizer = try Tokenizer(
            model: model.raw, embeddings: model.configuration.vocabularySize)
        team = ComputeTeam(threadCount: threads)
        weights = try GenerationWeights(model: model, team: team)
    }

    func run(_ effort: Effort) throws -> GrammarResult {
        let own = tokenizer.writtenTokens
        var result = GrammarResult()
        for tokens in [nil, Self.enlarged(own)] {
            var vocabulary: TokenVocabulary?
            let setUp = Stopwatch.measure(effort) {
                vocabulary = TokenVocabulary(tokens: tokens ?? tokenizer.writtenTokens)
            }
            guard let vocabulary else { preconditionFailure("the timed body makes one") }
            result.vocabularies.append(try masks(vocabulary, setUp: setUp))
        }
        let schema = Self.schema(properties: 50)
        let vocabulary = TokenVocabulary(tokens: own)
        _ = try CompiledGrammar(schema: schema, vocabulary)
        result.compile = Stopwatch.measure(effort) {
            // It was compiled above.
            _ = try? CompiledGrammar(schema: schema, vocabulary)
        }
        for most in Self.lengths {
            for (kind, schema) in Self.texts(atMost: most) {
                let bytes = try CompiledGrammar(schema: schema, vocabulary).networkBytes
                let compile = Stopwatch.measure(effort) {
                    // It was compiled just before.
                    _ = try? CompiledGrammar(schema: schema, vocabulary)
                }
                result.lengths.append(
                    .init(kind: kind, most: most, compile: compile, bytes: bytes))
            }
        }
        result.decode = try decode(vocabulary, effort)
        return result
    }

    /// Asks for masks as a model does that chooses any allowed token.
    private func masks(
        _ vocabulary: TokenVocabulary, setUp: Measurement
    ) throws -> GrammarResult.Vocabulary {
        var seconds: [Double] = []
        for (number, schema) in Self.schemas.enumerated() {
            let grammar = try CompiledGrammar(schema: Array(schema.utf8), vocabulary)
            for value in 0..<Self.values {
                var matcher = try GrammarMatcher(grammar, limit: 1 << 20)
                writing: while matcher.used < Self.valueTokens {
                    var next: GrammarMatcher.Next?
                    seconds.append(
                        try Stopwatch.time { next = try matcher.next(asksAlways: true) }.seconds)
                    guard case .choice(_, let mask) = next else { break }
                    let words = AddressedRandom(seed: UInt64(number), purpose: .benchmark).block(
                        UInt32(value), UInt32(matcher.used))
                    let tokens = mask.tokens.tokens
                    let drawn = Int(words.x) % (tokens.count + (mask.allowsEnd ? 1 : 0))
                    if drawn == tokens.count { break writing }
                    try matcher.accept(tokens[drawn])
                }
            }
        }
        return GrammarResult.Vocabulary(
            tokens: vocabulary.size, setUp: setUp, masks: seconds.count,
            meanMask: seconds.reduce(0, +) / Double(max(seconds.count, 1)),
            worstMask: seconds.max() ?? 0)
    }

    /// One value three times: as it is written, asking the model for every token, and the same tokens
    /// without a grammar.
    private func decode(
        _ vocabulary: TokenVocabulary, _ effort: Effort
    ) throws -> GrammarResult.Decode {
        let prompt = (0..<Self.promptTokens).map {
            Int32((1000 + 37 * $0) % tokenizer.usableCount)
        }
        let session = DecoderSession(
            weights: weights, adapter: nil, capacity: Self.promptTokens + Self.valueTokens,
            team: team, answerRows: Generator.forcedRows)
        let generator = Generator(
            session: session, sampler: Sampler(), stopTokens: tokenizer.endOfTurnIDs,
            tokenCount: tokenizer.usableCount)
        let grammar = try CompiledGrammar(schema: Array(Self.structure.utf8), vocabulary)
        func guided(asksAlways: Bool) throws -> (tokens: [Int32], timing: Timing) {
            session.truncate(to: 0)
            _ = session.logits(after: Array(prompt.dropLast()))
            var matcher = try GrammarMatcher(grammar, limit: Self.valueTokens)
            var tokens: [Int32] = []
            let timing = try Stopwatch.time {
                try generator.run(
                    prompt: [prompt[prompt.count - 1]], matcher: &matcher,
                    segment: { tokenizer.segments(of: $0, after: nil) }, asksAlways: asksAlways,
                    check: DecoderSession.uninterrupted
                ) { token in
                    tokens.append(token)
                    return true
                }
            }
            return (tokens, timing)
        }
        var result = GrammarResult.Decode()
        for repetition in 0...2 * effort.repetitions {
            let short = try guided(asksAlways: false)
            let asked = try guided(asksAlways: true)
            session.truncate(to: 0)
            _ = session.logits(after: Array(prompt.dropLast()))
            // The end of the value takes a token, too.
            let read = [prompt[prompt.count - 1]] + asked.tokens.dropLast()
            var last: Int32 = 0
            let plain = Stopwatch.time {
                for (position, token) in read.enumerated() {
                    last = session.withLogits(
                        after: [token], as: position == 0 ? .prompt : .answer,
                        check: DecoderSession.uninterrupted
                    ) { generator.sampler.pick($0, position: position) }
                }
            }
            result.checksum ^= last
            // The first only warms up.
            guard repetition > 0 else { continue }
            result.tokens = (short.tokens.count, asked.tokens.count)
            result.short.append(short.timing.seconds)
            result.asked.append(asked.timing.seconds)
            result.plain.append(plain.seconds)
        }
        return result
    }

    /// A vocabulary with tokens put together from pairs of its own.
    private static func enlarged(_ tokens: [[UInt8]?]) -> [[UInt8]?] {
        var all = tokens
        let words = tokens.compactMap(\.self)
        var seen = Set(words)
        var index: UInt32 = 0
        while all.count < largeVocabulary {
            let drawn = AddressedRandom(seed: 1, purpose: .benchmark).block(index)
            index += 1
            let pair =
                words[Int(drawn.x) % words.count] + words[Int(drawn.y) % words.count]
            if pair.count <= 32, seen.insert(pair).inserted { all.append(pair) }
        }
        return all
    }
}

extension GrammarBench {
    /// Six fields, as of a form.
    static let structure = #"""
        {"type":"object","properties":{
        "customer_name":{"type":"string","maxLength":24},
        "customer_email":{"type":"string","format":"email","maxLength":24},
        "order_quantity":{"type":"integer","minimum":1,"maximum":99},
        "delivery_method":{"enum":["standard_delivery","express_delivery","pick_up_in_store"]},
        "is_gift_wrapped":{"type":"boolean"},
        "delivery_date":{"type":"string","format":"date"}},
        "required":["customer_name","customer_email","order_quantity","delivery_method",
        "is_gift_wrapped","delivery_date"],"additionalProperties":false}
        """#

    /// Whose masks are measured.
    static let schemas = [
        structure,
        #"{"type":"array","items":{"type":"string"},"minItems":1}"#,
        ##"""
        {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{
        "name":{"type":"string","maxLength":60},"weight":{"type":"number","minimum":0},
        "children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["name"]}}}
        """##,
        #"""
        {"anyOf":[{"type":"string","pattern":"^[a-z]+(-[a-z0-9]+)*$"},
        {"type":"object","additionalProperties":{"type":["integer","string","null"]}}]}
        """#,
        "{}",
    ]

    /// What a `maxLength` is compiled with: of a few words, a line, a URL (Pydantic's) and a book.
    static let lengths = [10, 100, 2083, 100_000]

    /// Schemas of texts of at most so many characters.
    static func texts(atMost most: Int) -> [(kind: String, schema: [UInt8])] {
        [
            ("text", #"{"type":"string","maxLength":\#(most)}"#),
            ("pattern", #"{"type":"string","pattern":"^[a-z ]+$","maxLength":\#(most)}"#),
            ("list", #"{"type":"array","items":{"type":"integer"},"maxItems":\#(most)}"#),
        ].map { ($0, Array($1.utf8)) }
    }

    /// An object with so many properties of mixed types.
    static func schema(properties: Int) -> [UInt8] {
        let types = [
            #"{"type":"string","maxLength":200}"#, #"{"type":"integer","minimum":0}"#,
            #"{"type":"number","minimum":0,"maximum":1}"#, #"{"type":"boolean"}"#,
            #"{"enum":["low","medium","high"]}"#, #"{"type":"array","items":{"type":"string"}}"#,
            #"{"type":"string","format":"date"}"#,
            #"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}"#,
        ]
        let fields = (0..<properties).map { #""property_\#($0)":\#(types[$0 % types.count])"# }
        return Array(
            #"{"type":"object","properties":{\#(fields.joined(separator: ","))}}"#.utf8)
    }

    /// Measures; `threads`: nil means all cores that may be used.
    package static func report(modelPath: String, threads: Int?) throws -> BenchReport {
        let machine = Machine.current()
        let effort = Effort.kernels
        let bench = try GrammarBench(modelPath: modelPath, threads: threads ?? machine.cores)
        let result = try bench.run(effort)
        return BenchReport(
            machine, [("model", .text(bench.model.path))] + result.json,
            ["\(bench.model.path); median of \(effort.repetitions)"], result.table)
    }
}
