import Synchronization
import Testing

@testable import SkeinGrammar

/// Schemas that ask for more than they are worth: each ends with a typed error or is taken, and none
/// crashes. Nothing here is timed; what had no limit took minutes.
@Suite("Hostile schemas")
struct HostileSchemaTests {
    private static func list(_ count: Int, _ item: (Int) -> String) -> String {
        "[" + (0..<count).map(item).joined(separator: ",") + "]"
    }

    private static func object(_ count: Int, _ field: (Int) -> String) -> String {
        "{" + (0..<count).map(field).joined(separator: ",") + "}"
    }

    private static func compile(_ schema: String) throws -> CompiledGrammar {
        try CompiledGrammar(schema: Array(schema.utf8), Vocabularies.bytes)
    }

    private static func limit(of schema: String) -> GrammarError.Limited? {
        do {
            _ = try compile(schema)
            return nil
        } catch {
            guard case .tooLarge(let what, _, _)? = error as? GrammarError else { return nil }
            return what
        }
    }

    @Test("a chain of references ends before the stack does")
    func chain() {
        let definitions = Self.object(20_000) { ##""\##($0)":{"$ref":"#/$defs/\##($0 + 1)"}"## }
        #expect(
            Self.limit(of: ##"{"$ref":"#/$defs/0","$defs":\##(definitions)}"##) == .references)
    }

    @Test("work before a schema is used has a limit")
    func work() {
        let name = String(repeating: "x", count: 100_000)
        let inner = Self.object(5_000) { #""\#($0)":{}"# }
        #expect(Self.limit(of: #"{"properties":{"\#(name)":{"properties":\#(inner)}}}"#) == .work)
        #expect(Self.limit(of: #"{"allOf":\#(Self.list(30_000) { _ in "{}" })}"#) == .work)
        let apart = Self.list(30_000) { #"{"properties":{"\#($0)":{}}}"# }
        #expect(Self.limit(of: #"{"allOf":\#(apart)}"#) == .work)
        let members = Self.list(1_000) {
            #"{"type":"object","properties":{"k":{"const":\#($0)}},"required":["k"]}"#
        }
        #expect(Self.limit(of: #"{"oneOf":\#(members)}"#) != nil)
        let numbers = Self.list(4_000) { "\($0)" }
        let bounds = Self.list(1_000) { #"{"minimum":\#($0)}"# }
        #expect(Self.limit(of: #"{"enum":\#(numbers),"anyOf":\#(bounds)}"#) == .work)
        let multiples = Self.list(5_000) { #"{"multipleOf":4093,"maximum":\#($0)}"# }
        #expect(Self.limit(of: #"{"prefixItems":\#(multiples)}"#) != nil)
    }

    @Test("expressions of few bytes that repeat are taken")
    func repetitions() throws {
        for expression in ["a{4096}", "(a|b|cd){400}e{900}", #"\w{4000}"#] {
            _ = try CompiledGrammar(expression: expression, Vocabularies.bytes)
        }
    }

    @Test("large schemas that mean well are taken")
    func honest() throws {
        _ = try Self.compile(#"{"enum":\#(Self.list(4_096) { "\($0)" })}"#)
        _ = try Self.compile(#"{"const":\#(Self.object(5_000) { #""\#($0)":1"# })}"#)
        let properties = Self.object(2_000) { #""\#($0)":{"type":"string","maxLength":200}"# }
        _ = try Self.compile(#"{"properties":\#(properties)}"#)
    }

    @Test("a string may be longer than there is room for states at once")
    func longString() throws {
        let grammar = try Self.compile(#"{"type":"string","minLength":33000,"maxLength":100000}"#)
        var matcher = try GrammarMatcher(grammar, limit: 33_002)
        // The quote, characters, and the quote, byte by byte.
        try matcher.accept(0x22)
        for _ in 0..<33_000 {
            #expect(try matcher.allows(0x61))
            try matcher.accept(0x61)
        }
        #expect(try matcher.allows(0x22))
        try matcher.accept(0x22)
        #expect(try matcher.isComplete())
    }

    @Test("names whose schemas have names do not fill the stack")
    func names() {
        let all = (0..<5_000).map { number in
            ##""\##(number)":{"properties":{"a":{}},"propertyNames":{"$ref":"#/$defs/\##(number + 1)"}}"##
        }
        let schema = ##"{"$defs":{\##(all.joined(separator: ",")),"5000":{}},"$ref":"#/$defs/0"}"##
        #expect {
            try Self.compile(schema)
        } throws: { error in
            guard case .tooLarge(.references, _, _)? = error as? GrammarError else { return false }
            return true
        }
    }

    @Test("many patterns of names end at the limit of work")
    func namePatterns() {
        let all = (0..<3_000).map { #""^a{\#($0 % 20)}b.*\#($0)$":{"minimum":\#($0)}"# }
        #expect(throws: GrammarError.self) {
            try Self.compile(#"{"patternProperties":{\#(all.joined(separator: ","))}}"#)
        }
    }

    @Test("what it takes to find that patterns of names are apart is a part of the work")
    func namesApart() {
        let all = Self.object(60) { #""^(?:a{\#(101 + $0 % 27)})*X_\#($0)$":{"minimum":\#($0)}"# }
        #expect(Self.limit(of: #"{"patternProperties":\#(all)}"#) == .work)
        let few = Self.object(60) { #""^x_\#($0)_[a-z]+$":{"minimum":\#($0)}"# }
        #expect(Self.limit(of: #"{"patternProperties":\#(few)}"#) == nil)
    }

    /// `(?:aA*|bB*|...)*` with other letters: from each of its states a step leads to every other one.
    private static func dense(_ letters: UInt32) -> String {
        let options = (0..<letters).compactMap { letter in
            guard let first = Unicode.Scalar(0x4E00 + letter),
                let second = Unicode.Scalar(0x7000 + letter)
            else { return nil as String? }
            return "\(first)\(second)*"
        }
        return "(?:" + options.joined(separator: "|") + ")*"
    }

    /// Each of these expressions is within the limits of one, and some collapse to a few states.
    @Test("what it takes to make machines of expressions is a part of the work")
    func machines() {
        for (count, expression) in [
            (500, "((a|b)*a(a|b){10}|.*)w"), (100, Self.dense(400)), (300, #"(?:\\p{L}{250}i)?"#),
        ] {
            let all = Self.object(count) {
                #""\#($0)":{"type":"string","pattern":"^\#(expression)\#($0)$"}"#
            }
            #expect(Self.limit(of: #"{"properties":\#(all)}"#) == .work)
        }
    }

    @Test("machines that are not made in the end are paid for, and tried once")
    func failedMachines() throws {
        func properties(_ count: Int, _ pattern: (Int) -> String) -> [UInt8] {
            let all = Self.object(count) {
                #""\#($0)":{"type":"string","pattern":"\#(pattern($0))"}"#
            }
            return Array(#"{"properties":\#(all)}"#.utf8)
        }
        for expression in ["(a|b)*a(a|b){18}e", "(?:(?:(?:a?){60}b?){60}c?)"] {
            let different = properties(500) { "^\(expression)\($0)$" }
            #expect {
                try SchemaCompiler.result(of: different, .lenient)
            } throws: { error in
                guard case .tooLarge(.work, _, _)? = error as? GrammarError else { return false }
                return true
            }
            let equal = properties(500) { _ in "^\(expression)$" }
            #expect(try SchemaCompiler.result(of: equal, .lenient).droppedCount == 500)
        }
    }

    @Test("large values of enum and const are a part of the work each time they are compared")
    func largeValues() {
        let value = Self.list(20_000) { _ in "12345" }
        let alternatives = Self.list(1_000) { #"{"minLength":\#($0)}"# }
        #expect(
            Self.limit(of: #"{"type":"string","const":\#(value),"anyOf":\#(alternatives)}"#)
                == .work)
        let text = String(repeating: "\u{4E00}", count: 10_000)
        let texts = Self.list(20) { #""\#(text)\#($0)""# }
        let patterns = Self.list(20) { #"{"pattern":"^\#(Self.dense(200))x\#($0)"}"# }
        #expect(Self.limit(of: #"{"enum":\#(texts),"anyOf":\#(patterns)}"#) == .work)
    }

    @Test("two patterns of names are compared once, and up to the first name of both")
    func namesTogether() throws {
        let questions = Atomic(0)
        let demand = Demand {
            questions.add(1, ordering: .relaxed)
            return true
        }
        let machines = TextMachines(WorkBudget(demand))
        let patterns = ["^(?:a{101})*X_1$", "^(?:a{102})*X_2$", "^(?:a{103})*(?:X_2)?$"]
            .map { TextRule.Pattern(text: $0, pointer: "") }
        for pattern in patterns {
            _ = try machines.language(pattern.text, matchesWhole: false, pointer: "")
        }
        func compared(_ first: Int, _ second: Int) throws -> (overlap: Bool, asked: Int) {
            let before = questions.load(ordering: .relaxed)
            let overlap = try machines.overlap(patterns[first], patterns[second])
            return (overlap, questions.load(ordering: .relaxed) - before)
        }
        let apart = try compared(0, 1)
        #expect(!apart.overlap && apart.asked > 5)
        let turned = try compared(1, 0)
        #expect(!turned.overlap && turned.asked <= 1)
        let together = try compared(1, 2)
        #expect(together.overlap && together.asked <= 2)
    }

    /// Lists of two lists each: the last ones hold 2^60 values, or none.
    private static func doubled(_ levels: Int, _ last: String) -> String {
        let all = Self.object(levels) {
            let next = ##"{"$ref":"#/$defs/\##($0 + 1)"}"##
            return #""\#($0)":{"type":"array","prefixItems":[\#(next),\#(next)],"minItems":2}"#
        }
        return ##"{"$defs":\##(all.dropLast()),"\##(levels)":\##(last)},"$ref":"#/$defs/0"}"##
    }

    @Test("that the shortest value is too long is not said of one that is not there")
    func shortest() throws {
        #expect(Self.limit(of: Self.doubled(60, #"{"type":"integer"}"#)) == .shortest)
        #expect(Self.limit(of: Self.doubled(20, #"{"type":"integer"}"#)) == nil)
        #expect(throws: GrammarError.empty(pointer: "")) {
            try Self.compile(Self.doubled(60, #"{"type":"string","minLength":2,"maxLength":1}"#))
        }
        // Alternatives that are too long are left out.
        let either = Self.doubled(60, #"{"type":"integer"}"#).dropLast(20)
        _ = try Self.compile(either + ##","anyOf":[{"$ref":"#/$defs/0"},{"type":"null"}]}"##)
        let items =
            #"{"type":"array","minItems":16000000,"items":{"type":"string","minLength":100}}"#
        #expect(Self.limit(of: items) == .shortest)
    }

    @Test("a string that does not fit is refused before anything is written")
    func doesNotFit() throws {
        let grammar = try Self.compile(#"{"type":"string","minLength":30000}"#)
        #expect(throws: GrammarError.doesNotFit(needed: nil, limit: 256)) {
            try GrammarMatcher(grammar, limit: 256)
        }
    }

    /// Where bytes are no tokens, each number has a state at first.
    @Test(
        "a number of properties that is too large for states ends the attempt",
        arguments: [true, false])
    func properties(_ isWanted: Bool) throws {
        let schema = #"""
            {"type":"object","additionalProperties":{"type":"boolean"},
            "maxProperties":4000000000000}
            """#
        let cache = GrammarCache(Vocabularies.withoutPunctuation, count: 1)
        // Wanted until the schema is compiled with numbers, and then not any longer.
        let questions = Atomic(0)
        let limit = isWanted ? Int.max : 4
        do throws(GrammarError) {
            let grammar = try cache.grammar(.schema(Array(schema.utf8))) {
                questions.add(1, ordering: .relaxed).newValue <= limit
            }
            #expect(isWanted)
            #expect(try grammar.mask(nil, Array(#"{"a":true,"#.utf8)).count > 0)
        } catch {
            #expect(!isWanted && error == .cancelled)
            #expect(questions.load(ordering: .relaxed) == limit + 1)
        }
    }
}
