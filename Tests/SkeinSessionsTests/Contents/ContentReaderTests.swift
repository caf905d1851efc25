import SkeinGrammar
import SkeinTestSupport
import Testing

@testable import SkeinSessions

@Suite("Contents from JSON")
struct ContentReaderTests {
    @Test(
        "a text that no JSON begins with is an error with its place",
        arguments: [
            ("x", 0), ("[1 2]", 3), ("[1,]", 3), ("{\"a\" 1}", 5), ("{a:1}", 1), ("{\"a\":1,}", 7),
            ("01", 1), ("-x", 1), (".5", 0), ("+1", 0), ("1.x", 2), ("1ex", 2), ("trux", 3),
            ("nul ", 3), ("\"a\nb\"", 2), ("\"\\x\"", 2), ("\"\\u12g4\"", 5), ("1 2", 2),
            ("{} {}", 3), ("]", 0), ("[}", 1), ("{]", 1), ("{\"a\":}", 5), ("'a'", 0), ("NaN", 0),
        ])
    func malformed(_ text: String, _ offset: Int) {
        #expect(
            throws: GeneratedContentError.malformedJSON(offset: offset),
            performing: { try GeneratedContent(json: text) })
    }

    @Test(
        "half of a surrogate pair is an error with its place",
        arguments: [
            ("\"a\\udc00\"", 2), ("\"\\ud800\"", 1), ("\"\\ud800a\"", 1),
            ("\"\\ud800\\u0041\"", 1),
        ])
    func surrogates(_ text: String, _ offset: Int) {
        #expect(
            throws: GeneratedContentError.malformedText(offset: offset),
            performing: { try GeneratedContent(json: text) })
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

    @Test(
        "a damaged text is read as a strict reader reads it, and the place is where it goes wrong")
    func damaged() throws {
        var refused = 0
        for seed in UInt64(0)..<3000 {
            var random = TestRandom(state: seed)
            let bytes = RandomJSON.damaged(using: &random)
            let isValid = (try? GrammarJSON.read(bytes, takesLast: true)) != nil
            do {
                let content = try GeneratedContent(json: bytes, id: nil, isWhole: true)
                #expect(content.isComplete == isValid, "seed \(seed): \(bytes)")
            } catch GeneratedContentError.malformedJSON(let offset) {
                refused += 1
                #expect(!isValid && offset < bytes.count, "seed \(seed)")
                do {
                    _ = try GeneratedContent(
                        json: bytes.prefix(offset), id: nil, isWhole: false)
                } catch GeneratedContentError.malformedText {
                    // What is no text shows when its string ends.
                    continue
                }
                #expect(
                    throws: GeneratedContentError.malformedJSON(offset: offset), "seed \(seed)",
                    performing: {
                        try GeneratedContent(
                            json: bytes.prefix(offset + 1), id: nil, isWhole: false)
                    })
            } catch GeneratedContentError.malformedText(let offset) {
                refused += 1
                #expect(!isValid && offset < bytes.count, "seed \(seed)")
            }
        }
        #expect(refused > 1000)
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
