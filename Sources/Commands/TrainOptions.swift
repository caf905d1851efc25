import Basics
import Models

/// What a training run was asked to do, as it was typed or by default.
struct TrainOptions: Sendable, Equatable {
    var model: String
    var data: String
    var output: String
    var resume: Bool

    var validData: String?
    var testData: String?
    /// In 0 ..< 1.
    var validationSplit: Double
    var shuffle: Bool
    var promptFormat: PromptFormatChoice
    var trainOn: TrainedTurnsChoice
    /// Tokens of a row.
    var maximumLength: Int
    var skipBadLines: Bool

    var rank: Int
    var alpha: Double
    /// In 0 ..< 1.
    var dropout: Double
    var targetModules: [TargetModule]
    var layers: LayerSelection
    var initialAdapter: String?

    var learningRate: Double
    var weightDecay: Double
    var beta1: Double
    var beta2: Double
    var epsilon: Double
    var schedule: ScheduleChoice
    var warmupSteps: Int
    /// nil when gradients are not clipped.
    var maximumGradientNorm: Double?

    var epochs: Int
    /// nil: all epochs.
    var iterations: Int?
    /// Rows of an optimizer step.
    var batchSize: Int
    var microBatchTokens: Int
    var seed: UInt64
    var earlyStopPatience: Int?
    var gradientCheckpointing: Bool
    var gradientCodec: GradientCodecChoice

    var reportEvery: Int
    /// Steps; nil: only after each epoch.
    var checkpointEvery: Int?
    var keepCheckpoints: Int

    /// nil: all cores.
    var threads: Int?
    var weights: WeightsChoice
    var logFormat: Log.Format
}

extension TrainOptions {
    init(_ arguments: ParsedArguments) {
        let norm = arguments[TrainingFlags.maximumGradientNorm]
        let checkpointEvery = arguments[TrainingFlags.checkpointEvery]
        self.init(
            model: arguments[SharedFlags.model], data: arguments[TrainingFlags.data],
            output: arguments[TrainingFlags.output], resume: arguments[TrainingFlags.resume],
            validData: arguments[TrainingFlags.validData],
            testData: arguments[TrainingFlags.testData],
            validationSplit: arguments[TrainingFlags.validationSplit],
            shuffle: arguments[TrainingFlags.shuffle],
            promptFormat: arguments[DataFlags.promptFormat],
            trainOn: arguments[DataFlags.trainOn],
            maximumLength: arguments[DataFlags.maximumLength],
            skipBadLines: arguments[DataFlags.skipBadLines],
            rank: arguments[TrainingFlags.rank], alpha: arguments[TrainingFlags.alpha],
            dropout: arguments[TrainingFlags.dropout],
            targetModules: arguments[TrainingFlags.targetModules],
            layers: arguments[TrainingFlags.layers],
            initialAdapter: arguments[TrainingFlags.initialAdapter],
            learningRate: arguments[TrainingFlags.learningRate],
            weightDecay: arguments[TrainingFlags.weightDecay],
            beta1: arguments[TrainingFlags.beta1], beta2: arguments[TrainingFlags.beta2],
            epsilon: arguments[TrainingFlags.epsilon],
            schedule: arguments[TrainingFlags.schedule],
            warmupSteps: arguments[TrainingFlags.warmupSteps],
            maximumGradientNorm: norm > 0 ? norm : nil,
            epochs: arguments[TrainingFlags.epochs],
            iterations: arguments[TrainingFlags.iterations],
            batchSize: arguments[TrainingFlags.batchSize],
            microBatchTokens: arguments[DataFlags.microBatchTokens],
            seed: arguments[TrainingFlags.seed],
            earlyStopPatience: arguments[TrainingFlags.earlyStopPatience],
            gradientCheckpointing: arguments[TrainingFlags.gradientCheckpointing],
            gradientCodec: arguments[TrainingFlags.gradientCodec],
            reportEvery: arguments[TrainingFlags.reportEvery],
            checkpointEvery: checkpointEvery > 0 ? checkpointEvery : nil,
            keepCheckpoints: arguments[TrainingFlags.keepCheckpoints],
            threads: arguments[SharedFlags.threads], weights: arguments[SharedFlags.weights],
            logFormat: arguments[SharedFlags.logFormat])
    }
}
