import SkeinBasics

/// How a run uses its machine. None of these options changes the result.
package struct MachineOptions: OptionTable {
    package let threads = Option.threads(in: .machine)
    package let weights = Option<ResidenceChoice>(
        "weights", .choice, default: "auto", in: .machine,
        "keep the frozen weights in memory as --compute multiplies them, or convert them layer by layer "
            + "from the file; auto: in memory if they fit")
    package let gradientCheckpointing = Option.flag(
        "gradient-checkpointing", in: .run,
        "recompute activations instead of keeping them: less memory, slower")
    package let reuseFeatures = Option.optional(
        "reuse-features", .onOff, absent: "off", in: .machine,
        "keep on disk what the blocks below the lowest adapted one make of each row, so that they are "
            + "computed once and not in every epoch; does not change the result"
    ).namedOnlyWhenGiven()
    package let featureDir = Option.optional(
        "feature-dir", .path("DIR"), absent: "~/.cache/skein/features", in: .machine,
        "where --reuse-features keeps them"
    ).namedOnlyWhenGiven()
    package let featureDisk = Option.optional(
        "feature-disk", .integer(1...FeatureSettings.mostMebibytes),
        absent: "\(FeatureSettings.usualMebibytes)", in: .machine,
        "MiB of disk that --reuse-features may use; the least recently used files go first"
    ).namedOnlyWhenGiven()
    package let reportEvery = Option(
        "report-every", .integer(1...Limits.steps), default: "1", in: .reports,
        "steps between reports")
    package let checkpointEvery = Option(
        "checkpoint-every", .integer(0...Limits.steps), default: "50", in: .reports,
        "steps between checkpoints; 0 = only after validations, as after each epoch")
    package let keepCheckpoints = Option(
        "keep-checkpoints", .integer(1...Limits.steps), default: "3", in: .reports,
        "newest checkpoints to keep, besides the best one")
    package let saveStateEvery = Option.optional(
        "save-state-every", .integer(1...LocalSettings.mostSaveInterval),
        absent: "\(LocalSettings.usualSaveInterval)", in: .localSteps,
        "averages between checkpoints of a run with local steps, to which the logical workers' states "
            + "are sent; instead of --checkpoint-every; does not change the result"
    ).namedOnlyWhenGiven()
    package let samplePrompt = Option.optional(
        "sample-prompt", .samplePrompts, absent: "none", in: .reports,
        "answer this prompt after each validation, for metrics, page and report; with a system message, "
            + "[{\"role\": \"system\", \"content\": ...}, {\"role\": \"user\", ...}]; may be repeated"
    ).namedOnlyWhenGiven().repeatable { (first, second) throws(JoinProblem) in
        try SamplePromptText.joined(first, second)
    }.takingJSONLists()
    package let validateAtStart = Option.laterSwitch(
        "validate-at-start",
        absent: "on where there are validation rows; not where its loss is known, as of dpo",
        in: .reports,
        "validate and answer the sample prompts before the first step, too; decides nothing")
    package let requireImprovement = Option.laterFlag(
        "require-improvement", in: .reports,
        "exit with status 65 unless the best validation is better than that before the first step")
    package let logFormat = Option<Log.Format>(
        "log-format", .choice, default: "text", in: .machine, "format of the log on standard error")

    package static let table = MachineOptions()
    package static let options = list(table)
}

extension OptionHeading {
    package static let machine = OptionHeading("machine")
    package static let reports = OptionHeading("reports and checkpoints")
}

/// Where the frozen weights are (`--weights`).
package enum ResidenceChoice: String, Sendable, CaseIterable {
    /// Resident if they fit into memory, else streamed.
    case auto
    /// As Float in memory.
    case resident
    /// Dequantized layer by layer from the mapped file.
    case streamed
}
