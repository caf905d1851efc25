import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork
import SkeinRows
import SkeinTraining
import SkeinWatch

/// The coordinator's half of the wire benchmark: the real network, source, checks, sum and AdamW,
/// without a model, data and files.
///
/// A step has one micro-batch for each worker. The workers are a `WireLoad`, which may live in
/// another process.
struct WireBench: Sendable {
    /// What a step took.
    struct Step: Sendable {
        var seconds: Double
        /// What the coordinator's two threads used.
        var processorSeconds: Double
        var sentBytes: Int
        var receivedBytes: Int
        /// Packed gradients.
        var payloadBytes: Int
        /// Resident at its end, or nil where there is no /proc.
        var residentBytes: UInt64?
    }

    private let load: WireLoad
    private let network: CoordinatorNetwork
    /// What people are shown of the run, and who shows it; nil: it is not shown.
    private let board = RunBoard()
    private let status: StatusServer?
    /// The bound address, `HOST:PORT`.
    var address: String { network.address }

    /// Binds the port and begins to answer.
    ///
    /// - Parameters:
    ///   - load: the workers that will dial.
    ///   - listen: `HOST:PORT` on loopback; there is no token.
    ///   - patience: how long there may be too few workers; ten times as long at first.
    ///   - status: where the run can be watched, on loopback; nil: nowhere.
    ///   - log: told what happens.
    /// - Throws: `NodeError`, `SocketError`.
    init(
        _ load: WireLoad, listen: String = "127.0.0.1:0", patience: Duration = .seconds(10),
        status: String? = nil, log: Log
    ) throws {
        self.load = load
        ProcessFigures.raiseFileLimit()
        let name = try NetworkAddress(parsing: listen)
        var settings = CoordinatorSettings(minimumWorkers: load.workers, patience: patience)
        try settings.fit(ProcessFigures.connectionRoom())
        network = try CoordinatorNetwork(
            name, name.resolved(for: .listening), identity: Self.identity(load),
            options: CoordinatorOptions(listen: listen, token: nil), settings: settings, log: log)
        network.show(on: board)
        self.status = try status.map { [board] in
            try StatusServer(board: board, options: StatusOptions(listen: $0))
        }
    }

    /// Where the run can be watched.
    var statusURL: String? { status?.url }

    /// Processor seconds so far of all that the status needs: its thread, and snapshots on the
    /// network's thread.
    func statusSeconds() throws -> Double {
        guard let status else { return 0 }
        return try status.processorSeconds() + network.viewSeconds()
    }

    /// Runs all steps once all workers are there, and tells them that the run is complete.
    ///
    /// - Parameters:
    ///   - steps: how many.
    ///   - report: called with what each took.
    ///   - shouldStop: asked after each step.
    /// - Returns: SHA-256 of the parameters at the end.
    /// - Throws: `NodeError.workersMissing`; what `report` throws.
    @discardableResult
    func run(
        steps: Int, report: (Step) throws -> Void = { _ in },
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws -> SHA256.Digest {
        defer {
            status?.stop()
            network.farewell(Leave(reason: .complete, detail: "the run is complete"))
            network.stop()
        }
        let configuration = PreparedGradients.configuration(load.codec)
        var parameters = (0..<load.parameterCount).map { Float($0 % 1024 - 512) / 8192 }
        let source = network.source(
            WorkRecipe(model: PreparedGradients.noModel, configuration), configuration,
            initial: parameters, shouldStop: shouldStop)
        var optimizer = AdamW(settings: configuration.adamW, count: load.parameterCount)
        for step in 1...steps {
            let began = ContinuousClock.now
            try advance(step, source, &optimizer, &parameters, configuration)
            guard let figures = source.takeFigures() else { continue }
            let seconds = (ContinuousClock.now - began) / .seconds(1)
            try note(step, of: steps, seconds: seconds)
            try report(
                Step(
                    seconds: seconds,
                    processorSeconds: figures.cpuSeconds, sentBytes: figures.sentBytes,
                    receivedBytes: figures.receivedBytes, payloadBytes: figures.payloadBytes,
                    residentBytes: ProcessFigures.residentBytes))
            if shouldStop() { break }
        }
        return GradientCodec.digest(of: parameters)
    }

    /// Notes a step as the training loop's cluster does.
    private func note(_ step: Int, of steps: Int, seconds: Double) throws {
        let tokens = load.workers * WireLoad.rowTokens
        let metrics = StepMetrics(
            step: step, epoch: 1, loss: 1, tokens: tokens, lossTokens: tokens / 2,
            learningRate: 1e-4, gradientNorm: 1, seconds: seconds,
            tokensPerSecond: Double(tokens) / seconds, workers: load.workers)
        try board.note(.step(metrics, stepCount: steps))
        network.note(board.progress)
    }

    /// What the training loop does in a step, without its files.
    private func advance(
        _ step: Int, _ source: any StepSource, _ optimizer: inout AdamW,
        _ parameters: inout [Float], _ configuration: TrainingConfiguration
    ) throws {
        let row = TokenizedRow(
            number: step, ids: [Int32](repeating: 7, count: WireLoad.rowTokens),
            targets: [(WireLoad.rowTokens / 2)..<WireLoad.rowTokens])
        let microBatches = (0..<load.workers).map {
            MicroBatch(step: step, index: $0, rows: [row])
        }
        var tree = ReductionTree(count: microBatches.count)
        try source.compute(.gradients(microBatches, parameters: parameters)) {
            tree.add($0.index, $0.sum)
        }
        guard let sum = tree.finish() else {
            preconditionFailure("a source delivers every micro-batch of a step")
        }
        var gradient = sum.gradient
        GradientNorm.divide(&gradient, by: sum.lossTokens)
        GradientNorm.clip(
            &gradient, norm: GradientNorm.norm(of: gradient), maximum: configuration.maxGradNorm)
        optimizer.update(
            &parameters, gradient: gradient, learningRate: configuration.learningRate)
    }

    /// The identity of a run without a model, which every worker of a load accepts.
    private static func identity(_ load: WireLoad) throws -> RunIdentity {
        let nothing = PreparedGradients.noModel
        return try RunIdentity(
            offer: Offer(
                proof: [], term: 1, start: SystemRandomness.bytes(16), modelDigest: nothing,
                dataDigest: nothing,
                configurationDigest: nothing, recipeDigest: nothing, answerDigest: nothing,
                fingerprint: "bench",
                configuration: [],
                longestRow: UInt32(WireLoad.rowTokens), modelFiles: []),
            parameterCount: load.parameterCount, codec: load.codec)
    }
}
