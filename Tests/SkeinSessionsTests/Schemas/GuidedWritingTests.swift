import Foundation
import SkeinGrammar
import SkeinTestSupport
import Testing

@testable import SkeinSessions

@Suite("Values that a grammar lets a model write")
struct GuidedWritingTests {
    /// A tokenizer of single bytes.
    private static let vocabulary = TokenVocabulary(tokens: (0...255).map { [UInt8($0)] })

    /// A value of a model that chooses any allowed token; those that end something more often.
    private func write(
        _ grammar: CompiledGrammar, using random: inout TestRandom
    ) throws -> String {
        var matcher = try GrammarMatcher(grammar, limit: 600)
        while true {
            switch try matcher.next() {
            case .end: return String(decoding: matcher.bytes, as: UTF8.self)
            case .only(let token): try matcher.accept(token)
            case .choice(_, let mask):
                if mask.allowsEnd, Bool.random(using: &random) {
                    return String(decoding: matcher.bytes, as: UTF8.self)
                }
                let tokens = mask.tokens.tokens
                let closing = tokens.filter { [0x22, 0x5D, 0x7D].contains($0) }
                let isClosing = !closing.isEmpty && Int.random(in: 0..<4, using: &random) == 0
                let chosen = isClosing || tokens.isEmpty ? closing : tokens
                guard let token = chosen.randomElement(using: &random) else {
                    return String(decoding: matcher.bytes, as: UTF8.self)
                }
                try matcher.accept(token)
            }
        }
    }

    @Test(
        "values of random schemas are read, and satisfy what was asked", arguments: UInt64(0)..<200)
    func random(seed: UInt64) throws {
        var random = TestRandom(state: seed)
        let drawn = DrawnSchema.draw(using: &random)
        let schema = try GenerationSchema(root: drawn.dynamic, dependencies: [])
        let text = try schema.jsonText()
        let grammar = try CompiledGrammar(schema: Array(text.utf8), Self.vocabulary)
        for _ in 0..<8 {
            let value = try write(grammar, using: &random)
            let content = try GeneratedContent(json: value)
            #expect(content.isComplete, "seed \(seed): \(value)")
            #expect(drawn.accepts(content), "seed \(seed): \(value)\n\(text)")
        }
        // The coded form holds a model to the same.
        let decoded = try JSONDecoder().decode(
            GenerationSchema.self, from: try JSONEncoder().encode(schema))
        #expect(try decoded.jsonText() == text, "seed \(seed)")
    }

    private func values<Value: Generable>(
        of type: Value.Type, _ guides: GenerationGuide<Value>..., count: Int = 200
    ) throws -> [Value] {
        let root = DynamicGenerationSchema(type: type, guides: guides)
        let text = try GenerationSchema(root: root, dependencies: []).jsonText()
        let grammar = try CompiledGrammar(schema: Array(text.utf8), Self.vocabulary)
        var random = TestRandom(state: 17)
        return try (0..<count).map { _ in
            let content = try GeneratedContent(json: write(grammar, using: &random))
            let value = try Value(content)
            // It survives as a value, in all its digits.
            #expect(try Value(value.generatedContent).generatedContent == value.generatedContent)
            return value
        }
    }

