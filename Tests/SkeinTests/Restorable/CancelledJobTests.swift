import Foundation
import SkeinBasics
import SkeinTraining
import Testing

@testable import Skein

/// A job that begins where another one has been cancelled and still writes its checkpoint.
@Suite struct CancelledJobTests {
    @Test(
        "a resume after a cancel waits for the end of that job, and can be cancelled while it waits"
    )
    func waits() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            let gate = Condition(Gate.closed)
            defer { gate.change { $0 = .open } }
            let first = try TrainingTask(session) { moment in
                guard case .iteration(let line) = moment, line.step == 2 else { return }
                gate.change { $0 = .reached }
                gate.wait { $0 == .open ? () : nil }
            }
            gate.wait { $0 == .reached ? () : nil }
            func refused() -> SkeinError? {
                #expect(throws: SkeinError.self) { try AdapterTrainer.resume(session) }
            }
            #expect(refused()?.what == "a job already trains in this directory")
            first.cancel()
            let second = try AdapterTrainer.resume(session)
            // The task that waits has the directory next.
            #expect(refused()?.what == "a job already trains in this directory")
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.result }
            #expect(gate.change { $0 } == .reached)
            // Restored before the first job has written a checkpoint, and resumed after it.
            let restored = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a", checkpoint: 4))
            #expect(restored.checkpoints.isEmpty)
            let third = try AdapterTrainer.resume(restored)
            gate.change { $0 = .open }
            await #expect(throws: CancellationError.self) { try await first.result }
            let trained = try await third.result
            let found = try TrainingSession.Checkpoint.all(in: restored.directory)
            #expect(restored.checkpoints.map(\.iteration) == found.map(\.iteration))
            #expect(found.map(\.iteration) == [2, 4, 8])
            #expect(trained.adapter.sha256 == (try bench.reference()))
            // The directory is free again.
            try session.removeCheckpoints { _ in false }
        }
    }

    @Test("what changes a session's files at once does not wait for a cancelled job")
    func refusals() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            let flag = CancelFlag()
            let errors = Condition([SkeinError]())
            let job = try TrainingTask(session, flag: flag) { moment in
                guard case .iteration(let line) = moment, line.step == 2 else { return }
                flag.set()
                for attempt in [
                    { try session.removeCheckpoints { _ in true } },
                    { try session.reuseExtractedFeatures(from: session) },
                ] {
                    do {
                        try attempt()
                    } catch let error as SkeinError {
                        errors.change { $0.append(error) }
                    } catch {}
                }
            }
            await #expect(throws: CancellationError.self) { try await job.result }
            let found = errors.change { $0 }
            #expect(found.count == 2)
            #expect(found.allSatisfy { $0.remedy.contains("wait for its result") })
        }
    }

    private enum Gate {
        case closed, reached, open
    }
}
