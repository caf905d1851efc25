import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinText

/// What to train, before anything is read: for `train`, a coordinator, or a program that uses the
/// library.
package struct RunRequest: Sendable {
    package enum ModelSource: Sendable {
        /// A GGUF file or a Hugging Face folder.
        case path(String)
        case opened(ModelDirectory)
    }

    package var configuration: TrainingConfiguration
    package var model: ModelSource
    /// A .jsonl file or a directory.
    package var data: String
    /// The run directory.
    package var output: String
    /// Where encoded rows are looked up and kept; nil: every row is encoded.
    package var tokenCache: TokenCache?
    /// Options that were not given: a run that goes on has them in its record, and of a new one some follow
    /// from model and rows.
    package var unnamed: Set<MeasuredOption>

    package init(
        configuration: TrainingConfiguration, model: ModelSource, data: String, output: String,
        tokenCache: TokenCache?, unnamed: Set<MeasuredOption> = []
    ) {
        self.unnamed = unnamed
        self.configuration = configuration
        self.model = model
        self.data = data
        self.output = output
        self.tokenCache = tokenCache
    }

    /// Reads and checks everything that determines the run, after where it is to be.
    ///
    /// - Parameter resuming: whether a recorded run may go on; one that began with chat options that
    ///   nothing uses goes on with them.
    /// - Returns: the run.
    /// - Throws: as `RunDirectory.check` and `TrainingJob.init`; `ChatTemplateError`.
    package func job(resuming: Bool) throws -> TrainingJob {
        // Rows are tokenized for minutes; a directory that cannot be used shows at once.
        try RunDirectory.check(output, resuming: resuming)
        if !resuming { try configuration.chat.check(for: configuration.promptFormat) }
        let runFile = FilePath.join(output, RunDirectory.runFileName)
        var configuration = configuration
        var automatic = unnamed.intersection(MeasuredOption.automatic)
        // A run goes on with what it began with, though another version would begin otherwise.
        if resuming, !unnamed.isEmpty, DiskStore().exists(runFile) {
            configuration.take(unnamed, of: try RunFile(path: runFile).configuration)
            automatic = []
        }
        var job = try TrainingJob(
            configuration: configuration,
            model: {
                switch model {
                case .path(let path): try ModelDirectory.open(path)
                case .opened(let model): model
                }
            }, dataPath: data, version: Version.text, tokenCache: tokenCache,
            allowingUnusedArguments: resuming, automatic: automatic)
        if resuming, configuration.chatTemplate != nil, DiskStore().exists(runFile) {
            try job.keepTemplateName(of: RunFile(path: runFile))
        }
        job.referenceCache =
            tokenCache.map {
                ReferenceCache(
                    directory: FilePath.join(FilePath.parent(of: $0.directory), "references"))
            } ?? ReferenceCache(directory: FilePath.join(output, "references"))
        return job
    }
}

/// How a run ended, in one process or over a cluster.
package struct RunEnding: Sendable {
    package let outcome: TrainingLoop.Outcome
    /// Locked until this is released.
    package let directory: RunDirectory
    /// The loss of the test rows; nil without any, for a run that is not complete, and for one that was
    /// stopped at its test rows.
    package let test: RowEvaluation?
    /// nil where it was not asked for.
    package internal(set) var kept: KeptAccuracy?

    /// The run was asked to stop before its first step of this time.
    ///
    /// - Throws: `FileError`.
    package init(stoppedBeforeFirstStep directory: RunDirectory) throws {
        let step = try directory.checkpoints.steps().last ?? 0
        self.init(
            outcome: TrainingLoop.Outcome(
                step: step, isComplete: false, bestValidationLoss: nil, keptStep: step),
            directory: directory, test: nil)
    }

    package init(
        outcome: TrainingLoop.Outcome, directory: RunDirectory, test: RowEvaluation?
    ) {
        self.outcome = outcome
        self.directory = directory
        self.test = test
    }
}
