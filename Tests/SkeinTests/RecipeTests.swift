import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinTraining
import Testing

@testable import Skein

/// Compares the library's recipe with the options of the command line.
@Suite struct RecipeTests {
    /// A change of each property, by the name of its option.
    private static let changes: [(name: String, change: @Sendable (inout Recipe) -> Void)] = [
        ("rank", { $0.rank = 9 }), ("alpha", { $0.alpha = 3 }),
        ("rank-pattern", { $0.rankPattern = ["down_proj": 7] }),
        ("alpha-pattern", { $0.alphaPattern = ["down_proj": 0.5] }),
        ("dora", { $0.dora = true }), ("rslora", { $0.rslora = true }),
        ("lora-plus-ratio", { $0.loraPlusRatio = 7 }),
        ("dropout", { $0.dropout = 0.25 }), ("target-modules", { $0.targetModules = ["up_proj"] }),
        ("layers", { $0.layers = .last(1) }), ("learning-rate", { $0.learningRate = 0.25 }),
        ("weight-decay", { $0.weightDecay = 0.25 }), ("beta1", { $0.beta1 = 0.25 }),
        ("beta2", { $0.beta2 = 0.25 }), ("epsilon", { $0.epsilon = 0.25 }),
        ("schedule", { $0.schedule = .cosine }), ("warmup-steps", { $0.warmupSteps = 7 }),
        ("warmup-ratio", { $0.warmupRatio = 0.25 }),
        ("min-learning-rate", { $0.minLearningRate = 0.25 }),
        ("restarts", { $0.restarts = 7 }), ("power", { $0.power = 7 }),
        ("label-smoothing", { $0.labelSmoothing = 0.25 }),
        ("neftune-alpha", { $0.neftuneAlpha = 7 }),
        ("max-grad-norm", { $0.maxGradNorm = 7 }), ("epochs", { $0.epochs = 7 }),
        ("iterations", { $0.iterations = 7 }), ("batch-size", { $0.batchSize = 7 }),
        ("micro-batch-tokens", { $0.microBatchTokens = 7 }), ("slots", { $0.slots = 7 }),
        ("local-steps", { $0.localSteps = 7 }), ("logical-workers", { $0.logicalWorkers = 7 }),
        ("delta-codec", { $0.deltaCodec = .topk }), ("topk-density", { $0.topkDensity = 0.25 }),
        ("outer-learning-rate", { $0.outerLearningRate = 0.25 }),
        ("outer-momentum", { $0.outerMomentum = 0.25 }),
        ("max-length", { $0.maxLength = 7 }), ("seed", { $0.seed = 7 }),
        ("loss", { $0.loss = .orpo }), ("beta", { $0.beta = 0.25 }),
        ("simpo-gamma", { $0.simpoGamma = 0.25 }), ("reference", { $0.reference = .initial }),
        ("field", { $0.field = "prompt=question" }), ("shuffle", { $0.shuffle = false }),
        ("validation-split", { $0.validationSplit = 0.25 }),
        ("split-by", { $0.splitBy = .prompt }), ("text-chunks", { $0.textChunks = true }),
        ("split-seed", { $0.splitSeed = 7 }),
        ("prompt-format", { $0.promptFormat = .raw }), ("train-on", { $0.trainOn = .last }),
        ("chat-template", { $0.chatTemplate = "chatml" }),
        ("template-argument", { $0.templateArgument = "a=1" }),
        ("template-date", { $0.templateDate = "2025-01-02" }),
        ("early-stop-patience", { $0.earlyStopPatience = 7 }),
        ("validate-every", { $0.validateEvery = 7 }),
        ("best-metric", { $0.bestMetric = .accuracy }),
        ("gradient-codec", { $0.gradientCodec = .int8 }), ("compute", { $0.compute = .bf16 }),
        ("feature-type", { $0.featureType = .bf16 }),
    ]

    @Test("a recipe has exactly the options that the digest covers, and each changes it")
    func complete() throws {
        let shaping = RecipeOptions.options.map(\.description.name)
        #expect(Set(Self.changes.map(\.name)) == Set(shaping))
        #expect(try Recipe().checked() == TrainingConfiguration())
        let plain = Recipe(TrainingConfiguration())
        #expect(try plain.checked() == TrainingConfiguration())
        #expect(try plain.sha256() == TrainingConfiguration().digest.description)
        for (name, change) in Self.changes {
            var recipe = plain
            change(&recipe)
            let changed = try recipe.checked().differences(from: TrainingConfiguration())
            #expect(changed.map(\.field) == [name])
            #expect(try recipe.sha256() != plain.sha256())
        }
    }

