import Foundation
import SkeinJSON
import SkeinTestSupport
import Testing

@Suite("What is no JSON is told with its place")
struct JSONFlawTests {
    private static let rules = JSONRules(depth: 8)

    private static func read(
        _ text: String, _ rules: JSONRules = rules
    ) throws(JSONFlaw) -> JSONValue {
        try JSONReader.read(Array(text.utf8), rules)
    }

    private static let malformed: [(String, JSONExpected, Int)] = [
        ("", .value, 0), ("x", .value, 0), ("]", .value, 0), ("'a'", .value, 0), ("NaN", .value, 0),
        ("[1,]", .value, 3), ("[}", .value, 1), ("{\"a\":}", .value, 5), ("+1", .value, 0),
        (".5", .value, 0), ("-", .value, 1), ("-x", .value, 1), ("-Infinity", .value, 1),
        ("nul", .value, 3), ("trux", .value, 3), ("nul ", .value, 3), ("é", .value, 0),
        ("{a:1}", .key, 1), ("{1:2}", .key, 1), ("{]", .key, 1), ("{\"a\":1,}", .key, 7),
        ("{", .key, 1), ("{\"a\" 1}", .colon, 5), ("{\"a\"", .colon, 4),
        ("[1 2]", .commaOr(object: false), 3), ("[1", .commaOr(object: false), 2),
        ("[01]", .commaOr(object: false), 2), ("{\"a\":1 2}", .commaOr(object: true), 7),
        ("1.", .digit, 2), ("1.x", .digit, 2), ("1ex", .digit, 2), ("1e+", .digit, 3),
        ("[1e]", .digit, 3),
        ("\"\\x\"", .escape, 2), ("\"\\u12g4\"", .hexadecimal, 5), ("\"\\u12", .hexadecimal, 5),
        ("\"\\ud83d\\udc1", .hexadecimal, 12), ("\"\n\"", .plainCharacter, 1),
        ("\"a\u{1F}b\"", .plainCharacter, 2), ("\"abcdefghijk\tm\"", .plainCharacter, 12),
        ("\"", .end, 1), ("\"ab\\", .end, 4), ("\"\\ud83d", .end, 7), ("\"\\ud83d\\", .end, 8),
        ("01", .nothing, 1), ("1 2", .nothing, 2), ("{} {}", .nothing, 3), ("[1] 2", .nothing, 4),
    ]

    @Test("the place is the first byte that cannot belong", arguments: malformed)
    func refused(_ text: String, _ expected: JSONExpected, _ offset: Int) {
        #expect(throws: JSONFlaw(.malformed(expected), at: offset)) { try Self.read(text) }
        #expect(!expected.words.isEmpty)
    }

    @Test(
        "half of a surrogate pair is told by its escape, and passed by who makes no text",
        arguments: [
            ("\"a\\udc00\"", 2), ("\"\\ud800\"", 1), ("\"\\ud800a\"", 1), ("\"\\ud800\\n\"", 1),
            ("\"\\ud800\\u0041\"", 1), ("\"\\u0041\\uDBFF\\uDBFF\"", 7),
        ])
    func surrogates(_ text: String, _ offset: Int) throws {
        #expect(throws: JSONFlaw(.halfOfPair, at: offset)) { try Self.read(text) }
        var rules = Self.rules
        rules.takesHalves = true
        let end = try Array(text.utf8).withUnsafeBufferPointer {
            try JSONReader.skip($0, from: 0, rules)
        }
        #expect(end == text.utf8.count)
        #expect(try Self.read(text, rules).string?.unicodeScalars.contains("\u{FFFD}") == true)
    }

    @Test("half of a pair is told as soon as it is certain")
    func certain() {
        for text in ["\"\\ud800\\ud8zz", "\"\\udfzz", "\"\\ud83d\\u0", "\"\\udc"] {
            #expect(throws: JSONFlaw(.halfOfPair, at: 1)) { try Self.read(text) }
        }
        #expect(throws: JSONFlaw(.malformed(.hexadecimal), at: 9)) { try Self.read("\"\\ud83d\\u") }
    }

    @Test("depth is counted with leaves or without them, and told by what is too deep")
    func depth() throws {
        let flaw = JSONFlaw(.tooDeep(limit: 3), at: 3)
        #expect(throws: flaw) { try Self.read("[[[[]]]]", JSONRules(depth: 3)) }
        #expect(throws: flaw) { try Self.read("[[[1]]]", JSONRules(depth: 3)) }
        #expect(try Self.read("[[1]]", JSONRules(depth: 3)).depth == 3)
        #expect(try Self.read("[[[]]]", JSONRules(depth: 3)).depth == 3)
        let containers = JSONRules(depth: 3, leavesCount: false)
        #expect(try Self.read("[[[1]]]", containers).depth == 4)
        #expect(throws: flaw) { try Self.read("[[[[1]]]]", containers) }
        #expect(throws: JSONFlaw(.tooDeep(limit: 1), at: 6)) {
            try Self.read(#"{"a": {}}"#, JSONRules(depth: 1, leavesCount: false))
        }
    }

