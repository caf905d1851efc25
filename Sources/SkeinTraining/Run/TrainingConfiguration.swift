import SkeinBasics
import SkeinModels

/// Everything that `skein train` can be told about a run, with the defaults that its help shows.
///
/// `TrainingConfiguration.options` is the one table behind run.json, the comparison for `--resume` and
/// the digest. The flags have a table of their own, typed, in Commands.
package struct TrainingConfiguration: Sendable, Equatable {
    // The adapter
    package var rank = 8
    package var alpha = 16.0
    package var dropout = 0.05
    package var targetModules: [TargetModule] = [.query, .key, .value, .output]
    package var layers = LayerSelection.all
    /// A PEFT folder to start from; its bytes stand in run.json.
    package var initAdapter: String?

    // The optimizer
    package var learningRate = 1e-4
    package var weightDecay = 0.01
    package var beta1 = 0.9
    package var beta2 = 0.999
    package var epsilon = 1e-8
    package var schedule = Schedule.Kind.constant
    package var warmupSteps = 0
    /// 0 switches clipping off.
    package var maxGradNorm = 1.0

    // The plan
    package var epochs = 3
    /// Steps of the run; nil: as many as the epochs have.
    package var iterations: Int?
    package var batchSize = 4
    package var microBatchTokens = 512
    /// Threads of all workers for which steps are cut; nil: for any number.
    package var slots: Int?
    package var maxLength = 512
    package var seed = 0
    package var shuffle = true

    // The data
    package var validationSplit = 0.2
    package var validData: String?
    package var testData: String?
    package var promptFormat = PromptFormat.auto
    package var trainOn = TrainedTurns.all
    package var skipBadLines = false

    // The run
    package var reportEvery = 1
    /// Steps between checkpoints, besides those after each epoch; 0: only those.
    package var checkpointEvery = 50
    package var keepCheckpoints = 3
    /// Validations without improvement after which the run ends; nil: never.
    package var earlyStopPatience: Int?
    package var gradientCodec = GradientCodec.fp32
    /// Of the products with frozen weights.
    package var compute = ComputeType.fp32

    // The machine
    /// nil: all cores.
    package var threads: Int?
    package var weights = ResidenceChoice.auto
    package var gradientCheckpointing = false
    package var minWorkers = 1
    /// How long to wait for a peer that is gone.
    package var patience = Duration.seconds(60)
    package var logFormat = Log.Format.text

    package init() {}

    /// The seed as random numbers are addressed with it.
    package var addressedSeed: UInt64 { UInt64(seed) }

    /// The settings of the optimizer.
    package var adamW: AdamW.Settings {
        AdamW.Settings(beta1: beta1, beta2: beta2, epsilon: epsilon, weightDecay: weightDecay)
    }

    /// The learning rate of each of `stepCount` steps.
    package func learningRates(stepCount: Int) -> Schedule {
        Schedule(
            kind: schedule, peak: learningRate, warmupSteps: warmupSteps, stepCount: stepCount)
    }

    /// The adapter's shape on a model of `layerCount` layers.
    ///
    /// - Throws: `TrainingError.layersOutOfRange`.
    package func lora(layerCount: Int) throws -> LoRAConfiguration {
        LoRAConfiguration(
            rank: rank, scale: Float(alpha / Double(rank)), dropout: Float(dropout),
            targets: targetModules, layers: try layers.range(layerCount: layerCount))
    }
}

/// Where the frozen weights are held (`--weights`).
package enum ResidenceChoice: String, Sendable, CaseIterable {
    /// Resident when they fit into memory, else streamed.
    case auto
    /// As Float in memory.
    case resident
    /// Dequantized layer by layer from the mapped file.
    case streamed
}

/// Which layers of the model carry an adapter (`--layers`).
package enum LayerSelection: Sendable, Equatable {
    case all
    /// The last so many layers, as mlx-lm counts them.
    case last(Int)
    /// From one layer to another, both included, counted from 0.
    case range(ClosedRange<Int>)

    /// Reads `all`, `16` (the last 16 layers) or `8-23` (layers 8 to 23); nil when it is none.
    package init?(_ text: String) {
        if text == "all" {
            self = .all
        } else if let count = Int(text), count > 0 {
            self = .last(count)
        } else {
            let bounds = text.split(separator: "-", omittingEmptySubsequences: false)
            guard bounds.count == 2, let first = Int(bounds[0]), let last = Int(bounds[1]),
                first >= 0, first <= last
            else { return nil }
            self = .range(first...last)
        }
    }

    package var text: String {
        switch self {
        case .all: "all"
        case .last(let count): String(count)
        case .range(let range): "\(range.lowerBound)-\(range.upperBound)"
        }
    }

    /// The layers of a model of `layerCount` layers.
    ///
    /// - Throws: `TrainingError.layersOutOfRange`.
    package func range(layerCount: Int) throws -> Range<Int> {
        switch self {
        case .all: return 0..<layerCount
        case .last(let count) where count <= layerCount: return (layerCount - count)..<layerCount
        case .range(let range) where range.upperBound < layerCount: return Range(range)
        default:
            throw TrainingError.layersOutOfRange(layers: text, layerCount: layerCount)
        }
    }
}
