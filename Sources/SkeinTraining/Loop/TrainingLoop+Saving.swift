import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels

// Resuming, saving and keeping the adapter.
//
// What a kill may leave, and why a resumed run still ends with the same bytes:
// - Ledger and metrics are flushed before the checkpoint of their step is begun. They may be ahead
//   of the newest checkpoint by the steps computed while one is written; resuming cuts them back.
// - The kept adapter is flushed before the checkpoint that names its step as the best, so a
//   checkpoint never promises an adapter that is not there. It may be ahead of the newest
//   checkpoint; the resumed run reaches the same step again and writes the same adapter.
//   It waits for the checkpoint before it, so it is never ahead of more than one.
// - The checkpoint of a former best step is removed only after one that names another best step is
//   durable: whichever checkpoint a run resumes from, the best step that it names has one.
extension TrainingLoop {
    mutating func takeUp() throws {
        guard directory.isResumed else {
            var runFile = job.runFile
            runFile.otherEnginesFrom = settings.admitsOtherEngines ? 1 : nil
            try runFile.write(to: directory.runFile, in: directory.store)
            return try markOtherEngines(runFile.otherEnginesFrom)
        }
        let (checkpoints, store) = (directory.checkpoints, directory.store)
        func newest() throws -> CheckpointStore.Found {
            try checkpoints.newest(
                layout: job.shape.layout, plan: job.plan,
                configurationDigest: job.configuration.digest.description,
                refusal: { [job] in
                    job.refusal(of: $0) { store.exists(checkpoints.path(ofStep: $0)) }
                })
        }
        let recorded = try job.checkResume(in: directory).map { recorded in
            guard recorded.configuration.end != job.configuration.end else { return recorded }
            // A complete run would be lost, and there is no way back.
            if try newest().checkpoint == nil, let last = try checkpoints.steps().last {
                throw TrainingError.lengthBeginsAgain(path: directory.runFile, step: last)
            }
            return try recordEnd(recorded)
        }
        self.recorded = recorded
        if let recorded, !recorded.namesRows {
            try report(.rowsNotRecorded(path: directory.runFile, beginToken: job.beginToken))
        }
        let found = try newest()
        // A person may have moved some away, too.
        if recorded != nil, store.exists(checkpoints.directory) { try checkpoints.settle() }
        step = found.checkpoint?.state.step ?? 0
        if step > 0 {
            // What was measured goes before what is known without.
            start =
                try RecordedLosses(
                    ofStep: 0, path: directory.metrics, in: directory.store
                ).start ?? start
            if start == nil, job.configuration.requireImprovement == true {
                throw TrainingError.startNotValidated(path: directory.metrics)
            }
        }
        // Before the card of an adapter is written again.
        try markOtherEngines(recorded?.otherEnginesFrom)
        if let checkpoint = found.checkpoint {
            let state = checkpoint.state
            savedStep = step
            try stepper.takeUp(checkpoint, path: directory.checkpoints.path(ofStep: step))
            stopping = EarlyStopping(
                patience: job.configuration.earlyStopPatience, metric: stopping.metric,
                bestLoss: state.bestValidationLoss, bestAccuracy: state.bestValidationAccuracy,
                bestStep: state.bestStep, validationsSinceBest: state.validationsSinceBest)
            try restoreAdapter(from: checkpoint)
            // A kill may have come between the last checkpoint and its pruning. The best step is
            // the one that this checkpoint names, which the pruning before it has kept.
            if let former = try formerSteps(in: checkpoints) {
                try checkpoints.keepNewest(
                    job.configuration.keepCheckpoints, besides: state.keptStep,
                    and: former.first, through: step)
            }
        }
        try report(.resumed(step: step, rejected: found.rejected))
    }

    /// Writes run.json again if the run goes on for longer than it says: before anything else changes.
    private func recordEnd(_ recorded: RunFile) throws -> RunFile {
        let longer = job.lengthened(recorded)
        try longer.write(to: directory.runFile, in: directory.store)
        return longer
    }

