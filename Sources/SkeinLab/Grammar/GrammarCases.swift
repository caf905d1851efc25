import SkeinBasics
import SkeinFormats
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// Writes values for many schemas, and tells which given values are allowed, so that another program
/// can judge both.
package struct GrammarCases {
    /// One line of the file: a schema or a regular expression, and values.
    private struct Case {
        var schema: JSONValue?
        var expression: String?
        var instances: [String]
    }

    private let tokenizer: Tokenizer
    private let vocabulary: TokenVocabulary
    private let session: DecoderSession
    private let vocabularySize: Int
    private let seed: UInt64
    /// Tokens of each prompt, which are drawn.
    private static let promptTokens = 3
    private static let limits = [8, 9, 11, 14, 18, 24, 32, 44, 60, 90, 140, 200]
    private static let temperatures: [Float] = [0, 1, 2]

    /// - Throws: what the model and its tokenizer throw.
    package init(modelPath: String, seed: UInt64, threads: Int?) throws {
        let model = try ModelDirectory.open(modelPath)
        tokenizer = try Tokenizer(
            model: model.raw, embeddings: model.configuration.vocabularySize)
        vocabulary = TokenVocabulary(tokens: tokenizer.writtenTokens)
        vocabularySize = tokenizer.usableCount
        let team = ComputeTeam(threadCount: threads ?? 1)
        session = DecoderSession(
            weights: try GenerationWeights(model: model, team: team), adapter: nil,
            capacity: Self.promptTokens + (Self.limits.last ?? 0), team: team,
            answerRows: Generator.forcedRows)
        self.seed = seed
    }

    /// Calls `write` with what became of each case, in order.
    ///
    /// `path` is of JSON Lines: `{"schema": ..., "instances": ["{...}"]}` or `{"regex": "..."}`; `runs`
    /// says how many values of each are written. Throws `BenchError.badPlan` and `FileError`.
    package func run(
        path: String, runs: Int, write: ([(String, JSONValue)]) throws -> Void
    ) throws {
        let text = try RegularFile.bytes(of: path, from: 0, limit: Limits.caseBytes)
        for (number, line) in text.split(separator: UInt8(ascii: "\n")).enumerated() {
            let problem = BenchError.badPlan(what: "line \(number + 1) is no case", place: path)
            // The error names the line.
            guard let value = try? GrammarJSON.read(Array(line)) else { throw problem }
            let one = Case(
                schema: value["schema"], expression: value["regex"]?.string,
                instances: value["instances"]?.list?.compactMap(\.string) ?? [])
            var fields: [(String, JSONValue)] = [("case", .integer(number))]
            do {
                let grammar: CompiledGrammar
                if let schema = one.schema {
                    grammar = try CompiledGrammar(schema: Array(schema.written.utf8), vocabulary)
                } else if let expression = one.expression {
                    grammar = try CompiledGrammar(expression: expression, vocabulary)
                } else {
                    throw problem
                }
                fields += try self.fields(of: grammar, one, number: number, runs: runs)
            } catch let error as GrammarError {
                fields += [
                    ("refused", .text(error.explanation.what)),
                    ("pointer", error.pointer.map { .text($0) } ?? .null),
                ]
            }
            try write(fields)
        }
    }

    private func fields(
        of grammar: CompiledGrammar, _ one: Case, number: Int, runs: Int
    ) throws -> [(String, JSONValue)] {
        var values: [JSONValue] = []
        for run in 0..<runs { values.append(try value(of: grammar, number: number, run: run)) }
        var allowed: [JSONValue] = []
        for instance in one.instances {
            let tokens = tokenizer.segments(of: Array(instance.utf8), after: nil)
            var isAllowed = try allows(grammar, tokens, limit: tokens.count)
            if isAllowed {
                isAllowed = try allows(grammar, tokens, limit: 4 * tokens.count + 100)
            }
            allowed.append(.bool(isAllowed))
        }
        return [("runs", .list(values)), ("instances", .list(allowed))]
    }

    private func allows(
        _ grammar: CompiledGrammar, _ tokens: [Int32], limit: Int
    ) throws(GrammarError) -> Bool {
        guard limit > 0, try fits(grammar, limit: limit) == nil else { return false }
        var matcher = try GrammarMatcher(grammar, limit: limit)
        for token in tokens {
            guard try matcher.allows(token) else { return false }
            try matcher.accept(token)
        }
        return try matcher.isComplete()
    }

    /// nil if a value fits, else what it needs.
    private func fits(
        _ grammar: CompiledGrammar, limit: Int
    ) throws(GrammarError) -> JSONValue? {
        do throws(GrammarError) {
            try grammar.check(limit: limit)
            return nil
        } catch {
            guard case .doesNotFit(let needed, _) = error else { throw error }
            return needed.map { .integer($0) } ?? .null
        }
    }

    private func value(
        of grammar: CompiledGrammar, number: Int, run: Int
    ) throws -> JSONValue {
        let limit = Self.limits[run % Self.limits.count]
        let temperature = Self.temperatures[run / Self.limits.count % Self.temperatures.count]
        let began: [(String, JSONValue)] = [
            ("limit", .integer(limit)), ("temperature", .decimal(Double(temperature))),
        ]
        if let needed = try fits(grammar, limit: limit) {
            return .fields(began + [("needed", needed)])
        }
        let words = AddressedRandom(seed: seed, purpose: .benchmark).block(
            UInt32(truncatingIfNeeded: number), UInt32(truncatingIfNeeded: run))
        let prompt = [words.x, words.y, words.z].map { Int32($0 % UInt32(vocabularySize)) }
        var matcher = try GrammarMatcher(grammar, limit: limit)
        session.truncate(to: 0)
        let generator = Generator(
            session: session,
            sampler: Sampler(
                temperature: temperature, seed: UInt64(words.w) << 16 | UInt64(run)),
            stopTokens: tokenizer.endOfTurnIDs, tokenCount: vocabularySize)
        var last: Int32?
        let end = try generator.run(
            prompt: prompt, matcher: &matcher,
            segment: { tokenizer.segments(of: $0, after: last) },
            check: DecoderSession.uninterrupted,
            each: { token in
                last = token
                return true
            })
        return .fields(
            began + [
                ("text", .text(String(decoding: matcher.bytes, as: UTF8.self))),
                ("finish_reason", .text(end.rawValue)), ("tokens", .integer(matcher.used)),
            ])
    }
}
