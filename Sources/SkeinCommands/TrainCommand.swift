import Foundation
import SkeinBasics
import SkeinModels
import SkeinTensors
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
        let configuration = options.configuration
        let job = try TrainingJob(
            configuration: configuration, modelPath: options.model, dataPath: options.data,
            version: CommandLineTool.version,
            tokenCache: options.usesTokenCache ? TokenCache() : nil)
        let reporter = TrainingReporter(io, job: job)
        reporter.showData()
        let threads = configuration.threads ?? ProcessInfo.processInfo.activeProcessorCount
        let (residence, estimate) = try job.fit(
            available: SystemMemory.usable, threads: threads)
        reporter.showMemory(estimate, residence: residence)
        let directory = try RunDirectory(path: options.output, resuming: options.resume)
        let weights = try DecoderWeights(
            model: job.model, residence: residence, compute: configuration.compute,
            positions: job.longestRow, threads: threads)
        let decoder = Decoder(
            weights: weights, adapter: job.shape,
            gradientCheckpointing: configuration.gradientCheckpointing)
        let pool = ComputePool(threadCount: threads)
        let judge = { (rows: [TokenizedRow], parameters: [Float]) in
            try Evaluation.run(
                rows, decoder: decoder, parameters: parameters,
                microBatchTokens: configuration.microBatchTokens, pool: pool)
        }
        io.interrupt.listen {
            reporter.warn("stopping after this step, with a checkpoint; again to stop at once")
        }
        var loop = try TrainingLoop(
            job: job, directory: directory,
            source: LocalGradientSource(decoder: decoder, pool: pool, configuration: configuration),
            validate: { try judge(job.validation, $0) }, report: { reporter.show($0) },
            shouldStop: { io.interrupt.isSet })
        reporter.showReady()
        let outcome = try loop.run()
        reporter.finishLine()
        guard outcome.isComplete else {
            throw CommandError.interrupted(step: outcome.step, directory: options.output)
        }
        let test = try job.test.isEmpty ? nil : judge(job.test, loop.keptParameters())
        try reporter.showOutcome(outcome, directory: directory, test: test)
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
