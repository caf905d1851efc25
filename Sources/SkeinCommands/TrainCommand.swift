import Skein
import SkeinTraining

/// `skein train`: a whole fine-tuning run in one process.
struct TrainCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        var data: String
        var output: String
        var resume: Bool
        var usesTokenCache: Bool
        var configuration: TrainingConfiguration

        var request: RunRequest {
            RunRequest(
                configuration: configuration, model: .path(model), data: data, output: output,
                tokenCache: usesTokenCache ? TokenCache() : nil)
        }
    }

    static let table = ArgumentTable(
        command: "train",
        summary: "fine-tunes a base model with LoRA, in this process",
        groups: TrainingFlags.groups,
        example:
            "skein train --model SmolLM2-135M-Instruct.Q4_1.gguf --data pairs.jsonl --output run")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            model: arguments[SharedFlags.model], data: arguments[TrainingFlags.data],
            output: arguments[TrainingFlags.output], resume: arguments[TrainingFlags.resume],
            usesTokenCache: !arguments[TrainingFlags.noTokenCache],
            configuration: TrainingConfiguration(arguments))
    }

    func run(_ io: CommandIO) throws {
        let run = try Trainer(options.request).prepare(resuming: options.resume)
        let reporter = TrainingReporter(io, job: run.job)
        reporter.showData()
        let ending = try run.run(
            report: { event in
                switch event {
                case .memory(let estimate, let residence):
                    reporter.showMemory(estimate, residence: residence)
                case .loaded: reporter.stopOnInterrupt()
                case .ready: reporter.showReady()
                case .loop(let event): reporter.show(event)
                case .trained: reporter.finishLine()
                }
            }, shouldStop: { io.interrupt.isSet })
        try reporter.showEnding(ending)
    }
}

extension TrainingConfiguration {
    init(_ arguments: ParsedArguments) {
        self.init()
        rank = arguments[TrainingFlags.rank]
        alpha = arguments[TrainingFlags.alpha]
        dropout = arguments[TrainingFlags.dropout]
        targetModules = arguments[TrainingFlags.targetModules]
        layers = arguments[TrainingFlags.layers]
        initAdapter = arguments[TrainingFlags.initialAdapter]
        learningRate = arguments[TrainingFlags.learningRate]
        weightDecay = arguments[TrainingFlags.weightDecay]
        beta1 = arguments[TrainingFlags.beta1]
        beta2 = arguments[TrainingFlags.beta2]
        epsilon = arguments[TrainingFlags.epsilon]
        schedule = arguments[TrainingFlags.schedule]
        warmupSteps = arguments[TrainingFlags.warmupSteps]
        maxGradNorm = arguments[TrainingFlags.maximumGradientNorm]
        epochs = arguments[TrainingFlags.epochs]
        iterations = arguments[TrainingFlags.iterations]
        batchSize = arguments[TrainingFlags.batchSize]
        microBatchTokens = arguments[DataFlags.microBatchTokens]
        slots = arguments[TrainingFlags.slots]
        maxLength = arguments[DataFlags.maximumLength]
        seed = Int(arguments[TrainingFlags.seed])
        shuffle = arguments[TrainingFlags.shuffle]
        validationSplit = arguments[TrainingFlags.validationSplit]
        validData = arguments[TrainingFlags.validData]
        testData = arguments[TrainingFlags.testData]
        promptFormat = arguments[DataFlags.promptFormat]
        trainOn = arguments[DataFlags.trainOn]
        skipBadLines = arguments[DataFlags.skipBadLines]
        reportEvery = arguments[TrainingFlags.reportEvery]
        checkpointEvery = arguments[TrainingFlags.checkpointEvery]
        keepCheckpoints = arguments[TrainingFlags.keepCheckpoints]
        earlyStopPatience = arguments[TrainingFlags.earlyStopPatience]
        gradientCodec = arguments[TrainingFlags.gradientCodec]
        compute = arguments[TrainingFlags.compute]
        threads = arguments[SharedFlags.threads]
        weights = arguments[SharedFlags.weights]
        gradientCheckpointing = arguments[TrainingFlags.gradientCheckpointing]
        logFormat = arguments[SharedFlags.logFormat]
        minWorkers = arguments[TrainingFlags.minimumWorkers]
        patience = arguments[TrainingFlags.patience]
    }
}