    /// The best step before the last one, if a longer run may go back to it: what the checkpoint before
    /// names.
    ///
    /// - Returns: none or one; nil: the disk cannot say that now, and no checkpoint may go.
    private func formerSteps(in checkpoints: CheckpointStore) throws -> [Int]? {
        guard canEndLater, let before = try checkpoints.steps().last(where: { $0 < step }) else {
            return []
        }
        do {
            let state = try Checkpoint.verify(
                directory: checkpoints.path(ofStep: before), in: directory.store)
            return state.keptStep.map { [$0] } ?? []
        } catch TrainingError.damagedCheckpoint, TrainingError.damagedRecord {
            return []
        } catch let error as FileError where error.isOfDisk {
            return nil
        }
    }

    /// Whether a longer run would not validate this step, and goes back to the checkpoint before
    /// (`TrainingJob.refusal`).
    private var canEndLater: Bool {
        job.configuration.optionOfLength == nil && job.validations.isOfEndAlone(step)
    }

    /// Notes in run.json from which step on other engines are admitted. A run that once gave up the
    /// one hash never has it again: what was computed then is in every later step.
    ///
    /// - Parameter recorded: what run.json says.
    /// - Throws: `FileError`, `TrainingError`.
    private mutating func markOtherEngines(_ recorded: Int?) throws {
        let isAdmitting = settings.admitsOtherEngines && step < job.plan.stepCount
        otherEnginesFrom = [recorded, isAdmitting ? step + 1 : nil].compactMap(\.self).min()
        guard let from = otherEnginesFrom else { return }
        if from != recorded {
            try RunFile.mark(
                otherEnginesFrom: from, at: directory.runFile, in: directory.store)
        }
        try report(.otherEngines(fromStep: from, isAdmitting: isAdmitting))
    }

    /// Writes the kept adapter again, which the checkpoint of its step has, if it was removed, names the
    /// options of the run when it was shorter, or has other weights than were written: no later step would
    /// notice, as a checkpoint has a manifest and the adapter has none. What a person has made of its card
    /// and its configuration stays otherwise.
    ///
    /// - Throws: `TrainingError.adapterLost`; `FileError`.
    private func restoreAdapter(from newest: Checkpoint) throws {
        let names = [AdapterFiles.weightsName, AdapterFiles.configurationName]
        let isThere = names.allSatisfy {
            directory.store.exists(FilePath.join(directory.adapter, $0))
        }
        let isOwn =
            newest.state.configurationDigest == job.configuration.digest.description
        guard stopping.bestLoss != nil else { return }
        let kept: [Float]
        do {
            kept =
                stopping.bestStep == newest.state.step
                ? newest.parameters
                : try Checkpoint.parameters(
                    directory: directory.checkpoints.path(ofStep: stopping.bestStep),
                    layout: job.shape.layout, in: directory.store)
        } catch TrainingError.damagedCheckpoint {
            // Then its card, which names the digest with which it was written, must do, if it still does.
            if isThere, isOwn, try !isRefuted() { return }
            throw TrainingError.adapterLost(path: directory.adapter, step: stopping.bestStep)
        } catch FileError.failed(_, let file, let code) where FileError.isOfDisk(code) {
            if isThere, isOwn, try !isRefuted() { return }
            throw TrainingError.unreadableCheckpoint(
                path: directory.checkpoints.path(ofStep: stopping.bestStep),
                file: FilePath.name(of: file), code: code)
        }
        if isThere, isOwn {
            let expected = try AdapterFiles.weightsDigest(of: exported(kept))
            do {
                if try directory.adapterDigest() == expected { return }
            } catch let error as FileError where error.isOfDisk {
                // It is written again, elsewhere on the disk.
            }
        }
        try writeAdapter(kept, step: stopping.bestStep)
        // One of a later step is there where a process died before its checkpoint.
        if !isThere { try report(.adapterRestored(step: stopping.bestStep)) }
    }

