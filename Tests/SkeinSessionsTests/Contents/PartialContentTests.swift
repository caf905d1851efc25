import SkeinTestSupport
import Testing

@testable import SkeinSessions

@Suite("Contents that are not complete")
struct PartialContentTests {
    @Test("every beginning of a text is a partial content, and those only grow")
    func prefixes() throws {
        var count = 0
        for seed in UInt64(0)..<1000 {
            var random = TestRandom(state: seed)
            let text = RandomJSON.text(using: &random)
            let bytes = Array(text.utf8)
            let id = GenerationID()
            let whole = try GeneratedContent(json: bytes, id: id, isWhole: true)
            #expect(whole.isComplete, "seed \(seed): \(text)")
            let end = bytes.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
            var last = try GeneratedContent(json: bytes.prefix(0), id: id, isWhole: false)
            for length in 0...bytes.count {
                let partial = try GeneratedContent(
                    json: bytes.prefix(length), id: id, isWhole: false)
                count += 1
                #expect(partial.isComplete == (length > end), "seed \(seed), \(length): \(text)")
                #expect(
                    Growth.holds(from: last, to: partial), "seed \(seed), \(length): \(text)")
                last = partial
            }
            #expect(Growth.holds(from: last, to: whole) && last == whole)
        }
        #expect(count > 50_000)
    }

    @Test(
        "what there is when a text ends early",
        arguments: [
            ("", "null"), ("  ", "null"), ("{", "{}"), ("[", "[]"), ("\"", "\"\""),
            ("\"ab", "\"ab\""), ("\"ab\\", "\"ab\""), ("\"ab\\n", "\"ab\\n\""),
            ("\"ab\\u00", "\"ab\""), ("\"\\ud83d", "\"\""), ("\"\\ud83d\\ude0", "\"\""),
            ("tru", "null"), ("-", "null"), ("1.", "null"), ("1e", "null"), ("1e+", "null"),
            ("[1", "[]"), ("[1,", "[1]"), ("[1,2", "[1]"), ("[tru", "[]"), ("[true", "[true]"),
            ("[true ", "[true]"), ("{\"a", "{}"), ("{\"a\"", "{}"), ("{\"a\":", "{}"),
            ("{\"a\":\"", "{\"a\":\"\"}"), ("{\"a\":[{\"b\":\"c", "{\"a\":[{\"b\":\"c\"}]}"),
            ("{\"a\":1", "{}"), ("{\"a\":1,", "{\"a\":1}"), ("{\"a\":1.5e3 ", "{\"a\":1.5e3}"),
        ])
    func early(_ text: String, _ expected: String) throws {
        let content = try GeneratedContent(json: text)
        #expect(content.jsonString == expected)
        #expect(!content.isComplete)
    }

    @Test("a number is complete at the end of the whole text only")
    func numbers() throws {
        #expect(try GeneratedContent(json: "12").isComplete)
        let partial = try GeneratedContent(json: Array("12".utf8), id: nil, isWhole: false)
        #expect(!partial.isComplete && partial.kind == .null)
    }

    @Test("a character whose bytes are still to come is left out")
    func characters() throws {
        let bytes = Array("\"a😀\"".utf8)
        for length in 3...5 {
            let content = try GeneratedContent(
                json: bytes.prefix(length), id: nil, isWhole: false)
            #expect(content.kind == .string("a"))
        }
        #expect(
            throws: GeneratedContentError.malformedText(offset: 0),
            performing: { try GeneratedContent(json: [0x22, 0xFF], id: nil, isWhole: false) })
        #expect(
            throws: GeneratedContentError.malformedText(offset: 0),
            performing: { try GeneratedContent(json: [0x22, 0xC3, 0x22], id: nil, isWhole: true) })
    }

    @Test("a partial type has its properties as they begin, and enums once they are certain")
    func partialTypes() throws {
        let text = #"{"title":"Rome","mood":"goodEnough","stops":[{"title":"Forum","stops":[]}]}"#
        let bytes = Array(text.utf8)
        let id = GenerationID()
        var titles: [String?] = []
        var moods: [Mood?] = []
        var stops: [Set<GenerationID>] = []
        for length in 0...bytes.count {
            let content = try GeneratedContent(json: bytes.prefix(length), id: id, isWhole: false)
            let trip = try Trip.PartiallyGenerated(content)
            #expect(trip.id == id)
            if titles.last != trip.title { titles.append(trip.title) }
            if moods.last != trip.mood { moods.append(trip.mood) }
            stops.append(Set(trip.stops?.map(\.id) ?? []))
        }
        #expect(titles == [nil, "", "R", "Ro", "Rom", "Rome"])
        #expect(moods == [nil, .goodEnough])
        #expect(stops.reduce(into: Set()) { $0.formUnion($1) }.count == 1)
        #expect(stops.last?.count == 1)
        let whole = try GeneratedContent(json: bytes, id: id, isWhole: true)
        #expect(try Trip(whole).stops.first?.title == "Forum")
    }

    @Test("a value is nil while it is unfinished, and an error when it is complete and wrong")
    func unfinished() throws {
        let partial = try GeneratedContent(json: #"{"shape":{"type":"circle""#)
        let none: Shape? = try partial.value(forProperty: "shape")
        #expect(none == nil)
        let complete = try GeneratedContent(json: #"{"shape":{"type":"circle"}}"#)
        #expect(
            throws: GeneratedContentError.missingProperty(path: "shape.radius"),
            performing: {
                let shape: Shape? = try complete.value(forProperty: "shape")
                return shape
            })
        let mood = try GeneratedContent(json: #"["good","good"#)
        #expect(try [Mood](mood) == [.good])
        #expect(try [String](mood) == ["good", "good"])
        #expect(try mood.valueSoFar(Mood.self) == nil)
    }
}

/// Whether a snapshot may follow another one.
enum Growth {
    static func holds(from a: GeneratedContent, to b: GeneratedContent) -> Bool {
        // Who has been seen stays who it is.
        guard a.id == b.id else { return false }
        if a.isComplete { return a == b && sameIDs(a, b) }
        switch (a.kind, b.kind) {
        case (.null, _): return true
        case (.string(let a), .string(let b)):
            return b.unicodeScalars.starts(with: a.unicodeScalars)
        case (.array(let a), .array(let b)):
            return a.count <= b.count && zip(a, b).allSatisfy { holds(from: $0, to: $1) }
        case (.structure(let a, let first), .structure(let b, let second)):
            guard second.starts(with: first) else { return false }
            return first.allSatisfy { key in
                guard let old = a[key], let new = b[key] else { return false }
                return holds(from: old, to: new)
            }
        default: return false
        }
    }

    private static func sameIDs(_ a: GeneratedContent, _ b: GeneratedContent) -> Bool {
        guard a.id == b.id else { return false }
        switch (a.kind, b.kind) {
        case (.array(let a), .array(let b)): return zip(a, b).allSatisfy(sameIDs)
        case (.structure(let a, _), .structure(let b, _)):
            return a.allSatisfy { key, value in b[key].map { sameIDs(value, $0) } ?? false }
        default: return true
        }
    }
}
