import SkeinJSON
import SkeinTestSupport
import Testing

@Suite("Beginnings of JSON")
struct JSONPartialTests {
    private static let rules = JSONRules(depth: 64, names: .last)

    private static func partial(
        _ bytes: some Collection<UInt8>, isWhole: Bool = false, _ rules: JSONRules = rules
    ) throws -> JSONPartial {
        try Array(bytes).withUnsafeBytes { try JSONReader.partial($0, isWhole: isWhole, rules) }
    }

    @Test(
        "what there is when a text ends early, and what of it is not complete",
        arguments: [
            ("", "null", []), ("  ", "null", []), ("{", "{}", []), ("[", "[]", []),
            ("\"", "\"\"", []), ("\"ab", "\"ab\"", []), ("\"ab\\", "\"ab\"", []),
            ("\"ab\\n", "\"ab\\n\"", []), ("\"ab\\u00", "\"ab\"", []), ("\"\\ud83d", "\"\"", []),
            ("\"\\ud83d\\ude0", "\"\"", []), ("tru", "null", []), ("-", "null", []),
            ("12", "null", []), ("1.", "null", []), ("1e+", "null", []), ("[1", "[]", []),
            ("[1,", "[1]", []), ("[1,2", "[1]", []), ("[tru", "[]", []), ("[true", "[true]", []),
            ("{\"a", "{}", []), ("{\"a\"", "{}", []), ("{\"a\":", "{}", []),
            ("{\"a\":\"", "{\"a\":\"\"}", [0]), ("{\"a\":1", "{}", []),
            ("{\"a\":1,", "{\"a\":1}", []), ("{\"a\":1.5e3 ", "{\"a\":1.5e3}", []),
            ("{\"a\":[{\"b\":\"c", "{\"a\":[{\"b\":\"c\"}]}", [0, 0, 0]),
            ("[1,[],[2,[3,\"x", "[1,[],[2,[3,\"x\"]]]", [2, 1, 1]),
            ("[[1,2],[3", "[[1,2],[]]", [1]),
            // The last of two equal names counts, at the first one's place.
            ("{\"a\":1,\"b\":2,\"a\":[\"x", "{\"a\":[\"x\"],\"b\":2}", [0, 0]),
            ("{\"a\":1,\"b\":2,\"a\":tr", "{\"a\":1,\"b\":2}", []),
        ] as [(String, String, [Int])])
    func early(_ text: String, _ expected: String, _ spine: [Int]) throws {
        let partial = try Self.partial(text.utf8)
        #expect(partial.value.written == expected)
        #expect(partial.spine == spine && !partial.isComplete)
    }

    @Test("rules on names hold in what is not complete")
    func names() throws {
        let text = "{\"a\":1,\"b\":2,\"a\":[\"x"
        var rules = Self.rules
        rules.names = .all
        let all = try Self.partial(text.utf8, rules)
        #expect(all.value.written == #"{"a":1,"b":2,"a":["x"]}"# && all.spine == [2, 0])
        rules.names = .first
        let first = try Self.partial(text.utf8, rules)
        #expect(first.value.written == #"{"a":1,"b":2}"# && first.spine.isEmpty)
        rules.names = .refused
        #expect(throws: JSONFlaw(.repeatedName, at: 13)) { try Self.partial(text.utf8, rules) }
    }

    @Test("a number is complete at the end of the whole text only, and only alone")
    func numbers() throws {
        #expect(try Self.partial("12".utf8, isWhole: true).isComplete)
        #expect(try Self.partial("[12".utf8, isWhole: true).value == .list([]))
        #expect(try !Self.partial("12".utf8).isComplete)
        #expect(try Self.partial("12 ".utf8).isComplete)
    }

    @Test("a character whose bytes are still to come is left out; what is no text is refused")
    func characters() throws {
        let bytes = Array("\"a😀\"".utf8)
        for length in 3...5 {
            #expect(try Self.partial(bytes.prefix(length)).value == .text("a"))
        }
        #expect(throws: JSONFlaw(.notUTF8, at: 0)) { try Self.partial([0x22, 0xFF]) }
        #expect(throws: JSONFlaw(.notUTF8, at: 1)) { try Self.partial([0x7B, 0x22, 0xFF]) }
        #expect(throws: JSONFlaw(.notUTF8, at: 0)) { try Self.partial([0x22, 0xC3, 0x22]) }
    }

    @Test("every beginning of a text is the beginning of what the whole text says")
    func prefixes() throws {
        for seed in Damage.seeds(150) {
            var random = TestRandom(state: seed)
            let bytes = Array(RandomJSON.text(using: &random).utf8)
            let whole = try JSONReader.read(bytes, Self.rules)
            let end = bytes.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
            for length in 0...bytes.count {
                let partial = try Self.partial(bytes.prefix(length))
                #expect(partial.isComplete == (length > end), "seed \(seed), \(length)")
                #expect(
                    Self.begins(
                        partial.value, whole, partial.isComplete ? nil : partial.spine[...]),
                    "seed \(seed), \(length): \(partial)")
            }
        }
    }

    /// Whether a value is the beginning of another one; what is not on the spine is all of it.
    private static func begins(
        _ part: JSONValue, _ whole: JSONValue, _ spine: ArraySlice<Int>?
    ) -> Bool {
        guard let spine else { return part == whole }
        func items(_ parts: [JSONValue], _ wholes: [JSONValue]) -> Bool {
            parts.count <= wholes.count
                && parts.indices.allSatisfy { place in
                    begins(
                        parts[place], wholes[place],
                        spine.first == place ? spine.dropFirst() : nil)
                }
        }
        switch (part, whole) {
        case (.null, _): return spine.isEmpty
        case (.text(let part), .text(let whole)):
            return whole.unicodeScalars.starts(with: part.unicodeScalars)
        case (.list(let parts), .list(let wholes)): return items(parts, wholes)
        case (.object(let parts), .object(let wholes)):
            return wholes.map(\.name).starts(with: parts.map(\.name))
                && items(parts.map(\.value), wholes.map(\.value))
        default: return false
        }
    }
}
