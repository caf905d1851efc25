import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinGrammar

@Suite("Values written at random")
struct RandomWritingTests {
    static let schemas = [
        ##"""
        {"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer",
        "minimum":0,"maximum":20}},"required":["name"]}
        """##,
        ##"""
        {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"v":{"type":"integer",
        "minimum":-20,"maximum":137},"kids":{"type":"array","items":{"$ref":"#/$defs/node"},
        "maxItems":2}},"required":["v","kids"]}}}
        """##,
        ##"""
        {"anyOf":[{"type":"object","properties":{"case":{"const":"a"},
        "x":{"type":"number"}},"required":["case","x"]},{"type":"array",
        "items":{"enum":[1,"one",null,{"a":[1,2]}]},"minItems":1}]}
        """##,
        ##"{}"##,
        ##"{"type":"string","pattern":"^(ab|c)+$","maxLength":7}"##,
        ##"{"type":"string","minLength":3,"maxLength":5}"##,
        ##"""
        {"type":"object","additionalProperties":{"type":"boolean"},"properties":{"a":{"type":"null"}}}
        """##,
        ##"""
        {"type":"array","prefixItems":[{"type":"integer","multipleOf":7,
        "minimum":1,"maximum":99},{"format":"date","type":"string"}],
        "minItems":2}
        """##,
        ##"{"type":"number","exclusiveMinimum":0,"maximum":1.5}"##,
        ##"""
        {"oneOf":[{"type":"object","properties":{"k":{"const":1}},"required":["k"]},
        {"type":"object","properties":{"k":{"const":2},"z":{"type":"boolean"}},
        "required":["k"]}]}
        """##,
    ]

    @Test("a value is always valid, whatever the limit", arguments: schemas)
    func alwaysValid(_ schema: String) throws {
        let document = SchemaDocument(try GrammarJSON.read(Array(schema.utf8)))
        let check = SchemaCheck(schemas: SchemaAlternatives(document))
        for vocabulary in [Vocabularies.bytes, Vocabularies.withoutPunctuation] {
            let grammar = try CompiledGrammar(schema: Array(schema.utf8), vocabulary)
            var written = 0
            for seed in 0..<60 {
                var random = TestRandom(state: UInt64(seed))
                let limit = 1 + seed
                guard var matcher = try Self.matcher(grammar, limit: limit) else { continue }
                let text = try matcher.write(with: &random)
                written += 1
                #expect(matcher.used <= limit)
                let value = try JSONReader.read(
                    Array(text.utf8), JSONRules(depth: 128, names: .last))
                let isValid = try check.accepts(value, [document.whole])
                #expect(isValid, "seed \(seed): \(text)")
            }
            #expect(written > 20)
        }
    }

    /// nil if no value fits.
    private static func matcher(_ grammar: CompiledGrammar, limit: Int) throws -> GrammarMatcher? {
        do {
            return try GrammarMatcher(grammar, limit: limit)
        } catch {
            guard case .doesNotFit(let needed, limit) = error else { throw error }
            #expect(needed.map { $0 > limit } ?? true)
            return nil
        }
    }
}
