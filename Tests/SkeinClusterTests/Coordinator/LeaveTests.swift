import SkeinBasics
import SkeinCoordination
import SkeinTraining
import Testing

@testable import SkeinCluster

/// What workers are told when a coordinator ends with an error: only what `--resume` cannot mend is
/// the end of the run.
@Suite struct LeaveTests {
    private static let passing: [any Error] = [
        FileError.failed(operation: "append", path: "run/ledger.jsonl", code: 28),
        FileError.noMemory(path: "m", bytes: 1), NodeError.workersMissing(sentence: "1 of 2"),
        NodeError.stateLost(sentence: "lost"), TrainingError.outputInUse(path: "run"),
        TrainingError.takenOver(path: "run", own: 1, found: 2), CancellationError(),
    ]
    private static let final: [any Error] = [
        TrainingError.lossNotFinite(step: 3, lastCheckpoint: nil),
        TrainingError.gradientNotFinite(step: 3, tensor: "t", lastCheckpoint: nil),
        TrainingError.referencesNotFinite, TrainingError.spoiled(what: "step 3", times: 8),
        TrainingError.damagedRecord(path: "run/term", line: nil, detail: "x"),
        NodeError.roundTooLarge(tokens: 1, rows: 1), NodeError.tokenRequired(address: "a"),
    ]

    @Test("a full disk and other things that pass leave the workers waiting", arguments: passing)
    func passingReason(error: any Error) {
        let leave = Leave(ending: error)
        #expect(leave.reason == .interrupted)
        #expect(!leave.detail.isEmpty)
    }

    @Test("what would come again after --resume is the end of the run", arguments: final)
    func finalReason(error: any Error) {
        #expect(Leave(ending: error).reason == .failed)
    }
}
