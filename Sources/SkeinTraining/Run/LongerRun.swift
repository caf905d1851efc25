import SkeinBasics
import SkeinFormats

// More of the same run: `--resume` with more epochs or iterations than the run was begun with.
//
// It ends with the bytes of a run that had them from its beginning, so nothing up to the old end may
// depend on where that was:
// - The rate of a step must not: the schedule is constant, and the warm-up is a number of steps.
// - The last step is validated wherever it is. If the longer run does not validate there, what came of
//   it (which step is the best one, lines, samples) must be as if it had never been: the run goes back
//   to the checkpoint before, and finds that of the best step, which the end has kept (`TrainingLoop.save`).
// - The adapter that is kept names the run's options: it is written again.
//
// run.json gets the new end first, by one renaming. Checkpoints keep theirs, which their adapters'
// configurations name. So a kill at any moment leaves either the shorter run, or the longer one with
// checkpoints that it judges again.

/// The options that say where a run ends.
package struct RunEnd: Sendable, Equatable {
    package var epochs: Int
    package var iterations: Int?
}

extension RunEnd {
    /// The end of the run that a checkpoint's adapter is of; nil: a version wrote it that did not say so.
    init?(_ origin: AdapterOrigin?) {
        let table = RecipeOptions.table
        guard let recipe = origin?.recipe,
            let epochs = recipe[table.epochs.description.name].flatMap({ Int($0) })
        else { return nil }
        let iterations = recipe[table.iterations.description.name]
        self.init(epochs: epochs, iterations: iterations.flatMap { Int($0) })
        if iterations != nil, self.iterations == nil { return nil }
    }
}

extension TrainingConfiguration {
    var end: RunEnd {
        get { RunEnd(epochs: self.epochs, iterations: self.iterations) }
        set { (self.epochs, self.iterations) = (newValue.epochs, newValue.iterations) }
    }

    /// The option by which the rate of each step depends on their number; nil: the run can become
    /// longer.
    var optionOfLength: String? {
        let (schedule, ratio) = (RecipeOptions.table.schedule, RecipeOptions.table.warmupRatio)
        if self.schedule != .constant {
            return "--\(schedule.description.name) \(self.schedule.rawValue)"
        }
        return self.warmupRatio.map { "--\(ratio.description.name) \($0)" }
    }
}

extension StepPlan {
    /// The plan of a run that ends elsewhere: the steps that both have are the same.
    func ending(_ end: RunEnd) -> StepPlan {
        StepPlan(
            lengths: lengths, batchSize: batchSize, microBatchTokens: microBatchTokens,
            slots: slots, local: local, draw: draw, seed: seed, shuffles: shuffles,
            epochs: end.epochs, iterations: end.iterations)
    }
}

extension TrainingJob {
    /// Makes sure that a recorded run can go on as this one, which may be longer.
    ///
    /// - Parameters:
    ///   - recorded: as read from run.json.
    ///   - path: of run.json, for the error.
    /// - Throws: `TrainingError.resumeDiffers`, `.lengthFixed`.
    func checkResume(of recorded: RunFile, path: String) throws {
        let end = recorded.configuration.end
        let shorter = end == configuration.end ? plan : plan.ending(end)
        guard end != configuration.end, shorter.stepCount <= plan.stepCount else {
            return try runFile.checkResume(of: recorded, path: path)
        }
        var ended = configuration
        ended.end = end
        var file = runFile
        file.configuration.end = end
        file.planDigest = shorter.digest().description
        file.recipeDigest = try ResolvedRecipe.digest(ended, shape).description
        try file.checkResume(of: recorded, path: path)
        guard shorter.stepCount < plan.stepCount, let option = configuration.optionOfLength else {
            return
        }
        throw TrainingError.lengthFixed(
            path: path, recorded: shorter.stepCount, requested: plan.stepCount, option: option)
    }

    /// The record of a run that goes on as this one, which may be longer.
    func lengthened(_ recorded: RunFile) -> RunFile {
        var longer = recorded
        longer.configuration.end = configuration.end
        if recorded.recipeDigest != nil { longer.recipeDigest = runFile.recipeDigest }
        if recorded.planDigest != nil { longer.planDigest = runFile.planDigest }
        return longer
    }

    /// Judges a checkpoint with another configuration.
    ///
    /// - Parameters:
    ///   - checkpoint: whole, and of this run's layout.
    ///   - isThere: whether there is a checkpoint of a step.
    /// - Returns: why it is not one of this run when it was shorter, with the state that this run has
    ///   after the same step; nil: it is.
    func refusal(of checkpoint: Checkpoint, isThere: (_ step: Int) -> Bool) -> String? {
        let state = checkpoint.state
        guard let end = RunEnd(checkpoint.adapter.origin) else { return CheckpointStore.foreign }
        var ended = configuration
        ended.end = end
        let shorter = plan.ending(end)
        guard ended.digest.description == state.configurationDigest,
            shorter.stepCount == plan.stepCount
                || shorter.stepCount < plan.stepCount && configuration.optionOfLength == nil
        else { return CheckpointStore.foreign }
        if state.step == shorter.stepCount, state.step < plan.stepCount {
            let judged = ValidationPlan(
                stepCount: shorter.stepCount, stepsPerEpoch: plan.stepsPerEpoch,
                interval: configuration.validateEvery)
            if judged.isOfEndAlone(state.step), wantsValidation || !samplePrompts.isEmpty {
                return
                    "the shorter run ended with this step, and validated it for that alone; the longer one "
                    + "computes it again"
            }
            if let local, checkpoint.local?.count != local.shape.workers {
                return "the run ended with this step, without the states of its logical workers"
            }
        }
        if let kept = state.keptStep, kept != state.step, !isThere(kept) {
            return "the adapter of step \(kept), the best one then, has no checkpoint any more"
        }
        return nil
    }
}
