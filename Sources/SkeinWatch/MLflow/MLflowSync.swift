import Foundation
import SkeinBasics
import SkeinTraining

/// Sends a run that has ended to an MLflow server (`skein sync`).
package struct MLflowSync {
    /// What was done.
    package struct Result: Sendable {
        /// The run's identifier there.
        package var run: String
        /// Where a browser shows it.
        package var page: String
        /// Numbers that the server did not have.
        package var sent: Int
        /// Lines of metrics.jsonl that could not be read.
        package var damaged: Int
    }

    private static let attempts = 5

    /// Sends what the server does not have.
    ///
    /// - Parameters:
    ///   - target: the server.
    ///   - directory: the run's, locked meanwhile: no other process sends it.
    ///   - progress: gets the numbers sent so far, and why one has to wait.
    /// - Returns: what was done.
    /// - Throws: `MLflowError` after five attempts in a row without news; `FileError`, `TrainingError`.
    package static func send(
        to target: MLflowTarget, _ directory: RunDirectory,
        progress: (_ sent: Int, _ problem: String?) -> Void
    ) throws -> Result {
        let (session, exchange) = try target.session(directory: directory.path, isRunning: false)
        defer { exchange.close() }
        var (attempt, pause, sent) = (1, Limits.firstPause, 0)
        while true {
            do {
                return try send(session, directory) { progress($0, nil) }
            } catch let error as MLflowError where error.isTransient && attempt < attempts {
                if session.sentPoints > sent { (attempt, pause) = (1, Limits.firstPause) }
                sent = session.sentPoints
                progress(sent, MLflowExport.text(error))
                usleep(UInt32(pause / .microseconds(1)))
                (attempt, pause) = (attempt + 1, pause * 2)
            }
        }
    }

    private static func send(
        _ session: MLflowSession, _ directory: RunDirectory, progress: (Int) -> Void
    ) throws -> Result {
        // All that may fail here is looked at before anything is made there.
        let recorded = try session.recorded()
        let ending = try session.rememberedEnding() ?? self.ending(of: directory, recorded.lastStep)
        try session.connect()
        let start = ending.time - Int(min(recorded.seconds, 1e9) * 1000)
        while try session.sendSome(time: { start + Int(min($1, 1e9) * 1000) }) {
            progress(session.sentPoints)
        }
        try session.end(ending)
        return Result(
            run: session.run ?? "", page: session.page ?? "", sent: session.sentPoints,
            damaged: session.damagedLines)
    }

    /// How a run ended that has not said so: it is complete when it has an adapter and a checkpoint
    /// of its last step; metrics.jsonl was written last.
    static func ending(
        of directory: RunDirectory, _ last: Int
    ) throws -> MLflowState.Ending {
        var status = stat()
        guard stat(directory.metrics, &status) == 0 else {
            throw FileError.failed(operation: "inspect", path: directory.metrics, code: errno)
        }
        #if canImport(Darwin)
            let written = status.st_mtimespec.tv_sec
        #else
            let written = status.st_mtim.tv_sec
        #endif
        let time = max(0, min(Int(written), MLflowSession.now / 1000)) * 1000
        let killed = MLflowState.Ending(status: .killed, time: time)
        guard try directory.checkpoints.steps().max() == last else { return killed }
        do {
            let adapter = try directory.adapterDigest().description
            return MLflowState.Ending(status: .finished, time: time, adapter: adapter)
        } catch FileError.failed(_, _, let code) where FileKind.isNothing(code) {
            // It wrote its last checkpoint and was killed before its adapter.
            return killed
        }
    }
}
