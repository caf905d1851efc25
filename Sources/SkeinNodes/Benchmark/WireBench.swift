import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTraining
import Synchronization

/// The coordinator's half of the wire benchmark: the real network, source, checks, sum and AdamW,
/// without a model, data and files.
///
/// A step has one micro-batch for each worker. The workers are a `WireLoad`, which may live in
/// another process.
package final class WireBench: Sendable {
    /// What a step took.
    package struct Step: Sendable {
        package var seconds: Double
        /// Of the coordinator's two threads.
        package var processorSeconds: Double
        package var sentBytes: Int
        package var receivedBytes: Int
        /// Packed gradients.
        package var payloadBytes: Int
        /// Resident at its end, or nil where there is no /proc.
        package var residentBytes: UInt64?
    }

    private let load: WireLoad
    private let loop: EventLoop
    private let desk: CoordinatorDesk
    private let inbox = Inbox()
    /// As bound.
    package let address: String

    /// Binds the port and begins to answer.
    ///
    /// - Parameters:
    ///   - load: what is going to dial.
    ///   - listen: `HOST:PORT` on loopback; there is no token.
    ///   - patience: how long fewer workers may be there, ten times as long at first.
    ///   - log: what happens.
    /// - Throws: `NodeError`.
    package init(
        _ load: WireLoad, listen: String = "127.0.0.1:0", patience: Duration = .seconds(10),
        log: Log
    ) throws {
        self.load = load
        ProcessFigures.raiseFileLimit()
        let room = ProcessFigures.connectionRoom()
        let name = try NetworkAddress(parsing: listen)
        let addresses = try name.resolved(for: .listening)
        try RunIdentity.checkSizes(parameterCount: load.parameterCount, codec: load.codec)
        var settings = CoordinatorSettings(minimumWorkers: load.workers, patience: patience)
        try settings.fit(room)
        let identity = RunIdentity(load)
        let counts = ShellCounts()
        let loop = try EventLoop(name: "skein-network")
        self.loop = loop
        do {
            let shell = try Confined(to: loop) { [inbox, settings] in
                CoordinatorShell(
                    loop: loop, inbox: inbox, identity: identity,
                    options: CoordinatorOptions(listen: listen, token: nil), settings: settings,
                    counts: counts, log: log)
            }
            desk = CoordinatorDesk(shell: shell, counts: counts)
            address = try shell.call { [shell] in
                $0.desk = shell
                $0.connectionRoom = room
                return try $0.listen(on: addresses, name: name).description
            }
        } catch {
            loop.stop()
            throw error
        }
    }

    /// Runs so many steps when all workers are there, and tells them that the run is complete.
    ///
    /// - Parameters:
    ///   - steps: how many.
    ///   - report: what each took.
    ///   - shouldStop: asked after each step.
    /// - Returns: SHA-256 of the parameters at the end.
    /// - Throws: `NodeError.workersMissing`; what `report` throws.
    @discardableResult
    package func run(
        steps: Int, report: (Step) throws -> Void = { _ in },
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws -> SHA256.Digest {
        defer { end() }
        var configuration = TrainingConfiguration()
        configuration.gradientCodec = load.codec
        let source = ClusterSource(
            desk: desk, inbox: inbox, configuration: configuration,
            parameterCount: load.parameterCount, shouldStop: shouldStop)
        var optimizer = AdamW(settings: configuration.adamW, count: load.parameterCount)
        var parameters = (0..<load.parameterCount).map { Float($0 % 1024 - 512) / 8192 }
        for step in 1...steps {
            let began = ContinuousClock.now
            try advance(step, source, &optimizer, &parameters, configuration)
            guard let figures = source.takeFigures() else { continue }
            try report(
                Step(
                    seconds: (ContinuousClock.now - began) / .seconds(1),
                    processorSeconds: figures.cpuSeconds, sentBytes: figures.sentBytes,
                    receivedBytes: figures.receivedBytes, payloadBytes: figures.payloadBytes,
                    residentBytes: ProcessFigures.residentBytes))
            if shouldStop() { break }
        }
        return GradientCodec.digest(of: parameters)
    }

    /// What the training loop does in a step, without its files.
    private func advance(
        _ step: Int, _ source: ClusterSource, _ optimizer: inout AdamW,
        _ parameters: inout [Float], _ configuration: TrainingConfiguration
    ) throws {
        let row = TokenizedRow(
            number: step, ids: [Int32](repeating: 7, count: WireLoad.rowTokens),
            targets: [(WireLoad.rowTokens / 2)..<WireLoad.rowTokens])
        let microBatches = (0..<load.workers).map {
            MicroBatch(step: step, index: $0, rows: [row])
        }
        var tree = ReductionTree(count: microBatches.count)
        try source.compute(microBatches, parameters: parameters) {
            tree.add($0.index, $0.sum)
        }
        guard let sum = tree.finish() else {
            preconditionFailure("a gradient source delivers every micro-batch of a step")
        }
        var gradient = sum.gradient
        GradientNorm.divide(&gradient, by: sum.lossTokens)
        GradientNorm.clip(
            &gradient, norm: GradientNorm.norm(of: gradient), maximum: configuration.maxGradNorm)
        optimizer.update(
            &parameters, gradient: gradient, learningRate: configuration.learningRate)
    }

    private func end() {
        desk.finish(Leave(reason: .complete, detail: "the run is complete"))
        let deadline = ContinuousClock.now + Limits.flush
        while desk.counts.connections > 0, ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.01)
        }
        loop.stop()
    }
}

extension RunIdentity {
    /// Of a run without a model, which every worker of a load agrees with.
    init(_ load: WireLoad) {
        let nothing = [UInt8](repeating: 0, count: 32)
        self.init(
            offer: Offer(
                proof: [], term: 1, modelDigest: nothing, dataDigest: nothing,
                configurationDigest: nothing, fingerprint: "bench", configuration: [],
                longestRow: UInt32(WireLoad.rowTokens), modelFiles: []),
            mostGradientBytes: load.codec.mostPackedBytes(count: load.parameterCount),
            mostParameterBytes: ParameterCodec.mostPackedBytes(count: load.parameterCount),
            files: [])
    }
}
