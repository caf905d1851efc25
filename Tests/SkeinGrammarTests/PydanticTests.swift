import Foundation
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinGrammar

/// The schemas of Pydantic's ordinary types, with values that its validators take and refuse: made by
/// Tests/Fixtures/grammar/pydantic-types.py.
@Suite("Schemas that Pydantic writes")
struct PydanticTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let schema: [UInt8]
        let good: [String]
        let bad: [String]

        var testDescription: String { name }
    }

    static func rows() throws -> [Row] {
        let path = TestPaths.fixture("grammar/pydantic-types.json")
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try GrammarJSON.read([UInt8](data)).list.map { rows in
            rows.map { row in
                Row(
                    name: row["name"]?.string ?? "",
                    schema: Array((row["schema"] ?? .null).written.utf8),
                    good: row["good"]?.list?.compactMap(\.string) ?? [],
                    bad: row["bad"]?.list?.compactMap(\.string) ?? [])
            }
        } ?? []
    }

    /// What is left out of each, and what of that is an error where nothing is: the rest is held.
    static let dropped: [String: [String]] = [
        "PostgresDsn": ["/format"],
        "Set[int]": ["/uniqueItems"],
        "Path": ["/format"],
        "FilePath": ["/format"],
        "Base64Bytes": ["/format"],
        "Pattern": ["/format"],
        "Decimal of 5 digits": ["/anyOf/1/pattern"],
        "NameEmail": ["/format"],
        "IPvAnyAddress": ["/format"],
        "IPv4Network": ["/format"],
        "UUID4": ["/format"],
        "model": ["/properties/tags/uniqueItems"],
    ]

    @Test("leave out what cannot be held, by itself, and hold the rest")
    func lenient() throws {
        let rows = try Self.rows()
        #expect(rows.count > 40)
        for row in rows {
            let grammar = try CompiledGrammar(
                schema: row.schema, mode: .lenient, Vocabularies.bytes)
            let expected = Self.dropped[row.name] ?? []
            #expect(Set(grammar.dropped.map(\.pointer)) == Set(expected), "\(row.name)")
            #expect(grammar.droppedCount == expected.count, "\(row.name)")
            for text in row.good {
                #expect(try Self.isWritten(text, grammar), "\(row.name): \(text.prefix(80))")
            }
            for text in row.bad {
                #expect(try !Self.isWritten(text, grammar), "\(row.name): \(text.prefix(80))")
            }
        }
    }

    @Test("are refused in the strict mode for the first of what would be left out")
    func strict() throws {
        for row in try Self.rows() {
            let expected = Self.dropped[row.name] ?? []
            do {
                let grammar = try CompiledGrammar(schema: row.schema, Vocabularies.bytes)
                #expect(expected.isEmpty && grammar.dropped.isEmpty, "\(row.name)")
            } catch {
                #expect(expected.contains(error.pointer ?? ""), "\(row.name): \(error)")
            }
        }
    }

    @Test("never end in a value that the rest of the schema forbids")
    func random() throws {
        for row in try Self.rows() where !row.name.hasPrefix("500") {
            let grammar = try CompiledGrammar(
                schema: row.schema, mode: .lenient, Vocabularies.bytes)
            let document = SchemaDocument(try GrammarJSON.read(row.schema))
            let schemas = SchemaAlternatives(document, mode: .lenient)
            // What was left out is not checked either: uniqueItems is, as it is known.
            guard !grammar.dropped.contains(where: { $0.keyword == "uniqueItems" }) else {
                continue
            }
            for seed in 0..<12 {
                var random = TestRandom(state: UInt64(seed))
                var matcher = try GrammarMatcher(grammar, limit: 120 + 10 * seed)
                let text = try matcher.write(with: &random)
                let value = try JSONReader.read(
                    Array(text.utf8), JSONRules(depth: 128, names: .last))
                let isValid = try SchemaCheck(schemas: schemas).accepts(value, [document.whole])
                #expect(isValid, "\(row.name), seed \(seed): \(text)")
            }
        }
    }

    /// Byte by byte.
    private static func isWritten(_ text: String, _ grammar: CompiledGrammar) throws -> Bool {
        guard var matcher = try? GrammarMatcher(grammar, limit: text.utf8.count + 3_000) else {
            return false
        }
        for byte in text.utf8 {
            guard try matcher.allows(Int32(byte)) else { return false }
            try matcher.accept(Int32(byte))
        }
        return try matcher.isComplete()
    }
}
