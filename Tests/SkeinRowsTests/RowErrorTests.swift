import SkeinBasics
import SkeinText
import Testing

@testable import SkeinRows

@Suite struct RowErrorTests {
    static let all: [RowError] = [
        .badLine(path: "d.jsonl", line: 3, problem: .notUTF8),
        .dataFileTooLarge(path: "d", bytes: 2, limit: 1), .tooManyRows(path: "d", limit: 1),
        .noRows(path: "d", badLines: 0), .noTrainingFile(directory: "d"),
        .noTrainingFile(directory: "d", isModel: true),
        .folderToEvaluate(directory: "d", option: "data", files: ["d/valid.jsonl"]),
        .severalDataFiles(directory: "d", names: ["train.csv", "train.jsonl"]),
        .savedDataset(directory: "d"), .badShards(directory: "d", names: ["train-00000-of-00002"]),
        .badDataList(option: "data", problem: .empty),
        .unreadDataFile(path: "d.gz", kind: ".gz", remedy: .unpack("gunzip")),
        .badTable(path: "d.csv", problem: .tornQuote(line: 3)),
        .unusedField(path: "d", field: "system", form: .text),
        .missingColumn(path: "d", field: "prompt", column: "question", columns: []),
        .missingColumn(path: "d.csv", field: "prompt", column: "question", columns: ["a", "b"]),
        .noLossTokens(path: "d", rows: 1, maximumLength: 2),
        .conversationWithoutTemplate(path: "d", line: 1),
        .otherLoss(path: "d", line: 1, isPreference: true),
        .otherLoss(path: "d", line: 1, isPreference: false), .answerInParts(path: "d", line: 1),
        .badConversation(
            path: "d", line: 1, problem: .raised(message: "no", line: 2, template: "t")),
        .lostAnswer(path: "d", line: 1), .rewrittenTooLong(path: "d", line: 1, limit: "2 tokens"),
        .noTemplate, .noEndToken, .noEndOfTurn(found: "\n", path: "d", line: 1),
    ]

    @Test("every error says what happened, where, and how to fix it", arguments: all)
    func explained(error: RowError) {
        let explanation = error.explanation
        #expect(!explanation.what.isEmpty && !explanation.what.hasSuffix("."))
        #expect(!explanation.place.isEmpty)
        #expect(!explanation.remedy.isEmpty)
        let isOption = if case .badDataList = error { true } else { false }
        #expect(explanation.status == (isOption ? .usage : .badData))
    }

    @Test("a bad line reads like this")
    func example() {
        let error = RowError.badLine(
            path: "data.jsonl", line: 17,
            problem: .wrongType(field: "prompt", expected: "a string", found: "null"))
        #expect(
            error.explanation
                == Explanation(
                    what: "\"prompt\" is null, not a string", place: "data.jsonl:17",
                    remedy: "make it a string, or give --skip-bad-lines", status: .badData))
    }
}
