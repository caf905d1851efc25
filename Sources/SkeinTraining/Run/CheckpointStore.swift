import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels

/// The checkpoints of a run: `checkpoints/step-000050` and so on.
///
/// A checkpoint is written under another name, flushed file by file, and renamed once its manifest
/// is on disk. So a kill at any moment leaves the earlier checkpoints, and perhaps a leftover,
/// which `removeLeftovers` removes.
package struct CheckpointStore: Sendable {
    package var directory: String { folder.path }
    private let folder: CheckpointFolder
    private let store: any Store

    /// - Parameters:
    ///   - directory: made when the first checkpoint is saved.
    ///   - store: where it is.
    package init(directory: String, in store: any Store = DiskStore()) {
        folder = CheckpointFolder(path: directory, in: store)
        self.store = store
    }

    private static let temporaryPrefix = ".writing-"
    private static let replacedPrefix = ".replaced-"

    /// The directory of the checkpoint of `step`, whether it exists or not.
    package func path(ofStep step: Int) -> String { folder.path(ofStep: step) }

    /// Steps that have a checkpoint directory, ascending.
    ///
    /// - Throws: `FileError`.
    package func steps() throws -> [Int] { try folder.steps() }

    /// Removes what a kill left half-written. Call it before the run continues.
    package func removeLeftovers() throws {
        for name in try store.names(in: directory)
        where name.hasPrefix(Self.temporaryPrefix) || name.hasPrefix(Self.replacedPrefix) {
            try store.remove(FilePath.join(directory, name))
        }
    }

    /// Writes a checkpoint durably. It replaces one of the same step, which can only be damaged.
    ///
    /// - Returns: the checkpoint's directory.
    /// - Throws: `FileError`; the other checkpoints are untouched.
    @discardableResult
    package func save(_ checkpoint: Checkpoint, layout: ParameterLayout) throws -> String {
        try store.makeDirectory(directory)
        let name = CheckpointFolder.name(ofStep: checkpoint.state.step)
        let final = FilePath.join(directory, name)
        // No other process has it: one that has lost the directory may still be writing the same step.
        let temporary = FilePath.join(
            directory, Self.temporaryPrefix + store.calls.mark + "-" + name)
        try store.remove(temporary)
        try store.makeDirectory(temporary)
        do {
            try checkpoint.write(layout: layout, to: temporary, in: store)
            if store.exists(final) {
                let replaced = FilePath.join(directory, Self.replacedPrefix + name)
                try store.remove(replaced)
                try store.rename(final, to: replaced)
                try store.rename(temporary, to: final)
                try store.remove(replaced)
            } else {
                try store.rename(temporary, to: final)
            }
        } catch {
            // Frees the space; the user needs to see the first error.
            removeQuietly(temporary)
            throw error
        }
        return final
    }

    private func removeQuietly(_ path: String) {
        do {
            try store.remove(path)
        } catch {
            // If writing failed, removing may fail, too; `removeLeftovers` tries again.
        }
    }

    /// What `newest` found.
    package struct Found: Sendable {
        /// The newest checkpoint whose files all match its manifest; nil when there is none.
        package let checkpoint: Checkpoint?
        /// Newer ones that cannot be used, newest first, each with its reason.
        package let rejected: [TrainingError]
    }

    static let foreign = "it belongs to another configuration or step"

    /// Loads the newest checkpoint that can be used.
    ///
    /// - Parameters:
    ///   - layout: of the run.
    ///   - plan: of a run with local steps.
    ///   - configurationDigest: of the run.
    ///   - refusal: why a checkpoint of another configuration is rejected; nil: it is not.
    /// - Returns: the checkpoint, and why newer ones were passed over.
    /// - Throws: `FileError` when the directory cannot be listed, or when a checkpoint could not be
    ///   read for a passing reason (`FileError.isPassing`); `TrainingError.unreadableCheckpoint` when
    ///   the disk was that reason. Such a checkpoint is not passed over: the run would go back and cut
    ///   its records for nothing, and once the checkpoint is read again, it is ahead of them.
    package func newest(
        layout: ParameterLayout, plan: StepPlan? = nil, configurationDigest: String,
        refusal: (Checkpoint) -> String? = { _ in Self.foreign }
    ) throws -> Found {
        var rejected: [TrainingError] = []
        for step in try steps().reversed() {
            let path = path(ofStep: step)
            do {
                let checkpoint = try Checkpoint(
                    directory: path, layout: layout, plan: plan, in: store)
                let state = checkpoint.state
                if let detail = state.step != step
                    ? Self.foreign
                    : state.configurationDigest == configurationDigest
                        ? nil : refusal(checkpoint)
                {
                    throw TrainingError.damagedCheckpoint(
                        path: path, problem: .unfit(file: Checkpoint.stateFile, detail: detail))
                }
                return Found(checkpoint: checkpoint, rejected: rejected)
            } catch let error as TrainingError {
                rejected.append(error)
            } catch FileError.failed(_, let file, let code) where FileError.isOfDisk(code) {
                throw TrainingError.unreadableCheckpoint(
                    path: path, file: FilePath.name(of: file), code: code)
            }
        }
        return Found(checkpoint: nil, rejected: rejected)
    }

    /// Makes the removal of checkpoints durable. A run that goes back past one needs that before it cuts its
    /// records: one in between that came back after a loss of power would be ahead of them.
    func settle() throws {
        // A new name is flushed with its directory.
        let names = [Self.temporaryPrefix, Self.replacedPrefix].map {
            FilePath.join(directory, $0 + "settled")
        }
        for name in names { try store.remove(name) }
        try store.makeDirectory(names[0])
        try store.rename(names[0], to: names[1])
        try store.remove(names[1])
    }

    /// Removes all but the newest `count` checkpoints and those of `bestStep` and `formerStep`.
    ///
    /// - Parameters:
    ///   - count: how many to keep, at least 1.
    ///   - bestStep: the step whose adapter the run keeps, if there is one: if that adapter is
    ///     lost, its checkpoint has it.
    ///   - formerStep: another one that stays.
    ///   - last: the run's current step. Later checkpoints are those that it could not resume from:
    ///     they are not counted or removed, and the run replaces them when it gets there.
    /// - Throws: `FileError`.
    package func keepNewest(
        _ count: Int, besides bestStep: Int?, and formerStep: Int? = nil,
        through last: Int = .max
    ) throws {
        let steps = try steps().filter { $0 <= last }
        for step in steps.dropLast(max(1, count)) where step != bestStep && step != formerStep {
            try store.remove(path(ofStep: step))
        }
    }
}
