import Foundation
import SkeinJSON
import SkeinTestSupport
import Testing

@Suite("Types are decoded as Foundation does")
struct JSONTreeTests {
    /// What a reader makes of a text: a value, or which error it has and where.
    private enum Outcome<Value: Equatable>: Equatable {
        case value(Value)
        case refused(String, [String])
    }

    private static func outcome<Value: Equatable>(_ body: () throws -> Value) -> Outcome<Value> {
        func path(_ context: DecodingError.Context) -> [String] {
            context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        }
        do {
            return .value(try body())
        } catch DecodingError.keyNotFound(let key, let context) {
            return .refused("no \(key.stringValue)", path(context))
        } catch DecodingError.typeMismatch(let type, let context) {
            return .refused("no \(type)", path(context))
        } catch DecodingError.valueNotFound(let type, let context) {
            return .refused("null for \(type)", path(context))
        } catch DecodingError.dataCorrupted(let context) {
            return .refused("corrupted", path(context))
        } catch {
            return .refused("\(error)", [])
        }
    }

    /// Compares both readers.
    private static func compare<Value: Decodable & Equatable>(_ type: Value.Type, _ text: String) {
        let ours = outcome {
            try JSONTree.decode(
                type, from: JSONReader.read(Array(text.utf8), JSONRules(depth: 64, names: .first)))
        }
        let theirs = outcome { try JSONDecoder().decode(type, from: Data(text.utf8)) }
        // A number that does not fit has no place in Foundation.
        if theirs == .refused("corrupted", []), case .refused("corrupted", _) = ours { return }
        #expect(ours == theirs, "\(type) of \(text)")
    }

    private static let texts: [String] = [
        "null", "true", "0", "-0", "7", "7.0", "7e0", "7.5", "-1", "127", "128", "255", "256",
        "65536", "2147483648", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "0.1", "5e-324", "2.5e-310", "1e3", "1e30",
        "1.7976931348623157e308", "3.5e38", "\"\"", "\"7\"", "\"é\"", "[]", "[1]", "[null]", "[[]]",
        "{}", "{\"a\":1}", "{\"a\":null}", "[1,2.5,null]", "[\"a\",\"b\"]", "[\"a\",1]", "[true]",
        "{\"a\":[1,2]}", "{\"a\":{\"b\":1}}", "{\"b\":\"x\"}",
    ]

    @Test("values of every kind as types of every kind", arguments: texts)
    func kinds(_ text: String) {
        Self.compare(Bool.self, text)
        Self.compare(String.self, text)
        Self.compare(Int.self, text)
        Self.compare(Int8.self, text)
        Self.compare(Int16.self, text)
        Self.compare(Int32.self, text)
        Self.compare(Int64.self, text)
        Self.compare(UInt.self, text)
        Self.compare(UInt8.self, text)
        Self.compare(UInt16.self, text)
        Self.compare(UInt32.self, text)
        Self.compare(UInt64.self, text)
        Self.compare(Double.self, text)
        Self.compare([Int].self, text)
        Self.compare([String].self, text)
        Self.compare([Double?].self, text)
        Self.compare([[String]].self, text)
        Self.compare([Bool].self, text)
        Self.compare([String: Int].self, text)
        Self.compare([String: String].self, text)
        Self.compare([String: [Int]].self, text)
        Self.compare([String: [String: Int]].self, text)
        Self.compare(Int?.self, text)
        Self.compare(Guess.self, text)
        Self.compare(Pair.self, text)
        Self.compare(Fields.self, text)
        Self.compare(Anything.self, text)
        Self.compare(Named.self, text)
        Self.compare([Named].self, text)
        Self.compare(Supers.self, text)
    }

    @Test("what differs on purpose: numbers are exact, and one that is none has a place")
    func numbers() throws {
        func whole(_ text: String) throws -> Int {
            try JSONTree.decode(Int.self, from: .number(text))
        }
        #expect(try whole("9007199254740993.0") == 9_007_199_254_740_993)
        // Foundation takes it for zero.
        #expect(throws: DecodingError.self) { try whole("1e-400") }
        for text in ["NaN", "Infinity", "1e999", "1e-400"] {
            let value = JSONValue.fields([("a", .list([.number(text)]))])
            let found = Self.outcome { try JSONTree.decode([String: [Double]].self, from: value) }
            #expect(found == .refused("corrupted", ["a", "[0]"]))
        }
        // Foundation refuses it.
        #expect(try JSONTree.decode(Double.self, from: .number("0e5")) == 0)
        // A field that is not read is not looked at.
        let value = JSONValue.fields([("a", .number("NaN")), ("count", .integer(2))])
        #expect(try JSONTree.decode(Fields.self, from: value).count == 2)
    }

