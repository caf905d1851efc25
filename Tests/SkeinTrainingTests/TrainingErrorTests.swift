import SkeinBasics
import SkeinText
import Testing

@testable import SkeinTraining

@Suite struct TrainingErrorTests {
    static let all: [TrainingError] = [
        .badOption(flag: "rank", value: "0", allowed: "a whole number"),
        .unknownOption(name: "x"), .noReference(loss: "orpo"),
        .layersOutOfRange(layers: "40", layerCount: 30),
        .badLine(path: "d.jsonl", line: 3, problem: .notUTF8),
        .dataFileTooLarge(path: "d", bytes: 2, limit: 1), .tooManyRows(path: "d", limit: 1),
        .noRows(path: "d", badLines: 0), .noTrainingFile(directory: "d"),
        .noLossTokens(path: "d", rows: 1, maximumLength: 2),
        .conversationWithoutTemplate(path: "d", line: 1),
        .badConversation(
            path: "d", line: 1, problem: .raised(message: "no", line: 2, template: "t")),
        .rewrittenTooLong(path: "d", line: 1, limit: "2 tokens"), .noTemplate, .noEndToken,
        .noEndOfTurn(found: "\n", path: "d", line: 1), .outputNotEmpty(path: "o"),
        .outputInUse(path: "o"), .takenOver(path: "o", own: 1, found: 2),
        .notARunDirectory(path: "o"),
        .resumeDiffers(
            path: "o", differences: [.init(field: "rank", recorded: "8", requested: "9")]),
        .lengthFixed(path: "o/run.json", recorded: 3, requested: 6, option: "--schedule linear"),
        .lengthBeginsAgain(path: "o/run.json", step: 3),
        .damagedRecord(path: "o", line: 1, detail: "x"),
        .damagedCheckpoint(path: "o", problem: .wrongDigest(file: "state.json")),
        .ledgerRefuted(path: "o", findings: 1, first: .stepMissing(step: 2)),
        .startNotValidated(path: "p"),
        .lossNotFinite(step: 3, lastCheckpoint: "c"),
        .gradientNotFinite(step: 3, tensor: "t", lastCheckpoint: nil),
        .spoiled(what: "step 3", times: 8),
    ]

    @Test("every error says what happened, where, and how to fix it", arguments: all)
    func explained(error: TrainingError) {
        let explanation = error.explanation
        #expect(!explanation.what.isEmpty && !explanation.what.hasSuffix("."))
        #expect(!explanation.place.isEmpty)
        #expect(!explanation.remedy.isEmpty)
        var statuses: [SkeinBasics.ExitStatus] = [.badData, .usage]
        // It passes.
        if case .outputInUse = error { statuses = [.inputOutput] }
        // Another process goes on.
        if case .takenOver = error { statuses = [.peerGone] }
        #expect(statuses.contains(explanation.status))
    }

    @Test("a bad line reads like this")
    func example() {
        let error = TrainingError.badLine(
            path: "data.jsonl", line: 17,
            problem: .wrongType(field: "prompt", expected: "a string", found: "null"))
        #expect(
            error.explanation
                == Explanation(
                    what: "\"prompt\" is null, not a string", place: "data.jsonl:17",
                    remedy: "make it a string, or give --skip-bad-lines", status: .badData))
    }
}
