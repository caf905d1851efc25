import Foundation
import SkeinBasics
import SkeinModels

/// Where the runs of a sweep keep what the frozen blocks make of rows: in the sweep's directory, unless
/// the user has said where, or that nothing is to be kept.
struct SweepFeatures {
    private let directory: String
    /// nil: nowhere.
    private var own: FeatureSettings?
    /// Why nothing is kept, if the runs could.
    private(set) var reason: String?

    /// - Parameters:
    ///   - output: the sweep's directory, which is there.
    ///   - jobs: of its runs.
    init(output: String, jobs: [TrainingJob]) {
        directory = FilePath.join(output, "features")
        let settings = FeatureSettings(directory: directory)
        guard jobs.contains(where: Self.canKeep) else { return }
        // One file for each key, with the rows of all runs that share it.
        var needed: [SHA256.Digest: [FeatureName: Int]] = [:]
        for job in jobs where Self.canKeep(job) {
            let plan = job.featurePlan(settings)
            needed[plan.key.digest, default: [:]].merge(plan.records) { $1 }
        }
        var (bytes, missing) = (0, 0)
        for (key, records) in needed {
            let size = records.values.reduce(FeatureStore.startBytes, +)
            var status = stat()
            let there = lstat(settings.folder.path(of: key), &status) == 0 ? Int(status.st_size) : 0
            bytes += size
            missing += max(0, size - there)
        }
        do {
            let free = try DiskStore.freeBytes(at: output)
            if bytes > settings.limit {
                reason = "they take \(bytes >> 20) MiB, more than \(settings.limit >> 20)"
            } else if let free, missing > 0, free < missing + Limits.featureReserve {
                reason = "they take \(missing >> 20) MiB, and \(free >> 20) of the disk are free"
            } else {
                own = settings
            }
        } catch {
            reason = (error as? any Explained)?.explanation.what ?? "\(error)"
        }
    }

    /// Whether a run has frozen blocks whose output is worth keeping, and no option has decided
    /// that.
    private static func canKeep(_ job: TrainingJob) -> Bool {
        job.configuration.reuseFeatures == nil && job.shape.frozenLayers > 0
            && job.configuration.neftuneAlpha == nil
            && Engine.rowsAreIndependent(job.configuration.compute)
    }

    /// Where a run keeps features; nil: nowhere.
    func settings(of job: TrainingJob) -> FeatureSettings? {
        Self.canKeep(job) ? own : job.configuration.featureSettings
    }

    /// As `TrainingJob.fit`; gives features up if the weights would not be where they are without.
    ///
    /// - Parameters:
    ///   - jobs: of the sweep.
    ///   - available: bytes that the process may use; nil if the system does not say.
    ///   - threads: threads that compute.
    /// - Returns: the residence and what the runs need with it.
    /// - Throws: `MemoryError.tooLarge`.
    mutating func fit(
        _ jobs: [TrainingJob], available: Int?, threads: Int
    ) throws -> (residence: WeightResidence, estimate: MemoryEstimate) {
        let plain = try TrainingJob.fit(
            jobs, available: available, threads: threads, bound: SystemMemory.bound)
        guard own != nil else { return plain }
        do {
            let keeping = try TrainingJob.fit(
                jobs, available: available, threads: threads,
                keepsFeatures: { settings(of: $0) != nil })
            if keeping.residence == plain.residence { return keeping }
        } catch is MemoryError {
            // Said below.
        }
        (own, reason) = (nil, "there is no memory for them")
        return plain
    }

    /// Removes what was not asked for, once all runs are complete.
    ///
    /// - Parameters:
    ///   - endings: of all runs.
    ///   - jobs: of these runs.
    /// - Throws: `FileError`.
    func removeIfOver(_ endings: [SweepRun.Ending], _ jobs: [TrainingJob]) throws {
        let isOver = endings.allSatisfy {
            if case .ended(let ending) = $0 { return ending.outcome.isComplete }
            return false
        }
        // Wherever the user has said: it may be this directory by another name.
        let isWanted = jobs.contains { $0.configuration.featureSettings != nil }
        if isOver, !isWanted, DiskStore().exists(directory) {
            try FeatureSettings(directory: directory).folder.removeAll()
        }
    }
}
