import Foundation
import SkeinBasics
import Testing

@testable import SkeinTraining

@Suite struct TrainingErrorTests {
    static let all: [TrainingError] = [
        .badOption(flag: "rank", value: "0", allowed: "a whole number"),
        .unknownOption(name: "x"), .noReference(loss: "orpo"),
        .layersOutOfRange(layers: "40", layerCount: 30),
        .outputNotEmpty(path: "o"), .outputInUse(path: "o"),
        .takenOver(path: "o", own: 1, found: 2), .notARunDirectory(path: "o"),
        .resumeDiffers(
            path: "o", differences: [.init(field: "rank", recorded: "8", requested: "9")]),
        .lengthFixed(path: "o/run.json", recorded: 3, requested: 6, option: "--schedule linear"),
        .lengthBeginsAgain(path: "o/run.json", step: 3),
        .damagedRecord(path: "o", line: 1, detail: "x"),
        .damagedCheckpoint(path: "o", problem: .wrongDigest(file: "state.json")),
        .unreadableCheckpoint(path: "o", file: "state.json", code: EIO),
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
        if case .unreadableCheckpoint = error { statuses = [.inputOutput] }
        // Another process goes on.
        if case .takenOver = error { statuses = [.peerGone] }
        #expect(statuses.contains(explanation.status))
    }
}
