import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinTraining

/// Whole training steps of a model beside what the processor's registers allow, and beside their
/// matrix products alone.
///
/// A step is what the trainer does between two checkpoints: every thread computes one micro-batch,
/// forward and backward with dropout, and hashes its gradient; the gradients are summed by the
/// tree, divided, clipped and applied by AdamW. Only the lines on disk are left out.
package struct StepBench {
    let configuration: TrainingConfiguration
    let model: ModelDirectory
    let residence: WeightResidence
    let threads: Int
    let microBatchTokens: Int
    /// Loops of `RegisterPeak` on each thread in one timing: some tens of milliseconds.
    private static let peakPasses = 10
    private let engine: MicroBatchEngine
    private let shape: AdapterShape
    private let computing: DecoderThreads

    /// Loads the weights, in memory when everything fits there, and starts the threads.
    ///
    /// - Throws: `FormatError` and `FileError` of the model; `MemoryError.tooLarge`.
    init(
        modelPath: String, microBatchTokens: Int, compute: ComputeType, threads: Int
    ) throws {
        var configuration = TrainingConfiguration.fixed
        configuration.compute = compute
        let model = try ModelDirectory.open(modelPath)
        let lora = try configuration.lora(layerCount: model.configuration.layerCount)
        let shape = AdapterShape(lora, model: model.configuration)
        residence = try Self.residence(
            model, shape, compute, tokens: microBatchTokens, threads: threads,
            available: SystemMemory.available)
        let longest = RowMix.allCases.flatMap { $0.lengths(tokens: microBatchTokens) }.max() ?? 1
        engine = try MicroBatchEngine(
            model: model, adapter: shape, configuration: configuration, residence: residence,
            positions: longest, threads: threads)
        computing = DecoderThreads(threadCount: threads)
        self.configuration = configuration
        self.model = model
        self.threads = threads
        self.microBatchTokens = microBatchTokens
        self.shape = shape
    }

    /// A residence for which there is enough memory.
    private static func residence(
        _ model: ModelDirectory, _ shape: AdapterShape, _ compute: ComputeType, tokens: Int,
        threads: Int, available: Int?
    ) throws -> WeightResidence {
        func needed(_ residence: WeightResidence, threads: Int) -> Int {
            let sizes = RowMix.allCases.map { mix in
                let lengths = mix.lengths(tokens: tokens)
                return MemoryEstimate(
                    MemoryEstimate.Plan(
                        model: model.configuration, adapter: shape, residence: residence,
                        compute: compute, gradientCheckpointing: false, dropout: true,
                        threads: threads,
                        tokens: lengths.reduce(0, +), longest: lengths.max() ?? 0,
                        lossTokens: lengths.reduce(0, +), fileBytes: model.weightBytes)
                ).total
            }
            return (sizes.max() ?? 0)
                + threads * ProductReplay.bytes(model.configuration, compute)
        }
        guard let available else { return .resident }
        for residence in [WeightResidence.resident, .streamed]
        where needed(residence, threads: threads) <= available {
            return residence
        }
        let least = needed(.streamed, threads: 1)
        throw MemoryError.tooLarge(
            needed: needed(.streamed, threads: threads), available: available,
            fitting: least <= available ? .init(flags: "--threads 1", bytes: least) : nil,
            smallest: least)
    }

    /// Measures one mix of rows: a step to warm up, then steps, products and the peak in turn.
    func run(_ mix: RowMix, _ effort: Effort) throws -> StepResult {
        let rows = mix.lengths(tokens: microBatchTokens).count
        let microBatches = (0..<threads).map { index in
            MicroBatch(
                step: 1, index: index,
                rows: mix.rows(
                    tokens: microBatchTokens, vocabulary: model.configuration.vocabularySize,
                    number: index * rows))
        }
        let counts = tally(microBatches[0])
        let head = model.configuration.headDimension
        let wide = counts.filter { $0.key.isOfWeights(headDimension: head) }
        let operands = try (0..<threads).map { _ in try ProductReplay(wide) }
        let kind = MatMulTally.Kind(configuration.compute)
        var trainer = BenchedTrainer(
            configuration, engine: engine, shape: shape, threads: computing)
        _ = try trainer.step(microBatches)
        var steps: [BenchedTrainer.Times] = []
        var alone: [Timing] = []
        var peaks: [Timing] = []
        var peakOperations = 0
        for _ in 0..<effort.repetitions {
            steps.append(try trainer.step(microBatches))
            alone.append(
                try Stopwatch.time {
                    try computing.forEach(threads) { index, _, _ in
                        operands[index].run()
                    } receive: { _, _ in
                    }
                })
            peakOperations = 0
            peaks.append(
                try Stopwatch.time {
                    try computing.forEach(threads) { _, _, _ in
                        (0..<Self.peakPasses).reduce(0) { sum, _ in sum + RegisterPeak.run(kind) }
                    } receive: { _, operations in
                        peakOperations += operations
                    }
                })
        }
        let hash = Stopwatch.measure(effort) { _ = GradientCodec.digest(of: trainer.gradient) }
        return StepResult(
            mix: mix, rowTokens: microBatches[0].rows.map(\.ids.count),
            lossTokens: microBatches[0].lossTokenCount, threads: threads,
            operations: counts.reduce(0) { $0 + $1.key.operations * $1.value },
            wideOperations: operands[0].operations, parameters: shape.layout.count,
            step: steps.map(\.whole), productsAlone: alone, peakOperations: peakOperations,
            peak: peaks, hash: hash,
            reduction: Measurement(seconds: steps.map(\.reduction)),
            optimizer: Measurement(seconds: steps.map(\.optimizer)))
    }

    /// The products of one micro-batch; those of the other threads have the same.
    private func tally(_ microBatch: MicroBatch) -> [MatMulTally.Shape: Int] {
        let tally = MatMulTally()
        let workspace = DecoderWorkspace(tally: tally)
        let parameters = AdapterParameters(shape: shape, seed: configuration.addressedSeed).values
        _ = engine.gradient(of: microBatch, parameters: parameters, workspace: workspace)
        return tally.counts
    }
}

