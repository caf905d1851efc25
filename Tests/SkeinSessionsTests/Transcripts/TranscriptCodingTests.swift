import Foundation
import SkeinSessions
import SkeinTestSupport
import Testing

@Suite("The coded form of transcripts")
struct TranscriptCodingTests {
    /// The form that facts and samples name, by hand.
    static let golden = [
        #"{"type":"FoundationModels.Transcript","version":1,"transcript":{"entries":["#,
        #"{"id":"i","role":"instructions","contents":[{"type":"text","text":"Be brief.","#,
        #""id":"i1"}],"tools":[{"type":"function","function":{"name":"ForecastTool","#,
        #""description":"Tells tomorrow's weather","parameters":{"title":"Arguments","#,
        #""type":"object","properties":{"town":{"type":"string"}},"required":["town"],"#,
        #""additionalProperties":false,"x-order":["town"]}}}]},"#,
        #"{"id":"p","role":"user","contents":[{"type":"text","text":"Weather in Oslo\nand Rome?","#,
        #""id":"p1"}],"options":{"samplingMode":{"type":"random","top":40,"#,
        #""seed":18446744073709551615},"temperature":0.7,"maximumResponseTokens":100,"#,
        #""toolCallingMode":"required","closesAtLimit":true},"responseFormat":"#,
        #"{"type":"jsonSchema","jsonSchema":{"name":"Forecast","schema":{"title":"Forecast","#,
        #""type":"object","properties":{"town":{"type":"string"},"degrees":{"type":"integer"}},"#,
        #""required":["town","degrees"],"additionalProperties":false,"#,
        #""x-order":["town","degrees"]}}}},"#,
        #"{"id":"t","role":"response","toolCalls":["#,
        #"{"id":"c1","name":"ForecastTool","arguments":"{\"town\":\"Oslo\"}"},"#,
        #"{"id":"c2","name":"ForecastTool","arguments":"{\"town\":\"Rome\"}"}]},"#,
        #"{"id":"c1","role":"tool","toolName":"ForecastTool","toolCallID":"c1","contents":["#,
        #"{"type":"structure","structure":{"source":"Forecast","#,
        #""content":{"town":"Oslo","degrees":-3},"x-order":[["town","degrees"]]},"id":"o1"}]},"#,
        #"{"id":"c2","role":"tool","toolName":"ForecastTool","toolCallID":"c2","contents":["#,
        #"{"type":"text","text":"12 degrees","id":"o2"}]},"#,
        #"{"id":"r","role":"response","contents":[{"type":"structure","structure":"#,
        #"{"source":"Forecast","content":{"town":"Oslo","degrees":-3},"#,
        #""x-order":[["town","degrees"]]},"id":"r1"}],"assets":["tiny","my-adapter"]}]}}"#,
    ].joined()

    @Test("A transcript with one of each kind is written as the golden text")
    func writing() throws {
        let data = try SampleTranscript.full().jsonData()
        #expect(String(decoding: data, as: UTF8.self) == Self.golden)
    }

    @Test("It is read back as the same, from its own text and through Foundation's coders")
    func reading() throws {
        let transcript = try SampleTranscript.full()
        let golden = Data(Self.golden.utf8)
        #expect(try Transcript(jsonData: golden) == transcript)
        #expect(try JSONDecoder().decode(Transcript.self, from: golden) == transcript)
        let coded = try JSONEncoder().encode(transcript)
        let again = try JSONDecoder().decode(Transcript.self, from: coded)
        #expect(again == transcript)
        #expect(try again.jsonData() == golden)
        #expect(try Transcript(jsonData: coded) == transcript)
    }