    @Test("a deep text takes no stack, whatever stands in what", arguments: [63, 64, 65, 200_000])
    func deepTexts(_ depth: Int) throws {
        let open = (0..<depth).map { $0 % 3 == 0 ? "[" : "{\"a\":" }.joined()
        let close = (0..<depth).reversed().map { $0 % 3 == 0 ? "]" : "}" }.joined()
        let bytes = Array((open + "0" + close).utf8)
        let rules = JSONRules(depth: depth, leavesCount: false)
        let end = try bytes.withUnsafeBufferPointer { try JSONReader.skip($0, from: 0, rules) }
        #expect(end == bytes.count)
        #expect(
            throws: JSONFlaw(.malformed(.commaOr(object: depth % 3 != 1)), at: open.utf8.count + 1)
        ) {
            try (Array((open + "0").utf8) + [0x3A]).withUnsafeBufferPointer {
                _ = try JSONReader.skip($0, from: 0, rules)
            }
        }
        // A value itself is taken apart level by level when it goes.
        if depth < 1000 {
            #expect(try JSONReader.read(bytes, rules).written.utf8.elementsEqual(bytes))
        }
    }

    @Test("length, marks and bytes that are no text")
    func bytes() throws {
        #expect(throws: JSONFlaw(.tooLarge(limit: 2), at: 2)) {
            try Self.read("[1]", JSONRules(depth: 3, bytes: 2))
        }
        #expect(throws: JSONFlaw(.notUTF8, at: 1)) {
            try JSONReader.read([0x5B, 0x22, 0xFF, 0x22, 0x5D], Self.rules)
        }
        #expect(throws: JSONFlaw(.notUTF8, at: 1)) {
            try JSONReader.read([0x7B, 0x22, 0x5C, 0x6E, 0xC3, 0x22, 0x3A, 0x31, 0x7D], Self.rules)
        }
        #expect(throws: JSONFlaw(.malformed(.value), at: 0)) { try Self.read("\u{FEFF}1") }
        var rules = Self.rules
        rules.takesMark = true
        #expect(try Self.read("\u{FEFF}1", rules) == .integer(1))
        #expect(throws: JSONFlaw(.malformed(.nothing), at: 5)) {
            try Self.read("\u{FEFF}1 x", rules)
        }
    }

    /// Ends of strings, names, escapes, pairs, words and numbers.
    private static let tails: [String] = {
        let units = ["\\udc00", "udc00", "dc00", "c00", "00", "0"]
        let inStrings =
            ["", "n", "0", "00", "000", "0000"] + units + units.map { "0" + $0 }
            + units.map { "00" + $0 }
        let words = ["rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"]
        return ["", "0", ":0", "\"\":0"] + words
            + inStrings.flatMap { [$0 + "\"", $0 + "\":0"] }
    }()

    /// Whether what another reader takes begins so.
    private static func canBecomeJSON(_ bytes: some Collection<UInt8>) -> Bool {
        var open: [UInt8] = []
        var (isInString, isEscaped) = (false, false)
        var last: UInt8 = 0
        for byte in bytes {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case 0x5C where isInString: isEscaped = true
            case 0x22: isInString.toggle()
            case _ where isInString: break
            case 0x5B: open.append(0x5D)
            case 0x7B: open.append(0x7D)
            case 0x5D, 0x7D:
                // Foundation takes a comma before it.
                guard last != 0x2C else { return false }
                _ = open.popLast()
            default: break
            }
            if ![0x20, 0x09, 0x0A, 0x0D].contains(byte) { last = byte }
        }
        return tails.contains { tail in
            // With it, Foundation would guess another encoding.
            guard !bytes.contains(0) else { return false }
            let text = Data(Array(bytes) + tail.utf8 + open.reversed())
            return (try? JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed))
                != nil
        }
    }

    @Test("what stands before the place can still become JSON, and with the byte there it cannot")
    func rule() throws {
        var refused = 0
        let rules = JSONRules(depth: 64, names: .last)
        for seed in Damage.seeds(500) {
            var random = TestRandom(state: seed)
            let bytes = RandomJSON.damaged(using: &random)
            // Foundation refuses numbers that no Double holds.
            let hasLongExponent = String(decoding: bytes, as: UTF8.self)
                .contains(#/[eE][+\-]?[0-9]{3}/#)
            guard !hasLongExponent else { continue }
            do {
                _ = try JSONReader.read(bytes, rules)
                #expect(Self.canBecomeJSON(bytes), "seed \(seed)")
            } catch {
                guard case .malformed = error.kind else {
                    #expect(error.offset < bytes.count, "seed \(seed)")
                    continue
                }
                // What is no text shows when its string ends.
                guard String(validating: bytes, as: UTF8.self) != nil else { continue }
                refused += 1
                let before = bytes[..<error.offset]
                #expect(Self.canBecomeJSON(before), "seed \(seed), \(error): \(bytes)")
                try before.withUnsafeBytes {
                    let partial = try JSONReader.partial($0, isWhole: false, rules)
                    #expect(!partial.isComplete || error.kind == .malformed(.nothing))
                }
                guard error.offset < bytes.count else { continue }
                let beyond = bytes[...error.offset]
                #expect(!Self.canBecomeJSON(beyond), "seed \(seed), \(error): \(bytes)")
                #expect(throws: error, "seed \(seed)") {
                    try beyond.withUnsafeBytes {
                        _ = try JSONReader.partial($0, isWhole: false, rules)
                    }
                }
            }
        }
        #expect(refused > 100)
    }
}