extension StepBench {
    /// Measures whole steps of a model, on all threads at once.
    ///
    /// - Parameters:
    ///   - modelPath: the base model.
    ///   - microBatchTokens: tokens of each micro-batch.
    ///   - steps: how many are measured.
    ///   - compute: as `train` takes it.
    ///   - threads: nil: all cores that may be used.
    ///   - log: told what is being measured.
    /// - Returns: a column for each mix of rows.
    /// - Throws: as the initializer.
    package static func report(
        modelPath: String, microBatchTokens: Int, steps: Int, compute: ComputeType, threads: Int?,
        log: Log
    ) throws -> BenchReport {
        let effort = Effort(repetitions: steps, minimumSeconds: 0)
        let machine = Machine.current()
        let threads = threads ?? machine.cores
        let bench = try StepBench(
            modelPath: modelPath, microBatchTokens: microBatchTokens, compute: compute,
            threads: threads)
        let results = try RowMix.allCases.map { mix in
            log.info("measuring \(mix.rawValue)")
            return try bench.run(mix, effort)
        }
        let configuration = bench.configuration
        let targets = configuration.targetModules.map(\.name)
        return BenchReport(
            machine,
            [
                ("model", .text(bench.model.path)),
                ("weights", .text(bench.residence.rawValue)), ("threads", .integer(threads)),
                ("rank", .integer(configuration.rank)),
                ("compute", .text(configuration.compute.rawValue)),
                ("target_modules", .list(targets.map { .text($0) })),
                ("dropout", .decimal(configuration.dropout)),
                ("micro_batch_tokens", .integer(microBatchTokens)),
                ("mixes", .list(results.map(\.json))),
            ],
            [
                "\(bench.model.path), \(bench.residence.rawValue) weights",
                "\(configuration.compute.rawValue), rank \(configuration.rank) on "
                    + "\(targets.joined(separator: ",")), dropout \(configuration.dropout); "
                    + "\(Figures.count(threads, "thread")) at once, one micro-batch each; median of "
                    + "\(effort.repetitions)",
            ], StepResult.table(results))
    }
}

extension MatMulTally.Shape {
    /// Whether a frozen weight takes part: not in attention's products, which have a head's
    /// dimension on one side, nor in LoRA's.
    func isOfWeights(headDimension: Int) -> Bool {
        kind != .thin && n != headDimension && k != headDimension
    }
}

/// The trainer's own parts, put together as its loop does it, with a stopwatch between them.
struct BenchedTrainer {
    /// Seconds of one step and of its parts on the caller's thread.
    struct Times: Sendable, Equatable {
        var whole: Timing
        var reduction: Double
        var optimizer: Double
    }

    private let configuration: TrainingConfiguration
    private let engine: MicroBatchEngine
    private let threads: DecoderThreads
    private var parameters: [Float]
    private var optimizer: AdamW
    /// The last step's gradient.
    private(set) var gradient: [Float] = []

    init(
        _ configuration: TrainingConfiguration, engine: MicroBatchEngine, shape: AdapterShape,
        threads: DecoderThreads
    ) {
        self.configuration = configuration
        self.engine = engine
        self.threads = threads
        parameters = AdapterParameters(shape: shape, seed: configuration.addressedSeed).values
        optimizer = AdamW(settings: configuration.adamW, count: parameters.count)
    }

    /// One step over these micro-batches.
    mutating func step(_ microBatches: [MicroBatch]) throws -> Times {
        var reduction = 0.0
        var update = 0.0
        let whole = try Stopwatch.time {
            var tree = ReductionTree(count: microBatches.count)
            try engine.gradients(of: microBatches, parameters: parameters, threads: threads) {
                result in
                reduction += Stopwatch.time { tree.add(result.index, result.sum) }.seconds
            }
            guard let sum = tree.finish() else { return }
            update =
                Stopwatch.time {
                    gradient = sum.gradient
                    GradientNorm.divide(&gradient, by: sum.lossTokens)
                    let norm = GradientNorm.norm(of: gradient)
                    GradientNorm.clip(&gradient, norm: norm, maximum: configuration.maxGradNorm)
                    optimizer.update(
                        &parameters, gradient: gradient, learningRate: configuration.learningRate)
                }.seconds
        }
        return Times(whole: whole, reduction: reduction, optimizer: update)
    }
}