    @Test(
        "what is nil is left to the run, and a recipe that leaves something has no digest of its own"
    )
    func automatic() throws {
        var recipe = Recipe()
        #expect(recipe.learningRate == nil && recipe.warmupSteps == nil && recipe.epochs == nil)
        let error = #expect(throws: SkeinError.self) { try recipe.sha256() }
        #expect(error?.description.contains("run.json") == true)
        recipe.learningRate = 0.25
        recipe.warmupSteps = 0
        recipe.epochs = 7
        #expect(recipe.unnamed.isDisjoint(with: MeasuredOption.automatic))
        #expect(try recipe.sha256() == recipe.checked().digest.description)
        recipe.epochs = nil
        #expect(recipe.unnamed.contains(.epochs) && recipe.epochs == nil)
        #expect(recipe != Recipe())
        // Steps make epochs idle, as a share of them makes steps of a warm-up.
        recipe.iterations = 5
        recipe.warmupSteps = nil
        recipe.warmupRatio = 0.5
        #expect(try recipe.sha256() == recipe.checked().digest.description)
        // What is set back to nil leaves nothing behind.
        recipe.learningRate = nil
        recipe.iterations = nil
        recipe.warmupRatio = nil
        #expect(recipe == Recipe())
        recipe.rank = 8
        recipe.targetModules = ["q_proj"]
        recipe.schedule = .cosine
        #expect(
            Set(MeasuredOption.allCases).subtracting(recipe.unnamed)
                == [.rank, .targetModules, .schedule])
    }

    @Test("the error for a value that is not allowed names its option")
    func refused() {
        let refused: [(String, (inout Recipe) -> Void)] = [
            ("`rank`", { $0.rank = 0 }), ("`seed`", { $0.seed = -1 }),
            ("`learningRate`", { $0.learningRate = .nan }), ("`dropout`", { $0.dropout = .nan }),
            ("`alpha`", { $0.alpha = .infinity }), ("`weightDecay`", { $0.weightDecay = .nan }),
            ("`layers`", { $0.layers = .last(0) }),
            ("`targetModules`", { $0.targetModules = ["q_proj", "nonsense"] }),
            ("`targetModules`", { $0.targetModules = [] }),
        ]
        for (name, change) in refused {
            var recipe = Recipe()
            change(&recipe)
            let error = #expect(throws: SkeinError.self) { _ = try recipe.sha256() }
            #expect(error?.code == .usage && error?.description.contains(name) == true, "\(name)")
        }
    }

    private func rawValues<Value: RawRepresentable<String> & CaseIterable>(
        _ type: Value.Type
    ) -> [String] {
        type.allCases.map(\.rawValue)
    }

    @Test("errors name options as in code, and leave other programs' flags unchanged")
    func names() {
        #expect(
            OptionNames.inCode("give a smaller --max-length, or continue with --resume (--x)")
                == "give a smaller `maxLength`, or continue with `resume()` (--x)")
        #expect(
            OptionNames.inCode("llama-gguf-split --merge A B") == "llama-gguf-split --merge A B")
    }

    @Test("the library's choices have the names of the engine's")
    func choices() {
        #expect(rawValues(Recipe.Schedule.self) == rawValues(SkeinTraining.Schedule.Kind.self))
        #expect(rawValues(Recipe.PromptFormat.self) == rawValues(SkeinRows.PromptFormat.self))
        #expect(rawValues(Recipe.TrainedTurns.self) == rawValues(SkeinRows.TrainedTurns.self))
        #expect(rawValues(Recipe.Precision.self) == rawValues(GradientCodec.self))
        #expect(rawValues(Recipe.DeltaPrecision.self) == rawValues(DeltaCodec.Kind.self))
        #expect(
            rawValues(Recipe.PreferenceLoss.self)
                == rawValues(SkeinTensors.PreferenceLoss.Kind.self))
        #expect(rawValues(Recipe.Reference.self) == rawValues(PreferenceReference.self))
        #expect(
            rawValues(Recipe.FeatureType.self) == rawValues(SkeinTraining.FeatureType.self))
        #expect(rawValues(Recipe.BestMetric.self) == rawValues(SkeinTraining.BestMetric.self))
        #expect(rawValues(Recipe.Compute.self) == rawValues(ComputeType.self))
        #expect(rawValues(Machine.Weights.self) == rawValues(ResidenceChoice.self))
    }

    @Test("machine and cluster have the options that their tables declare")
    func besides() throws {
        var machine = Machine(threads: 7)
        machine.weights = .streamed
        machine.gradientCheckpointing = true
        machine.checkpointEvery = 7
        machine.keepCheckpoints = 7
        machine.saveStateEvery = 7
        machine.samplePrompts = ["7"]
        machine.reusesFeatures = true
        machine.featureDirectory = "7"
        machine.featureMebibytes = 7
        machine.validatesAtStart = true
        var cluster = Cluster()
        cluster.minimumWorkers = 7
        cluster.patience = .seconds(7)
        var configuration = TrainingConfiguration()
        configuration.machine = machine.values
        configuration.cluster = cluster.values
        let plain = TrainingConfiguration()
        let before = Dictionary(uniqueKeysWithValues: plain.fields)
        let changed = configuration.fields.filter { name, value in
            value.optionText != before[name]?.optionText
        }.map(\.0)
        // Only the command line has these.
        let others: Set = ["report-every", "log-format", "require-improvement"]
        let declared = (MachineOptions.options + ClusterOptions.options).map(\.description.name)
        #expect(Set(changed).union(others) == Set(declared))
        machine.keepCheckpoints = 0
        let error = #expect(throws: TrainingError.self) { try machine.check() }
        #expect(error?.explanation.what.contains("keep-checkpoints") == true)
    }

    @Test("recipes by name are those of the command line")
    func kinds() {
        #expect(Recipe.Kind.allCases.map(\.rawValue) == NamedRecipe.allCases.map(\.rawValue))
        let recipe = Recipe(for: .classify)
        #expect(recipe.bestMetric == .accuracy && recipe.validateEvery == 25)
        #expect(recipe.learningRate == nil && recipe.rank == 16)
        #expect(!recipe.unnamed.contains(.rank) && recipe.unnamed.contains(.learningRate))
    }
}