    @Test("every number fits its type, and its guides")
    func numbers() throws {
        _ = try values(of: Int.self)
        #expect(
            try values(of: Int.self, .minimum(Int.max)) == Array(repeating: Int.max, count: 200))
        #expect(try values(of: Int.self, .maximum(Int.min + 1)).allSatisfy { $0 <= Int.min + 1 })
        #expect(try Set(values(of: Int.self, .range(0...2))) == [0, 1, 2])
        #expect(try values(of: Float.self).allSatisfy(\.isFinite))
        #expect(try values(of: Float.self, .minimum(1e38)).allSatisfy { $0 >= 1e38 })
        #expect(try values(of: Float.self, .maximum(-3e38)).allSatisfy { $0 <= -3e38 })
        #expect(try values(of: Float.self, .range(0.1...0.3)).allSatisfy { 0.1...0.3 ~= $0 })
        #expect(try values(of: Double.self).allSatisfy(\.isFinite))
        #expect(try values(of: Double.self, .minimum(1e39)).allSatisfy { $0 >= 1e39 })
        let sum = 0.1 + 0.2
        #expect(try values(of: Double.self, .range(sum...sum)).allSatisfy { $0 == sum })
        #expect(
            try values(of: Double.self, .range(sum...sum.nextUp)).allSatisfy {
                sum...sum.nextUp ~= $0
            })
        #expect(try values(of: Double.self, .range(1e-300...2e-300)).allSatisfy { $0 > 0 })
        let third = Decimal(1) / Decimal(3)
        #expect(try values(of: Decimal.self, .range(0...third)).allSatisfy { 0...third ~= $0 })
        #expect(try values(of: Decimal.self, .range(third...third)).allSatisfy { $0 == third })
        _ = try values(of: Decimal.self)
    }

    @Test("texts and arrays satisfy their guides")
    func textsAndArrays() throws {
        #expect(
            try values(of: String.self, .pattern(/[A-Z]{2}-\d+/)).allSatisfy {
                $0.wholeMatch(of: /[A-Z]{2}-[0-9]+/) != nil
            })
        #expect(
            try values(of: String.self, .pattern(/^(?<year>\d{4})-(\d\d)$/)).allSatisfy {
                $0.wholeMatch(of: /[0-9]{4}-[0-9]{2}/) != nil
            })
        #expect(
            try values(of: String.self, .pattern(/a|bc/), .pattern(/[ab].*/)).allSatisfy {
                ["a", "bc"].contains($0)
            })
        #expect(try Set(values(of: String.self, .anyOf(["x", "y"]))) == ["x", "y"])
        #expect(
            try values(of: String.self, .anyOf(["x", "y"]), .constant("y")).allSatisfy { $0 == "y" }
        )
        #expect(try values(of: [Int].self, .count(3), count: 50).allSatisfy { $0.count == 3 })
        #expect(
            try Set(values(of: [Bool].self, .count(1...2)).map(\.count)) == [1, 2])
        #expect(
            try values(of: [String].self, .element(.anyOf(["a"])), .maximumCount(4)).allSatisfy {
                $0.allSatisfy { $0 == "a" } && $0.count <= 4
            })
        // Without a guide, arrays may be empty.
        #expect(try values(of: [Int].self).contains([]))
    }

    @Test("types by hand, recursive ones too, are written and read")
    func types() throws {
        #expect(try values(of: Review.self).allSatisfy { 1...5 ~= $0.rating })
        #expect(try Set(values(of: Mood.self).map(\.rawValue)).count == 3)
        let shapes = try values(of: Shape.self)
        #expect(shapes.contains(.nothing))
        let trips = try values(of: Trip.self)
        #expect(trips.contains { !$0.stops.isEmpty } && trips.contains { $0.mood == nil })
        #expect(trips.allSatisfy { $0.stops.count <= 3 })
        _ = try values(of: GeneratedContent.self)
        #expect(try values(of: [Never].self, count: 3) == [[], [], []])
        let either = try values(of: Either.self)
        #expect(Set(either.map(\.isMood)) == [true, false])
        #expect(try values(of: Hollow.self, count: 3).count == 3)
    }

    @Test(
        "a pattern that cannot be enforced is an error of the grammar",
        arguments: [
            #"(?=a)b"#, #"(a)\1"#,
        ])
    func refusedPatterns(_ source: String) throws {
        let schema = try GenerationSchema(
            root: DynamicGenerationSchema(type: String.self, guides: [.pattern(source: source)]),
            dependencies: [])
        let text = try schema.jsonText()
        #expect(
            throws: GrammarError.self,
            performing: {
                try CompiledGrammar(schema: Array(text.utf8), Self.vocabulary)
            })
    }
}

/// A mood or a review.
private struct Either: Generable {
    var isMood: Bool

    static var generationSchema: GenerationSchema {
        GenerationSchema(type: Self.self, anyOf: [Mood.self, Review.self])
    }
    var generatedContent: GeneratedContent {
        isMood ? Mood.good.generatedContent : Review(rating: 1, summary: "").generatedContent
    }
    init(_ content: GeneratedContent) throws {
        isMood = (try? Mood(content)) != nil
        if !isMood { _ = try Review(content) }
    }
}

/// A property that no value can have may be left out.
private struct Hollow: Listed {
    static var listed: [GenerationSchema.Property] { [.init(name: "none", type: Never?.self)] }
}