    /// Whether the adapter's card names another digest than its weights have.
    private func isRefuted() throws -> Bool {
        let card = FilePath.join(directory.adapter, AdapterNotes.cardName)
        guard directory.store.exists(card) else { return false }
        let row = ModelCard.weightsRow
        let own = row + (try directory.adapterDigest()).description
        return try directory.store.file(copying: card, check: { _ in }).withBytes { bytes in
            bytes.firstRange(of: Array(row.utf8)) != nil
                && bytes.firstRange(of: Array(own.utf8)) == nil
        }
    }

    /// Begins to save a checkpoint; the next update copies parameters and moments.
    ///
    /// - Parameters:
    ///   - epoch: of the step.
    ///   - formerStep: the best one before the step was validated. A longer run may go back to it.
    /// - Throws: why an earlier checkpoint could not be saved.
    mutating func save(epoch: Int, formerStep: Int? = nil) throws {
        guard let saved = stepper.saved(after: step) else { return }
        let checkpoint = Checkpoint(
            state: TrainingState(
                step: step, epoch: epoch, bestValidationLoss: stopping.bestLoss,
                bestValidationAccuracy: stopping.bestAccuracy, bestStep: stopping.bestStep,
                validationsSinceBest: stopping.validationsSinceBest,
                configurationDigest: job.configuration.digest.description,
                parametersDigest: GradientCodec.digest(of: stepper.published).description),
            adapter: job.adapterConfiguration, parameters: stepper.parameters,
            averages: saved.averages, squareAverages: saved.squareAverages, local: saved.local)
        try reportSaved(writer.save(checkpoint, besides: canEndLater ? formerStep : nil))
    }

    /// Saves the last step that is complete when the source stops in the middle of the next one.
    mutating func saveCommitted() throws {
        try waitForCheckpoint()
        if step > 0, savedStep != step { try save(epoch: job.plan.epoch(ofStep: step)) }
    }

    /// Makes the parameters the run's result, once every earlier checkpoint is durable.
    mutating func keepAdapter() throws {
        try waitForCheckpoint()
        try writeAdapter(stepper.parameters, step: step)
    }

    /// The tensors of the adapter's file.
    private func exported(_ parameters: [Float]) -> [SafetensorsWriter.Tensor] {
        (job.export?.shape ?? job.shape).layout.tensors(
            job.export?.exported(parameters) ?? parameters)
    }

    private func writeAdapter(_ parameters: [Float], step: Int) throws {
        try AdapterFiles.write(
            configuration: job.exportedConfiguration,
            tensors: exported(parameters), to: directory.adapter, in: directory.store)
        var losses = try RecordedLosses(
            ofStep: step, path: directory.metrics, in: directory.store)
        losses.start = start
        let card = ModelCard(
            job: job, step: step, digest: try directory.adapterDigest(), losses: losses,
            // An adapter of before is what it would be without them.
            otherEnginesFrom: otherEnginesFrom.flatMap { $0 <= step ? $0 : nil })
        try directory.store.write(
            card.text, to: FilePath.join(directory.adapter, AdapterNotes.cardName))
    }

    mutating func waitForCheckpoint() throws {
        try reportSaved(writer.finish())
    }

    mutating func reportSaved(_ saved: [CheckpointWriter.Saved]) throws {
        for checkpoint in saved {
            savedStep = checkpoint.step
            try report(.checkpoint(step: checkpoint.step, path: checkpoint.path))
        }
    }

    /// Waits for what is being written when the run fails.
    mutating func waitQuietly() {
        do {
            try waitForCheckpoint()
        } catch {
            // The user needs to see the first error, and meets a full disk again.
        }
    }

    /// The newest checkpoint, for an error that ends the run.
    mutating func lastCheckpoint() -> String? {
        waitQuietly()
        return savedStep.map { directory.checkpoints.path(ofStep: $0) }
    }
}
