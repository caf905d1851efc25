import Foundation
import SkeinBasics
import SkeinGrammar
import SkeinJSON

/// One line of a feedback report: what was asked, what came, and what a person thinks of it.
///
/// The keys stand in alphabetical order and are always there, with null where there is nothing:
/// `adapter`, `desiredOutputExamples`, `input`, `instructions`, `issues`, `model`, `output`,
/// `sentiment`, `time`, `tools`, `version`. Entries stand in the coded form of transcripts.
package struct FeedbackRecord: Sendable {
    /// All entries before the rated ones.
    package var input: [Transcript.Entry]
    /// The rated entries.
    package var output: [Transcript.Entry]
    package var sentiment: LanguageModelFeedback.Sentiment?
    package var issues: [LanguageModelFeedback.Issue] = []
    /// Better outputs, each as its entries.
    package var desiredOutputExamples: [[Transcript.Entry]] = []
    /// The base model's name.
    package var model: String?
    /// The adapter's name.
    package var adapter: String?
    package var version = Version.text
    package var time: Date?

    package init(input: [Transcript.Entry], output: [Transcript.Entry]) {
        self.input = input
        self.output = output
    }

    /// The record of a transcript's last answer: the input ends with the last prompt.
    package init(ratingTheEndOf transcript: Transcript) {
        let prompt = transcript.lastIndex { entry in
            if case .prompt = entry { return true }
            return false
        }
        let end = prompt.map { $0 + 1 } ?? 0
        self.init(input: Array(transcript[..<end]), output: Array(transcript[end...]))
    }

    /// JSON on one line, without the line's end.
    ///
    /// - Throws: `OptionsError`, `TranscriptError`; what a schema throws that cannot be coded.
    package func data() throws -> Data { Data(try coded().written.utf8) }

    func coded() throws -> JSONValue {
        let instructions = input.lazy.compactMap(\.instructions).first
        return .object([
            JSONField("adapter", .text(adapter)),
            JSONField(
                "desiredOutputExamples", .list(try desiredOutputExamples.map(Self.coded))),
            JSONField("input", try Self.coded(input)),
            JSONField("instructions", .text(instructions?.segments.text)),
            JSONField("issues", .list(issues.map(Self.coded))),
            JSONField("model", .text(model)),
            JSONField("output", try Self.coded(output)),
            JSONField("sentiment", .text(sentiment?.rawValue)),
            JSONField("time", .text(time.map(timestamp))),
            JSONField(
                "tools", .list(instructions?.toolDefinitions.map { .text($0.name) } ?? [])),
            JSONField("version", .text(version)),
        ])
    }

    static func coded(_ entries: [Transcript.Entry]) throws -> JSONValue {
        .list(try entries.map { try TranscriptWriter.coded($0) })
    }

    private static func coded(_ issue: LanguageModelFeedback.Issue) -> JSONValue {
        .object([
            JSONField("category", .text(issue.category.rawValue)),
            JSONField("explanation", .text(issue.explanation)),
        ])
    }
}

extension JSONValue {
    /// A text, or null.
    static func text(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
}

extension Transcript.Entry {
    fileprivate var instructions: Transcript.Instructions? {
        if case .instructions(let instructions) = self { return instructions }
        return nil
    }
}
