import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTraining
import Synchronization

/// What a session has made: an adapter, and how good it is.
///
/// `TrainingTask.result` is one. `write(to:)` copies the adapter to where a program keeps it. Its
/// metrics are measured when they are asked for, which loads the weights again and reads all rows.
public struct TrainedAdapter: Sendable {
    /// The kept adapter: of the iteration with the best validation, or of the last one.
    ///
    /// If the session has a temporary directory, the adapter's files are there as long as the
    /// session, its task or this value; `write(to:)` makes a copy that stays.
    public let adapter: Adapter
    /// How the run ended.
    public let outcome: Outcome
    private let session: TrainingSession
    private let measured = Measured()

    /// Figures that were already measured; nil for a part without rows.
    private final class Measured: Sendable {
        let values = Mutex<[Part: Evaluation?]>([:])
    }

    private enum Part: Sendable {
        case training
        case validation
    }

    /// - Throws: `SkeinError` for an outcome without adapter.
    init(session: TrainingSession, outcome: Outcome) throws {
        guard let adapter = outcome.adapter else {
            throw SkeinError(
                code: .interrupted, what: "the session is not complete",
                place: session.directory.path, remedy: "resume it")
        }
        self.adapter = adapter
        self.outcome = outcome
        self.session = session
    }

    /// Copies the adapter's folder, in PEFT's format.
    ///
    /// - Parameter url: A folder that does not exist yet.
    /// - Throws: `SkeinError`.
    public func write(to url: URL) throws {
        do {
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: adapter.path), to: url)
        } catch {
            throw SkeinError(
                code: .inputOutput,
                what: "the adapter cannot be copied (\(error.localizedDescription))",
                place: url.path, remedy: "name a new folder in one that can be written to")
        }
    }

    /// Loss and token accuracy of the adapter over the rows that it was trained on, without dropout.
    /// Measured at the first access, which takes about a third of an epoch's time, and throws if
    /// model or data are no longer what they were.
    public var trainingMetrics: Evaluation {
        get async throws { try await measure(.training) ?? Evaluation(RowEvaluation()) }
    }

    /// The same over the rows that were held out; nil without such rows.
    public var validationMetrics: Evaluation? {
        get async throws { try await measure(.validation) }
    }

    /// Loss and token accuracy of the adapter over other rows, read as the session reads its own.
    ///
    /// - Parameter pairs: Rows that it was not trained on; of a `Dataset`, the file at `path`, or the
    ///   folder's `test.jsonl`, or `train.jsonl` without one.
    /// - Returns: Figures that do not depend on the number of threads.
    /// - Throws: `SkeinError`; `CancellationError` if the task is cancelled.
    public func evaluation(on pairs: TrainingPairs) async throws -> Evaluation {
        try await evaluation(on: pairs, adapter: adapter)
    }

    /// The same of the base model, to compare with.
    ///
    /// - Throws: As `evaluation(on:)`.
    public func baseEvaluation(on pairs: TrainingPairs) async throws -> Evaluation {
        try await evaluation(on: pairs, adapter: nil)
    }

    /// What the figures suggest to do next.
    ///
    /// - Parameter test: What `evaluation(on:)` returned, of rows of another source; nil: none.
    /// - Returns: No advice if nothing stands out.
    /// - Throws: As `evaluation(on:)`.
    public func advice(test: Evaluation? = nil) async throws -> [AccuracyAdvice] {
        AccuracyAdvice.on(
            training: try await trainingMetrics, validation: try await validationMetrics,
            test: test, gotWorse: outcome.keptStep < outcome.step)
    }

    private func evaluation(
        on pairs: TrainingPairs, adapter: Adapter?
    ) async throws -> Evaluation {
        let parameters = session.parameters
        func measure(
            _ files: @escaping @Sendable () throws -> [WeightedFile]
        ) async throws -> Evaluation {
            try await Evaluation.measure(
                parameters.model, adapter: adapter, files: files, recipe: parameters.recipe,
                machine: parameters.machine)
        }
        switch pairs {
        case .dataset(let dataset):
            return try await measure {
                let files = try DataFiles(path: dataset.path, test: dataset.test)
                return files.test ?? files.train
            }
        case .pairs(let rows):
            let place = SessionDirectory(nil)
            try await OwnThread.run("skein-load") {
                try AtomicFile.makeDirectory(place.own, access: .own)
                try TrainingPairs.write(rows, to: place.pairs)
            }
            let found = try await measure { [WeightedFile(path: place.pairs)] }
            withExtendedLifetime(place) {}
            return found
        }
    }

    private func measure(_ part: Part) async throws -> Evaluation? {
        if let known = measured.values.withLock({ $0[part] }) { return known }
        let (session, adapter) = (session, adapter)
        let found: Evaluation? = try await OwnThread.run("skein-evaluate") {
            flag -> Evaluation? in
            let parameters = session.parameters
            let job = try session.request().job(resuming: true)
            // With other rows, these would be another run's figures.
            let path = session.directory.run
            try job.runFile.checkResume(of: RunFile(path: path), path: path)
            var rows = part == .training ? job.training : job.validation
            guard !rows.isEmpty else { return nil }
            let adapted = try AdaptedModel(
                model: parameters.model.directory, adapter: adapter.path,
                threads: parameters.machine.threads, weights: parameters.machine.values.weights)
            let engine = try adapted.engine(
                positions: job.longestRow, compute: job.configuration.compute,
                preference: job.configuration.preferenceLoss, shouldStop: { flag.isSet })
            let threads = DecoderThreads(threadCount: adapted.threads)
            try RowEvaluation.addReferences(
                to: &rows, engine: engine,
                microBatchTokens: job.configuration.microBatchTokens, threads: threads,
                reference: job.referenceParameters, checkCancellation: { try flag.check() })
            return Evaluation(
                try RowEvaluation.run(
                    rows, engine: engine, parameters: adapted.adapter?.values,
                    microBatchTokens: job.configuration.microBatchTokens,
                    threads: threads, checkCancellation: { try flag.check() }))
        }
        measured.values.withLock { _ = $0.updateValue(found, forKey: part) }
        return found
    }
}
