import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinNetwork
import SkeinTraining
import Synchronization

/// Prepares a worker for an offer, on a thread of its own: fetches the model if it must, hashes it
/// and loads its weights, while the network's thread sends heartbeats.
final class ModelLoading: EngineLoading {
    private let offer: Offer
    private let setup: WorkerSetup
    private let log: Log
    private let fetch: ModelFetch
    /// How much of the model is done.
    let progress = PreparationProgress()

    init(offer: Offer, setup: WorkerSetup, log: Log) {
        self.offer = offer
        self.setup = setup
        self.log = log
        fetch = ModelFetch(
            offer: offer, cache: CacheDirectory.root, progress: progress, patience: setup.patience,
            log: log)
    }

    /// Whether what is loaded for this offer also serves `other`, which may be of a later start of the
    /// coordinator.
    func serves(_ other: Offer) -> Bool {
        var other = other
        (other.term, other.start, other.proof) = (offer.term, offer.start, offer.proof)
        return other == offer
    }

    func receive(_ piece: ModelChunk) -> Bool { fetch.receive(piece) }

    /// The connection is gone: fetching ends, loading goes on.
    func cancel() {
        fetch.cancel()
    }

    /// The model is no longer wanted: fetching, hashing and loading end as soon as they can.
    func abandon() {
        progress.stop()
        fetch.cancel()
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - request: sends a request for a piece of the model; called on the thread.
    ///   - completion: called once, on the thread, or at once with an error if the system refuses a
    ///     thread.
    func start(
        request: @escaping @Sendable (ModelRequest) -> Void,
        completion: @escaping @Sendable (Result<LoadedEngine, any Error>) -> Void
    ) {
        let isStarted = SystemThread.start("skein-load", stackBytes: 8 << 20) { [self] in
            completion(Result { try load(request: request) })
        }
        if !isStarted { completion(.failure(SocketError.threadRefused)) }
    }

    private func load(request: (ModelRequest) -> Void) throws -> LoadedEngine {
        let began = ContinuousClock.now
        let path = try setup.modelPath ?? fetched(request: request)
        let model = try ModelDirectory.open(path)
        // It is nearly always the run's model, so its weights are loaded while it is hashed. A
        // model of another size is not loaded, and loading ends when the hash turns out to differ.
        let hash = Background("skein-hash") { [progress, offer] in
            Result {
                let digest = try model.contentDigest { try progress.addOrEnd($0) }.bytes
                if digest != offer.modelDigest { progress.stop() }
                return digest
            }
        }
        guard hasSizes(of: model) else {
            return LoadedEngine(modelDigest: try hash.wait().get(), engine: nil)
        }
        let loaded = Result {
            try ModelEngine(
                offer: offer, model: model, threads: setup.threads, residence: setup.weights,
                features: setup.features, log: log, progress: { [progress] in progress.add($0) })
        }
        let digest = try hash.wait().get()
        guard digest == offer.modelDigest else {
            // Even if loading failed: the coordinator must learn which model this is.
            return LoadedEngine(modelDigest: digest, engine: nil)
        }
        let engine = try loaded.get()
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        log.info("model ready after \(String(format: "%.1f", seconds)) s: \(path)")
        return LoadedEngine(modelDigest: digest, engine: engine)
    }

    /// Whether the model's files have the offer's names and lengths; if not, its hash differs, too.
    private func hasSizes(of model: ModelDirectory) -> Bool {
        model.files.map { "\($0.file.count) \($0.name)" }
            == offer.modelFiles.map { "\($0.byteCount) \($0.name)" }
    }

    private func fetched(request: (ModelRequest) -> Void) throws -> String {
        var told = ContinuousClock.now
        return try fetch.run(request: request) { done, total in
            guard ContinuousClock.now - told > .seconds(2) else { return }
            told = .now
            log.info("fetching the model: \(done >> 20) of \(total >> 20) MiB")
        }
    }
}

/// How much of a model a worker has prepared, and whether it is still wanted. The threads that
/// fetch, hash and load count; the network's thread reads.
package final class PreparationProgress: Sendable {
    private let count = Atomic<UInt64>(0)
    private let stopped = Atomic<Bool>(false)
    private let waiting = Atomic<Bool>(false)

    package init() {}

    /// Bytes fetched, hashed and loaded so far; each counts once for each of these.
    var bytes: UInt64 { count.load(ordering: .relaxed) }

    /// Whether the model is no longer wanted.
    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    /// Whether it waits for another process of this host that fetches the model.
    var waitsForOther: Bool {
        get { waiting.load(ordering: .relaxed) }
        set { waiting.store(newValue, ordering: .relaxed) }
    }

    package func stop() { stopped.store(true, ordering: .relaxed) }

    /// - Returns: whether to go on.
    package func add(_ bytes: Int) -> Bool {
        count.wrappingAdd(UInt64(max(0, bytes)), ordering: .relaxed)
        return !isStopped
    }

    /// - Throws: `CancellationError` when the model is no longer wanted.
    func addOrEnd(_ bytes: Int) throws {
        if !add(bytes) { throw CancellationError() }
    }
}
