import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinTraining

/// Gets a worker ready for an offer, on a thread of its own: fetches the model if it must, hashes it
/// and loads its weights, while the network's thread goes on with its heartbeats.
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
        fetch = ModelFetch(offer: offer, cache: CacheDirectory.root, progress: progress)
    }

    /// Whether what is loaded for the own offer does for `other`, which may be of a later term.
    func serves(_ other: Offer) -> Bool {
        var other = other
        (other.term, other.proof) = (offer.term, offer.proof)
        return other == offer
    }

    /// A piece of the model that has come.
    func receive(_ piece: ModelChunk) {
        fetch.receive(piece)
    }

    /// The connection is gone: what is being fetched ends, what is being loaded goes on.
    func cancel() {
        fetch.cancel()
    }

    /// Nobody wants it any more: fetching, hashing and loading end as soon as they can.
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
        if !isStarted { completion(.failure(NodeError.threadRefused)) }
    }

    private func load(request: (ModelRequest) -> Void) throws -> LoadedEngine {
        let began = ContinuousClock.now
        let path = try setup.modelPath ?? fetched(request: request)
        let model = try ModelDirectory.open(path)
        // Nearly always it is the run's model, so its weights are loaded while it is hashed. What has
        // another size cannot be it, and what has another hash is not loaded to its end.
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
                progress: { [progress] in progress.add($0) })
        }
        let digest = try hash.wait().get()
        guard digest == offer.modelDigest else {
            // Whatever loading it gave: the coordinator is to hear whose model this is.
            return LoadedEngine(modelDigest: digest, engine: nil)
        }
        let engine = try loaded.get()
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        log.info("model ready after \(String(format: "%.1f", seconds)) s: \(path)")
        return LoadedEngine(modelDigest: digest, engine: engine)
    }

    /// Whether the model has the names and lengths of the offer's files: without them it has another
    /// hash, too.
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
