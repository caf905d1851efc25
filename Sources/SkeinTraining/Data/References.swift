import Foundation
import SkeinBasics
import SkeinModels
import SkeinTensors

/// What DPO compares with: the log-probability of each answer under the base model, without the adapter.
///
/// It is computed once and kept on disk. Its bits are a function of the rows, the model and the engine,
/// so a run that is resumed, or another one on the same rows, has the same whether it was kept or not.
package enum References {
    /// Gives `job` its references.
    ///
    /// - Parameters:
    ///   - job: of any loss; nothing happens unless it reads references.
    ///   - cache: where they are looked up and kept; nil: they are computed.
    ///   - compute: the log-probability of each of some rows.
    /// - Returns: why what is kept could not be used, if so, or could not be kept.
    /// - Throws: what `compute` throws; `TrainingError.referencesNotFinite`, `.takenOver`.
    package static func attach(
        to job: inout TrainingJob, cache: ReferenceCache?,
        compute: ([TokenizedRow]) throws -> [Double]
    ) throws -> [ReferenceCache.Warning] {
        guard job.configuration.preferenceLoss?.kind == .dpo else { return [] }
        var warnings: [ReferenceCache.Warning] = []
        let run = job
        // Each by itself: what is tested must not decide which rows are computed together.
        try attach(to: &job.training, of: run, cache, &warnings, compute)
        try attach(to: &job.validation, of: run, cache, &warnings, compute)
        try attach(to: &job.test, of: run, cache, &warnings, compute)
        return warnings
    }

    private static func attach(
        to rows: inout [TokenizedRow], of job: TrainingJob, _ cache: ReferenceCache?,
        _ warnings: inout [ReferenceCache.Warning],
        _ compute: ([TokenizedRow]) throws -> [Double]
    ) throws {
        guard !rows.isEmpty else { return }
        // Rows that stand several times in an epoch, under other numbers.
        var places: [Content: Int] = [:]
        var distinct: [TokenizedRow] = []
        let indices = rows.map { row in
            let content = Content(ids: row.ids, targets: row.targets)
            if let place = places[content] { return place }
            places[content] = distinct.count
            distinct.append(row)
            return distinct.count - 1
        }
        let key = key(of: distinct, job)
        let values: [Double]
        if let kept = cache?.read(key, count: distinct.count, &warnings) {
            values = kept
        } else {
            values = try compute(distinct)
            guard values.allSatisfy(\.isFinite) else { throw TrainingError.referencesNotFinite }
            try cache?.write(values, key, &warnings)
        }
        for (row, index) in indices.enumerated() { rows[row].reference = values[index] }
    }

    /// What is being done, for people.
    package static func sentence(rows count: Int) -> String {
        "references: computing the log-probabilities of \(count) answers under the base model"
    }

    private struct Content: Hashable {
        let ids: [Int32]
        let targets: [Range<Int>]
    }

    private static func key(of rows: [TokenizedRow], _ job: TrainingJob) -> SHA256.Digest {
        var fields = DigestFields("skein references 1")
        fields.append(job.runFile.modelDigest)
        fields.append(job.runFile.fingerprint)
        // Where a library multiplies, bits depend on which rows are computed together.
        fields.append(job.configuration.microBatchTokens)
        fields.append(rows.count)
        for row in rows {
            fields.append(row.ids)
            fields.append(row.targets.count)
            for range in row.targets {
                fields.append(range.lowerBound)
                fields.append(range.upperBound)
            }
        }
        return fields.finish()
    }
}

extension RowEvaluation {
    /// Gives rows what the engine's loss reads of the base model, if it reads anything.
    ///
    /// - Parameters:
    ///   - rows: encoded rows.
    ///   - engine: the model.
    ///   - microBatchTokens: about how many tokens one thread takes at once.
    ///   - threads: that compute.
    ///   - checkCancellation: called between groups; what it throws ends the work.
    /// - Throws: what `checkCancellation` throws.
    package static func addReferences(
        to rows: inout [TokenizedRow], engine: MicroBatchEngine, microBatchTokens: Int,
        threads: DecoderThreads, checkCancellation: () throws -> Void = {}
    ) throws {
        guard engine.preference?.kind == .dpo else { return }
        let values = try baseLogProbabilities(
            of: rows, engine: engine, microBatchTokens: microBatchTokens, threads: threads,
            checkCancellation: checkCancellation)
        for (index, value) in values.enumerated() { rows[index].reference = value }
    }

    /// The log-probability of each row's loss tokens under the base model. It does not depend on the number
    /// of threads.
    ///
    /// - Parameters:
    ///   - rows: encoded rows.
    ///   - engine: the model.
    ///   - microBatchTokens: about how many tokens one thread takes at once.
    ///   - threads: that compute.
    ///   - checkCancellation: called between groups; what it throws ends the work.
    /// - Returns: one for each row.
    /// - Throws: what `checkCancellation` throws.
    package static func baseLogProbabilities(
        of rows: [TokenizedRow], engine: MicroBatchEngine, microBatchTokens: Int,
        threads: DecoderThreads, checkCancellation: () throws -> Void = {}
    ) throws -> [Double] {
        let groups = groups(of: rows, microBatchTokens: microBatchTokens)
        var values = [[Double]](repeating: [], count: groups.count)
        try threads.forEach(groups.count) { index, workspace, place in
            engine.baseLogProbabilities(of: groups[index], workspace: workspace, place: place)
        } receive: { index, found in
            try checkCancellation()
            // A pass without a progress cannot be abandoned.
            values[index] = found ?? []
        }
        return values.flatMap(\.self)
    }
}