    @Test("Property lists keep it, too")
    func propertyLists() throws {
        let transcript = try SampleTranscript.full()
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            let data = try encoder.encode(transcript)
            let again = try PropertyListDecoder().decode(Transcript.self, from: data)
            #expect(again == transcript)
            #expect(try again.jsonData() == transcript.jsonData())
        }
    }

    @Test("Keys of structured content keep their order through coders that lose it")
    func order() throws {
        let texts = [
            #"{"b":1,"a":{"z":[{"y":0,"x":1},{"x":2,"y":3}],"k":null},"c":[]}"#,
            #"{"a":{"b":1},"c":[{"d":1}]}"#, "[]", #"[{"b":1,"a":2},{"a":1,"b":2}]"#, "12",
            #""text""#, "null", "true", "1.5", "18446744073709551616", "0.1", "-7",
            #"{"exponent":1,"isCompact":true,"isNegative":false,"length":1,"#
                + #""mantissa":[1,0,0,0,0,0,0,0]}"#,
            "0.12345678901234567890123", "[null,1e-200]", #"{"é":1,"e":2,"":3}"#,
        ]
        for text in texts {
            let transcript = Transcript(entries: [
                .response(
                    Transcript.Response(
                        id: "r", assetIDs: [],
                        segments: [
                            .structure(
                                Transcript.StructuredSegment(
                                    id: "s", source: "X", content: try GeneratedContent(json: text))
                            )
                        ]))
            ])
            let data = try JSONEncoder().encode(transcript)
            let again = try JSONDecoder().decode(Transcript.self, from: data)
            #expect(again.first.map { "\($0)" } == "(Response) \(text)")
            #expect(try again.jsonData() == transcript.jsonData())
        }
    }

    @Test("Content of another program, without an order, is read as it stands")
    func withoutOrder() throws {
        let text = Self.golden.replacing(#","x-order":[["town","degrees"]]"#, with: "")
        let transcript = try Transcript(jsonData: Data(text.utf8))
        #expect(transcript.last?.description == #"(Response) {"town":"Oslo","degrees":-3}"#)
        let sorted = try JSONDecoder().decode(Transcript.self, from: Data(text.utf8))
        #expect(sorted.last?.description == #"(Response) {"degrees":-3,"town":"Oslo"}"#)
        #expect(sorted == transcript)
    }

    @Test("The least of a transcript, and what may be left out")
    func least() throws {
        let head = #"{"type":"FoundationModels.Transcript","version":1.0,"transcript":{"entries":["#
        let empty = try Transcript(jsonData: Data((head + "]}}").utf8))
        #expect(empty.isEmpty)
        let entries =
            #"{"id":"p","role":"user","contents":[]},"#
            + #"{"id":"t","role":"response","toolCalls":[],"contents":[],"assets":[]},"#
            + #"{"id":"r","role":"response","contents":[]}"#
        let least = try Transcript(jsonData: Data((head + entries + "]}}").utf8))
        #expect(least.map(\.id) == ["p", "t", "r"])
    }

    static let changes: [(from: String, to: String, error: TranscriptError)] = [
        (
            "FoundationModels.Transcript", "Other.Transcript",
            .unknownType(found: "Other.Transcript", expected: "FoundationModels.Transcript")
        ),
        (#""version":1"#, #""version":2"#, .newerVersion(found: "2", supported: 1)),
        (#""version":1"#, #""version":"1.1""#, .newerVersion(found: "1.1", supported: 1)),
        (#""version":1"#, #""version":0"#, .wrongValue(place: "version", expected: "1")),
        (#""version":1,"#, "", .missingKey(name: "version", place: "")),
        (#""version":1"#, #""version":1,"x":1"#, .unknownKey(name: "x", place: "")),
        (
            #""role":"instructions""#, #""role":"instructions","mood":"x""#,
            .unknownKey(name: "mood", place: "transcript.entries[0]")
        ),
        (
            #""temperature":0.7"#, #""temprature":0.7"#,
            .unknownKey(name: "temprature", place: "transcript.entries[1].options")
        ),
        (
            #""temperature":0.7"#, #""temperature":-0.7"#,
            .wrongValue(
                place: "transcript.entries[1].options",
                expected: "in its range: temperature is -0.7")
        ),
        (
            #""role":"user""#, #""role":"assistant""#,
            .wrongValue(
                place: "transcript.entries[1].role",
                expected: "instructions, user, response or tool")
        ),
        (
            #","role":"user""#, "",
            .missingKey(name: "role", place: "transcript.entries[1]")
        ),
        (
            #""text":"Be brief.""#, #""text":7"#,
            .wrongValue(place: "transcript.entries[0].contents[0].text", expected: "a string")
        ),
        (
            #""type":"text","text":"Be brief.""#, #""type":"image","text":"Be brief.""#,
            .wrongValue(
                place: "transcript.entries[0].contents[0].type", expected: "text or structure")
        ),
        (
            #""{\"town\":\"Oslo\"}""#, #""{\"town\":\"Os""#,
            .wrongValue(
                place: "transcript.entries[2].toolCalls[0].arguments", expected: "JSON as text")
        ),
        (
            #""parameters":{"#, #""parameters":7,"parametres":{"#,
            .unknownKey(name: "parametres", place: "transcript.entries[0].tools[0].function")
        ),
        (
            #""x-order":[["town","degrees"]]}"#, #""x-order":[["town","town"]]}"#,
            .wrongValue(
                place: "transcript.entries[3].contents[0].structure.x-order",
                expected: "the keys of content")
        ),
        (
            #""x-order":[["town","degrees"]]}"#, #""x-order":[["town","degrees"],[]]}"#,
            .wrongValue(
                place: "transcript.entries[3].contents[0].structure.x-order",
                expected: "the keys of content")
        ),
        (
            #""x-order":[["town","degrees"]]}"#, #""x-order":"town"}"#,
            .wrongValue(
                place: "transcript.entries[3].contents[0].structure.x-order",
                expected: "the keys of content")
        ),
        (#""id":"r","#, #""id":"p","#, .duplicateID(id: "p", entry: 5)),
        (#""id":"c2","name""#, #""id":"c1","name""#, .duplicateID(id: "c1", entry: 2)),
        (
            #""toolCallID":"c2""#, #""toolCallID":"c3""#,
            .outputWithoutCall(toolName: "ForecastTool", entry: 4)
        ),
        (
            #""assets":["tiny","#, #""assets":[1,"#,
            .wrongValue(place: "transcript.entries[5].assets[0]", expected: "a string")
        ),
    ]

    @Test("What is not the coded form is an error that says where")
    func strictness() throws {
        for (from, to, error) in Self.changes {
            let place = try #require(Self.golden.range(of: from), "\(from)")
            let text = Self.golden.replacingCharacters(in: place, with: to)
            #expect(throws: error) { try Transcript(jsonData: Data(text.utf8)) }
            #expect(throws: error) {
                try JSONDecoder().decode(Transcript.self, from: Data(text.utf8))
            }
        }
        let newer = TranscriptError.newerVersion(found: "2", supported: 1)
        #expect(newer.errorDescription == "version: the version is 2, and this library reads 1")
        #expect(
            newer.recoverySuggestion
                == "read it with a newer release, or store it again with this one")
    }

    @Test("Text that is no JSON, keys that are there twice, and what is too deep or too large")
    func malformed() throws {
        func error(_ text: String) -> TranscriptError? {
            do {
                _ = try Transcript(jsonData: Data(text.utf8))
                return nil
            } catch {
                return error as? TranscriptError
            }
        }
        #expect(error("") == .malformed(offset: 0))
        #expect(error("{") == .malformed(offset: 1))
        #expect(error("[]") == .wrongValue(place: "", expected: "an object"))
        let twice = Self.golden.replacing(#""version":1"#, with: #""version":1,"version":1"#)
        guard case .malformed = error(twice) else {
            Issue.record("a key that is there twice was taken")
            return
        }
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        #expect(error(deep) == .tooDeep(limit: 128))
        let large = Data(repeating: 0x20, count: (1 << 26) + 1)
        #expect(throws: TranscriptError.tooLarge(bytes: (1 << 26) + 1, limit: 1 << 26)) {
            try Transcript(jsonData: large)
        }
    }

    @Test("There is a limit on entries")
    func entryLimit() {
        let entry = "0,"
        let count = (1 << 17) + 1
        let text =
            #"{"type":"FoundationModels.Transcript","version":1,"transcript":{"entries":["#
            + String(repeating: entry, count: count - 1) + "0]}}"
        #expect(throws: TranscriptError.tooManyEntries(found: count, limit: 1 << 17)) {
            try Transcript(jsonData: Data(text.utf8))
        }
    }

    @Test("What could not be read again is not written")
    func unwritable() throws {
        func nested(_ depth: Int) throws -> Transcript {
            let text =
                String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let segment = Transcript.StructuredSegment(
                source: "X", content: try GeneratedContent(json: text))
            return Transcript(entries: [
                .response(Transcript.Response(assetIDs: [], segments: [.structure(segment)]))
            ])
        }
        // Seven levels stand around a content.
        let deepest = try nested(121)
        #expect(try Transcript(jsonData: deepest.jsonData()) == deepest)
        let coded = try JSONEncoder().encode(deepest)
        #expect(try JSONDecoder().decode(Transcript.self, from: coded) == deepest)
        let tooDeep = try nested(122)
        #expect(throws: TranscriptError.tooDeep(limit: 128)) { try tooDeep.jsonData() }
        let options = GenerationOptions(maximumResponseTokens: 0)
        let wrong = Transcript(entries: [
            .prompt(Transcript.Prompt(segments: [], options: options))
        ])
        #expect(throws: OptionsError.maximumResponseTokens(0)) { try wrong.jsonData() }
    }

    @Test("Damaged text is a typed error or a value that is written and read again")
    func damage() throws {
        let golden = Array(Self.golden.utf8)
        var values = 0
        for number in 0..<Damage.count(300) {
            var damage = Damage(number: number)
            var bytes = golden
            // The first one is as it was.
            if number > 0 { damage.change(&bytes, within: 0..<bytes.count) }
            let note: Comment = "SKEIN_TEST_SEED=\(Damage.seed), number \(number)"
            do {
                let transcript = try Transcript(jsonData: Data(bytes))
                values += 1
                let again = try Transcript(jsonData: transcript.jsonData())
                #expect(again == transcript, note)
                #expect("\(again)" == "\(transcript)", note)
            } catch {
                #expect(error is TranscriptError, note)
            }
            // Foundation's decoder takes other texts as JSON, and must not take the reader down.
            _ = try? JSONDecoder().decode(Transcript.self, from: Data(bytes))
        }
        #expect(values > 0)
    }

    @Test("Whole numbers of the options keep all their bits")
    func wholeNumbers() throws {
        for number in [1, (1 << 53) + 1, Int.max] {
            let transcript = Transcript(entries: [
                .prompt(.init(segments: [], options: .init(maximumResponseTokens: number)))
            ])
            #expect(try Transcript(jsonData: transcript.jsonData()) == transcript)
        }
    }
}
