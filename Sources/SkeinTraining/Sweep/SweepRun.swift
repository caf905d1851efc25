import Foundation
import SkeinBasics
import SkeinModels

/// Several runs on one base model in one process: they share its weights, the compute threads and what
/// the frozen blocks make of rows, and take turns step by step.
///
/// Each is a run like any other, with its own directory, and ends with the adapter that it would have
/// alone. One that ends early leaves its turns to the others.
package struct SweepRun: Sendable {
    /// One recipe.
    package struct Member: Sendable {
        /// The name of the recipe, and of its directory in the sweep's.
        package let name: String
        package let request: RunRequest

        package init(name: String, request: RunRequest) {
            self.name = name
            self.request = request
        }
    }

    /// What a sweep reports. Calls come from several threads, one at a time.
    package enum Event: Sendable {
        case memory(MemoryEstimate, WeightResidence)
        /// The weights are loaded; from here on all runs can be stopped with a checkpoint.
        case loaded
        /// The runs do not share what the frozen blocks make of rows.
        case featuresNotShared(String)
        /// What does not change the runs.
        case warning(String)
        /// An event of the run with this index.
        case run(Int, TrainingRun.Event)
        /// The run with this index has ended.
        case ended(Int, Ending)
    }

    /// How one run ended.
    package enum Ending: Sendable {
        case ended(RunEnding)
        case failed(any Error)
    }

    package let members: [Member]
    package let runs: [TrainingRun]
    private let output: String
    private let isResuming: Bool
    private let samples: SampleSource

    /// Refuses a directory that a sweep cannot be written to; makes nothing.
    ///
    /// - Parameters:
    ///   - output: the sweep's directory.
    ///   - resuming: continues the runs that are there.
    /// - Throws: `SweepError.outputNotEmpty`; `FileError`.
    package static func check(_ output: String, resuming: Bool) throws {
        guard !resuming, DiskStore().exists(output),
            try DiskStore().names(in: output).contains(where: { $0 != RunDirectory.sweepLockName })
        else { return }
        throw SweepError.outputNotEmpty(path: output)
    }

    /// Reads and checks model, data and options of all runs; writes nothing and loads no weights.
    ///
    /// - Parameters:
    ///   - members: at least one; their outputs are directories in `output`.
    ///   - output: the sweep's directory.
    ///   - resuming: continues the runs that are there.
    ///   - samples: what answers the sample prompts.
    /// - Throws: as `TrainingJob.init`; `SweepError`; `FileError`.
    package init(
        _ members: [Member], output: String, resuming: Bool, samples: SampleSource
    ) throws {
        self.members = members
        self.output = output
        isResuming = resuming
        self.samples = samples
        try Self.check(output, resuming: resuming)
        runs = try members.map { member in
            do {
                return try TrainingRun(member.request, resuming: resuming, samples: samples)
            } catch let error as any Explained {
                throw SweepError.recipe(member.name, error.explanation)
            }
        }
        for (member, run) in zip(members, runs)
        where run.job.configuration.compute != runs[0].job.configuration.compute {
            throw SweepError.shared(
                recipe: member.name,
                option: RecipeOptions.table.compute.description.name, place: output)
        }
    }

    /// Runs all of them; the calling thread waits.
    ///
    /// - Parameters:
    ///   - report: called from the runs' threads, one call at a time; what it throws ends that run.
    ///   - shouldStop: asked while weights are loaded, where true is a `CancellationError`, and after
    ///     every step, where it ends the runs with a checkpoint.
    /// - Returns: how each ended, in the order of the members.
    /// - Throws: what keeps all of them from beginning.
    package func run(
        report: @escaping @Sendable (Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> [Ending] {
        let jobs = runs.map(\.job)
        let threads =
            jobs[0].configuration.threads ?? SystemProcessors.usable
        let sampleBytes = jobs.reduce(0) { $0 + samples.bytes($1) }
        try AtomicFile.makeDirectory(output)
        guard let lock = try DiskStore().lock(FilePath.join(output, RunDirectory.sweepLockName))
        else {
            throw TrainingError.outputInUse(path: output)
        }
        defer { withExtendedLifetime(lock) {} }
        // Before anything takes long.
        for run in runs { try RunDirectory.check(run.output, resuming: isResuming) }
        var features = SweepFeatures(output: output, jobs: jobs)
        let (residence, estimate) = try features.fit(
            jobs, available: SystemMemory.usable.map { $0 - sampleBytes }, threads: threads)
        try report(.memory(estimate, residence))
        let compute = try RunCompute(
            jobs[0], residence: residence, positions: jobs.map(\.longestRow).max() ?? 1,
            threads: threads, shouldStop: shouldStop)
        // After what an interrupt can end: no run has begun until here.
        let directories = try runs.map {
            try RunDirectory(path: $0.output, resuming: isResuming)
        }
        if let reason = features.reason { try report(.featuresNotShared(reason)) }
        try report(.loaded)
        let serial = NSLock()
        let tell: @Sendable (Event) throws -> Void = { event in
            serial.lock()
            defer { serial.unlock() }
            try report(event)
        }
        let ended = Condition<[Int: Ending]>([:])
        for (index, run) in runs.enumerated() {
            let (directory, settings) = (directories[index], features.settings(of: jobs[index]))
            let isStarted = SystemThread.start("skein-sweep-\(index + 1)", stackBytes: 8 << 20) {
                var ending: Ending
                do {
                    ending = .ended(
                        try run.train(
                            in: directory, with: compute, features: settings,
                            report: { try tell(.run(index, $0)) }, shouldStop: shouldStop))
                } catch {
                    ending = .failed(error)
                }
                do {
                    try tell(.ended(index, ending))
                } catch {
                    ending = .failed(error)
                }
                ended.change { $0[index] = ending }
            }
            if !isStarted { ended.change { $0[index] = .failed(SweepError.threadRefused) } }
        }
        let endings = ended.wait { found in found.count == runs.count ? found : nil }
        let all = runs.indices.compactMap { endings[$0] }
        do {
            try features.removeIfOver(all, jobs)
        } catch let error as FileError {
            try report(.warning(error.explanation.located))
        }
        return all
    }
}
