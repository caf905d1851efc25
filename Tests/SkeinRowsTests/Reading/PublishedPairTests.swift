import Foundation
import SkeinJSON
import SkeinText
import Testing

@testable import SkeinRows

/// Pairs in the chat templates that trl and llama.cpp ship: what is learned is what transformers
/// renders after the prompt for an answer. Scripts/check-templates makes the file.
@Suite(.enabled(if: PublishedPairs.path != nil, "needs SKEIN_TEST_TEMPLATES"))
struct PublishedPairTests {
    @Test(
        "a pair is the conversation of its two turns, after the prompt for an answer or with a remark"
    )
    func pairs() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: try #require(PublishedPairs.path)))
        let file = try JSONValue(parsing: data)
        let ends = try #require(file["ends"]?.list).compactMap(\.string) + ["<end>"]
        let tokens = TemplateTokens(begin: "<s>", end: "</s>")
        let toy = TemplateTokenizer(ends: ends)
        var (learned, warned): (Set<String>, Set<String>) = ([], [])
        for entry in try #require(file["templates"]?.list) {
            let name = try #require(entry["name"]?.string)
            for given in try #require(entry["pairs"]?.list) where given != .null {
                let text = try toy.encoder(
                    try #require(entry["template"]?.string), tokens: tokens,
                    arguments: ["pad_token": "<pad>", "unk_token": "<unk>"].map {
                        JSONField(name: $0.key, value: .text($0.value))
                    } + (given["arguments"]?.fields ?? []))
                let encoder = try RowEncoder(
                    encoder: text, format: .chat, trainedTurns: .all, maximumLength: 1 << 20)
                let pair = PairRow.pair(prompt: "What is 2+2?", completion: "It is 4.")
                let turns = PairRow.conversation([
                    ChatTurn(role: "user", content: "What is 2+2?"),
                    ChatTurn(role: "assistant", content: "It is 4."),
                ])
                let drafts: [RowEncoder.Draft]
                do {
                    drafts = try encoder.drafts(pair)
                } catch let error as RowError {
                    // Nothing of the answer was written, or no token of this list ends it.
                    #expect(given["trained"] == nil, "\(name): \(error)")
                    continue
                }
                let whole = try encoder.drafts(turns)
                #expect(drafts.map(\.ids) == whole.map(\.ids), "\(name)")
                #expect(drafts.map(\.targets) == whole.map(\.targets), "\(name)")
                let draft = try #require(drafts.first)
                if draft.remarks.contains(.otherPrompt) {
                    #expect(given["trained"] == nil, "\(name)")
                    warned.insert(name)
                    continue
                }
                let expected = given["trained"]?.string
                let target = try #require(draft.targets.first, "\(name)")
                let said = text.decode(
                    Array(draft.ids[target.lowerBound..<(draft.targets.last?.upperBound ?? 0)]))
                let before = text.decode(Array(draft.ids[..<target.lowerBound]))
                // A template with a generation block says itself where the turn begins.
                let all = before + said
                if let expected, let prompt = given["prompt"]?.string {
                    #expect(all.hasPrefix(prompt + expected) || all == prompt + expected, "\(name)")
                    learned.insert(name)
                }
            }
        }
        #expect(learned.count > 1)
        print(
            "pairs: \(learned.count) templates learn after the prompt, \(warned.count) warn: "
                + warned.sorted().joined(separator: ", "))
    }
}

private enum PublishedPairs {
    static let path = ProcessInfo.processInfo.environment["SKEIN_TEST_TEMPLATES"]
}