    @Test("of equal names the first counts, and equal is equal bytes")
    func names() throws {
        let many = "{" + (0..<40).map { "\"k\($0 % 20)\":\($0)" }.joined(separator: ",") + "}"
        Self.compare([String: Int].self, many)
        let rules = JSONRules(depth: 8, names: .all)
        let all = try JSONReader.read(Array(many.utf8), rules)
        let decoded = try JSONTree.decode([String: Int].self, from: all)
        #expect(decoded == Dictionary(uniqueKeysWithValues: (0..<20).map { ("k\($0)", $0) }))
        let twice = try JSONReader.read(Array("{\"caf\u{E9}\":1,\"cafe\u{301}\":2}".utf8), rules)
        #expect(try JSONTree.decode(Keys.self, from: twice).count == 2)
    }

    @Test("damaged objects are taken or refused alike")
    func damaged() {
        let text =
            #"{"name":"x","count":3,"rate":0.5,"flags":[true,false],"inner":{"a":1,"b":[1.5,2]}}"#
        var taken = 0
        for number in 0..<Damage.count(800) {
            var damage = Damage(number: number)
            var bytes = Array(text.utf8)
            damage.change(&bytes, within: bytes.indices)
            let rules = JSONRules(depth: 64, names: .first)
            guard let value = try? JSONReader.read(bytes, rules) else { continue }
            let ours = Self.outcome { try JSONTree.decode(Fields.self, from: value) }
            let theirs = Self.outcome { try JSONDecoder().decode(Fields.self, from: Data(bytes)) }
            let damaged = String(decoding: bytes, as: UTF8.self)
            if theirs == .refused("corrupted", []) {
                if case .refused("corrupted", _) = ours { continue }
                // Foundation takes 0e-5 and -0e5, but not 0e5, which JSON has (RFC 8259, section 6).
                if damaged.contains(/[^0-9.\-]0[eE][0-9]/) { continue }
            }
            #expect(ours == theirs, "\(number): \(damaged)")
            taken += 1
        }
        #expect(taken > 50)
    }
}

// The shapes of the types that are read here and there.

/// As AdapterConfigurationFile's names, layers and initialization: one kind after the other.
private enum Guess: Decodable, Equatable {
    case none
    case text(String)
    case number(Int)
    case list([String])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else {
            do {
                self = .text(try container.decode(String.self))
            } catch DecodingError.typeMismatch {
                do {
                    self = .number(try container.decode(Int.self))
                } catch DecodingError.typeMismatch {
                    self = .list(try container.decode([String].self))
                }
            }
        }
    }
}

/// As a scored piece of a Unigram vocabulary.
private struct Pair: Decodable, Equatable {
    let piece: String
    let score: Double

    init(from decoder: any Decoder) throws {
        var pair = try decoder.unkeyedContainer()
        piece = try pair.decode(String.self)
        score = try pair.decode(Double.self)
    }
}

private struct Fields: Decodable, Equatable {
    var name: String?
    var count: Int?
    var rate: Double?
    var flags: [Bool]?
    var inner: Inner?

    struct Inner: Decodable, Equatable {
        let a: Int
        let b: [Double]
    }
}

/// A value that is not looked at.
private struct Anything: Decodable, Equatable {
    init(from decoder: any Decoder) throws {}
}

/// As an added token's name in tokenizer_config.json.
private struct Named: Decodable, Equatable {
    let name: String

    private enum CodingKeys: String, CodingKey { case content = "a" }

    init(from decoder: any Decoder) throws {
        do {
            name = try decoder.container(keyedBy: CodingKeys.self)
                .decode(String.self, forKey: .content)
        } catch DecodingError.typeMismatch(_, let context)
            where context.codingPath.count == decoder.codingPath.count
        {
            name = try decoder.singleValueContainer().decode(String.self)
        }
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// As the modules of a quantization: each a flag, null or an object.
private struct Supers: Decodable, Equatable {
    var found: [String: String] = [:]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            if let flag = try? container.decode(Bool.self, forKey: key) {
                found[key.stringValue] = "\(flag)"
            } else if try !container.decodeNil(forKey: key) {
                let inner = try container.superDecoder(forKey: key)
                found[key.stringValue] =
                    "\(try inner.container(keyedBy: AnyKey.self).allKeys.count) \(inner.codingPath.count)"
            }
        }
        _ = try container.superDecoder()
    }
}

/// How many keys there are.
private struct Keys: Decodable {
    let count: Int

    init(from decoder: any Decoder) throws {
        count = try decoder.container(keyedBy: AnyKey.self).allKeys.count
    }
}
