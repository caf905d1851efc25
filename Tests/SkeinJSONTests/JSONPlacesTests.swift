import SkeinJSON
import SkeinTestSupport
import Testing

@Suite("Values are found without being made")
struct JSONPlacesTests {
    private static let rules = JSONRules(depth: 64, names: .all)

    private static func members(_ text: [UInt8]) throws -> [(name: String, value: [UInt8])]? {
        try text.withUnsafeBytes { bytes in
            try JSONReader.members(of: bytes, rules)?.map {
                (try JSONReader.string(bytes, $0.name), Array(bytes[$0.value]))
            }
        }
    }

    private static func skip(_ bytes: [UInt8], from start: Int = 0) throws -> Int {
        try bytes.withUnsafeBufferPointer { try JSONReader.skip($0, from: start, rules) }
    }

    @Test("members and skipped values are those of the whole, also where it is damaged")
    func whole() throws {
        var objects = 0
        for seed in Damage.seeds(1500) {
            var random = TestRandom(state: seed)
            let bytes =
                seed % 2 == 0
                ? Array(RandomJSON.text(using: &random).utf8) : RandomJSON.damaged(using: &random)
            let value: JSONValue
            do {
                value = try JSONReader.read(bytes, Self.rules)
            } catch {
                // Neither looks at UTF-8; a value that is skipped may have others after it.
                if case .notUTF8 = error.kind { continue }
                if error.kind == .malformed(.nothing) {
                    #expect(try Self.skip(bytes) <= error.offset)
                } else {
                    #expect(throws: error) { try Self.skip(bytes) }
                }
                #expect(throws: error) { try Self.members(bytes) }
                continue
            }
            let end = bytes.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
            #expect(try Self.skip(bytes) == end + 1)
            let members = try Self.members(bytes)
            #expect(members?.map(\.name) == value.fields?.map(\.name))
            for (member, field) in zip(members ?? [], value.fields ?? []) {
                #expect(try JSONReader.read(member.value, Self.rules) == field.value)
                #expect(try Self.skip([0x20] + member.value + [0x2C]) == member.value.count + 1)
            }
            objects += members == nil ? 0 : 1
        }
        #expect(objects > 100)
    }

    @Test("members keep their spelling")
    func spelling() throws {
        let text = #"{ "a" : 1.50 , "b\u0062":[ 1,{} ] ,"a":"x\/" , "":null,"c":{"a":1}}"#
        let members = try #require(try Self.members(Array(text.utf8)))
        #expect(members.map(\.name) == ["a", "bb", "a", "", "c"])
        let values = members.map { String(decoding: $0.value, as: UTF8.self) }
        #expect(values == ["1.50", "[ 1,{} ]", #""x\/""#, "null", #"{"a":1}"#])
        #expect(try Self.members(Array("[{\"a\":1}]".utf8)) == nil)
        #expect(try Self.members(Array(" 1".utf8)) == nil)
    }
}
