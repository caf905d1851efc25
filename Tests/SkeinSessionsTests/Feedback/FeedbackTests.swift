import Foundation
import SkeinSessions
import Testing

@Suite("Feedback")
struct FeedbackTests {
    @Test("All sentiments and categories of issues")
    func cases() {
        #expect(
            LanguageModelFeedback.Sentiment.allCases.map(\.rawValue) == [
                "positive", "negative", "neutral",
            ])
        #expect(
            LanguageModelFeedback.Issue.Category.allCases.map(\.rawValue) == [
                "unhelpful", "tooVerbose", "didNotFollowInstructions", "incorrect",
                "stereotypeOrBias", "suggestiveOrSexual", "vulgarOrOffensive",
                "triggeredGuardrailUnexpectedly",
            ])
        #expect(LanguageModelFeedback.Issue(category: .incorrect).explanation == nil)
    }

    private static func dialogue() -> Transcript {
        Transcript(entries: [
            .instructions(
                Transcript.Instructions(
                    id: "i", segments: SampleTranscript.text("Be\nbrief.", "i1"),
                    toolDefinitions: [])),
            .prompt(Transcript.Prompt(id: "p", segments: SampleTranscript.text("2+2?", "p1"))),
            .response(
                Transcript.Response(
                    id: "r", assetIDs: [], segments: SampleTranscript.text("5", "r1"))),
        ])
    }

    @Test("A record is one line with all keys in alphabetical order")
    func line() throws {
        var record = FeedbackRecord(ratingTheEndOf: Self.dialogue())
        record.sentiment = .negative
        record.issues = [
            LanguageModelFeedback.Issue(category: .incorrect, explanation: "It is 4.\nReally.")
        ]
        record.desiredOutputExamples = [
            [
                .response(
                    Transcript.Response(
                        id: "d", assetIDs: [], segments: SampleTranscript.text("4", "d1")))
            ]
        ]
        record.model = "tiny"
        record.version = "1"
        record.time = Date(timeIntervalSince1970: 1_700_000_000.25)
        let text = String(decoding: try record.data(), as: UTF8.self)
        #expect(
            text
                == [
                    #"{"adapter":null,"desiredOutputExamples":[[{"id":"d","role":"response","#,
                    #""contents":[{"type":"text","text":"4","id":"d1"}],"assets":[]}]],"input":["#,
                    #"{"id":"i","role":"instructions","contents":[{"type":"text","#,
                    #""text":"Be\nbrief.","id":"i1"}]},{"id":"p","role":"user","contents":["#,
                    #"{"type":"text","text":"2+2?","id":"p1"}],"options":{}}],"#,
                    #""instructions":"Be\nbrief.","issues":[{"category":"incorrect","#,
                    #""explanation":"It is 4.\nReally."}],"model":"tiny","output":["#,
                    #"{"id":"r","role":"response","contents":[{"type":"text","text":"5","#,
                    #""id":"r1"}],"assets":[]}],"sentiment":"negative","#,
                    #""time":"2023-11-14T22:13:20.250Z","tools":[],"version":"1"}"#,
                ].joined())
    }

    @Test("A record without anything has all keys, too")
    func empty() throws {
        var record = FeedbackRecord(ratingTheEndOf: Transcript())
        record.version = "1"
        let text = String(decoding: try record.data(), as: UTF8.self)
        #expect(
            text
                == [
                    #"{"adapter":null,"desiredOutputExamples":[],"input":[],"instructions":null,"#,
                    #""issues":[],"model":null,"output":[],"sentiment":null,"time":null,"#,
                    #""tools":[],"version":"1"}"#,
                ].joined())
    }

    @Test("What is rated begins behind the last prompt, tools included")
    func split() throws {
        let transcript = try SampleTranscript.full()
        let record = FeedbackRecord(ratingTheEndOf: transcript)
        #expect(record.input.map(\.id) == ["i", "p"])
        #expect(record.output.map(\.id) == ["t", "c1", "c2", "r"])
        let coded = try #require(
            JSONSerialization.jsonObject(with: record.data()) as? [String: Any])
        #expect(coded["tools"] as? [String] == ["ForecastTool"])
    }

    @Test("The older attachment is written with the same fields")
    func older() throws {
        try (OlderAttachment() as any OlderFeedback).check()
    }
}

private protocol OlderFeedback { func check() throws }

private struct OlderAttachment {}

extension OlderAttachment: OlderFeedback {
    @available(*, deprecated)
    func check() throws {
        let entries = Array(try SampleTranscript.full())
        let attachment = LanguageModelFeedbackAttachment(
            input: Array(entries[..<2]), output: Array(entries[2...]), sentiment: .negative,
            issues: [
                LanguageModelFeedbackAttachment.Issue(category: .incorrect, explanation: "x")
            ],
            desiredOutputExamples: [[entries[5]]])
        let data = try JSONEncoder().encode(attachment)
        let object = try #require(
            JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["sentiment"] as? String == "negative")
        #expect((object["input"] as? [Any])?.count == 2)
        #expect((object["output"] as? [Any])?.count == 4)
        #expect((object["issues"] as? [Any])?.count == 1)
        #expect((object["desiredOutputExamples"] as? [[Any]])?.first?.count == 1)

        let liked = LanguageModelFeedbackAttachment(
            input: [], output: [entries[5]], sentiment: .positive)
        #expect(!(try JSONEncoder().encode(liked)).isEmpty)

        let choice = LanguageModelFeedbackAttachment(
            input: Array(entries[..<2]), outputs: [[entries[5]], [entries[5]]],
            preferredOutputIndex: 1, explanation: "shorter")
        let chosen = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(choice)) as? [String: Any])
        #expect(chosen["preferredOutputIndex"] as? Int == 1)
        #expect(chosen["explanation"] as? String == "shorter")
        #expect((chosen["outputs"] as? [Any])?.count == 2)
    }
}
