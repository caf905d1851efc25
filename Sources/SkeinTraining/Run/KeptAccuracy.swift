import SkeinBasics
import SkeinModels
import SkeinRows

/// How well a complete run's kept adapter knows the rows that it was trained on, and those held out,
/// without dropout: what advice follows from. Nothing of the run depends on it.
package struct KeptAccuracy: Sendable {
    /// `rows` counts all of them, `correct` and `lossTokens` those that were measured.
    package let training: RowEvaluation
    /// nil without such rows.
    package let validation: RowEvaluation?

    /// At most so many rows of a kind are measured, evenly over all of them: a share is known to a few
    /// percent then, and the end of a run does not take as long as an epoch.
    static let mostRows = 500
    /// After fewer steps, of which a run warns, there is nothing to advise but more.
    private static let fewestSteps = 20

    /// Whether a run that has ended is worth it, and has not been measured when it ended before.
    static func isDue(_ outcome: TrainingLoop.Outcome, from begun: Int) -> Bool {
        outcome.isComplete && outcome.step > begun && outcome.step >= fewestSteps
    }

    fileprivate init(
        _ job: TrainingJob, parameters: [Float], engine: MicroBatchEngine, threads: DecoderThreads,
        checkCancellation: () throws -> Void
    ) throws {
        func measure(_ rows: [TokenizedRow], _ groups: [Range<Int>]) throws -> RowEvaluation {
            var found = try RowEvaluation.run(
                Self.chosen(groups).flatMap { rows[$0] }, engine: engine, parameters: parameters,
                microBatchTokens: job.configuration.microBatchTokens, threads: threads,
                checkCancellation: checkCancellation)
            found.rows = groups.count
            return found
        }
        training = try measure(job.training, job.trainingGroups)
        validation =
            job.validation.isEmpty
            ? nil : try measure(job.validation, TokenizedRow.groups(of: job.validation))
    }

    /// Up to `mostRows` of them, evenly spaced.
    static func chosen(_ groups: [Range<Int>]) -> [Range<Int>] {
        guard groups.count > mostRows else { return groups }
        return (0..<mostRows).map { groups[$0 * groups.count / mostRows] }
    }
}

extension TrainingLoop {
    /// Measures the kept adapter of a complete run, which no error of this may spoil: it becomes a warning.
    ///
    /// - Returns: nil after such an error, and when `shouldStop` returned true.
    /// - Throws: what `report` throws.
    func keptAccuracy(
        _ engine: MicroBatchEngine, _ threads: DecoderThreads,
        _ report: (TrainingRun.Event) throws -> Void, _ shouldStop: () -> Bool
    ) throws -> KeptAccuracy? {
        do {
            return try KeptAccuracy(
                job, parameters: keptParameters(), engine: engine, threads: threads
            ) {
                if shouldStop() { throw CancellationError() }
            }
        } catch is CancellationError {
            return nil
        } catch let error as any Explained {
            let (what, place) = (error.explanation.what, error.explanation.place)
            try report(.warning("the kept adapter is not measured: \(what) (\(place))"))
            return nil
        }
    }
}
