import SkeinTestSupport
import Testing

@testable import SkeinSessions

@Suite("Contents from JSON")
struct ContentReaderTests {
    @Test("a text that no JSON begins with is an error with its place")
    func malformed() {
        for (text, error) in [
            ("x", .malformedJSON(offset: 0)), ("[1 2]", .malformedJSON(offset: 3)),
            ("{} {}", .malformedJSON(offset: 3)), ("NaN", .malformedJSON(offset: 0)),
            ("\"a\\udc00\"", .malformedText(offset: 2)),
            ("\"\\ud800\\u0041\"", .malformedText(offset: 1)),
        ] as [(String, GeneratedContentError)] {
            #expect(throws: error, performing: { try GeneratedContent(json: text) })
        }
        #expect(
            throws: GeneratedContentError.malformedText(offset: 1),
            performing: { try GeneratedContent(json: [0x5B, 0x22, 0xFF], id: nil, isWhole: false) })
    }

    @Test("arrays and objects are nested 256 deep, not more")
    func depth() throws {
        let deep = String(repeating: "[", count: 256) + String(repeating: "]", count: 256)
        let content = try GeneratedContent(json: deep)
        #expect(content.jsonString == deep)
        #expect(content == content)
        #expect(
            throws: GeneratedContentError.tooDeep(limit: 256),
            performing: { try GeneratedContent(json: "[" + deep) })
        #expect(
            throws: GeneratedContentError.tooDeep(limit: 256),
            performing: { try GeneratedContent(json: String(repeating: "{\"a\":", count: 300)) })
    }

    @Test("a text of more than 16 MiB is refused")
    func size() {
        #expect(
            throws: GeneratedContentError.tooLong(limit: 16 << 20),
            performing: { try GeneratedContent(json: String(repeating: " ", count: 16 << 20 + 1)) })
    }

    @Test("keys keep their order; of two of one name the last value counts, at the first place")
    func order() throws {
        let text = #"{"z":1,"a":2,"m":{"y":[],"b":null},"z":3}"#
        let content = try GeneratedContent(json: text)
        #expect(content.jsonString == #"{"z":3,"a":2,"m":{"y":[],"b":null}}"#)
        guard case .structure(_, let keys) = content.kind else {
            Issue.record("no structure")
            return
        }
        #expect(keys == ["z", "a", "m"])
    }

    @Test("whole texts survive reading and writing", arguments: UInt64(0)..<200)
    func roundTrip(seed: UInt64) throws {
        var random = TestRandom(state: seed)
        let content = try GeneratedContent(json: RandomJSON.text(using: &random))
        let again = try GeneratedContent(json: content.jsonString)
        #expect(again == content, "seed \(seed)")
        #expect(again.jsonString == content.jsonString, "seed \(seed)")
    }

    @Test("values as deep as a text may be are converted both ways")
    func deepValues() throws {
        var text = #"{"title":"x","stops":[]}"#
        for _ in 0..<126 { text = #"{"title":"x","stops":["# + text + "]}" }
        let trip = try Trip(GeneratedContent(json: text))
        #expect(trip.generatedContent.jsonString == text)
        #expect(trip.asPartiallyGenerated().stops?.count == 1)
        let partial = try Trip.PartiallyGenerated(
            GeneratedContent(json: String(text.dropLast(200))))
        #expect(partial.stops?.first?.title == "x")
    }

    @Test("errors say what, where and how to mend it")
    func explained() {
        let error = GeneratedContentError.wrongKind(
            path: "days[1].title", expected: "a string", found: "a number")
        #expect(
            error.errorDescription == "days[1].title: a string was expected, and there is a number")
        #expect(error.recoverySuggestion?.isEmpty == false)
        #expect(
            GeneratedContentError.malformedJSON(offset: 7).errorDescription
                == "byte 7: the text is not JSON")
    }
}
