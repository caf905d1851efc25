import Basics
import Coordination
import Formats
import Foundation
import Training

/// Gets a worker ready for an offer, on a thread of its own: fetches the model if it must, hashes it
/// and loads its weights, while the network's thread goes on with its heartbeats.
final class EngineLoading: Sendable {
    struct Loaded: Sendable {
        let modelDigest: [UInt8]
        /// nil: the model is not the run's, so there is nothing to compute with it.
        let engine: WorkerEngine?
    }

    private let offer: Offer
    private let setup: WorkerSetup
    private let log: Log
    private let fetch: ModelFetch

    init(offer: Offer, setup: WorkerSetup, log: Log) {
        self.offer = offer
        self.setup = setup
        self.log = log
        fetch = ModelFetch(offer: offer, cache: CacheDirectory.root)
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

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - request: sends a request for a piece of the model; called on the thread.
    ///   - completion: called once, on the thread.
    func start(
        request: @escaping @Sendable (ModelRequest) -> Void,
        completion: @escaping @Sendable (Result<Loaded, any Error>) -> Void
    ) {
        let thread = Thread { [self] in
            completion(Result { try load(request: request) })
        }
        thread.name = "skein-load"
        thread.stackSize = 8 << 20
        thread.start()
    }

    private func load(request: (ModelRequest) -> Void) throws -> Loaded {
        let began = ContinuousClock.now
        let path = try setup.modelPath ?? fetched(request: request)
        let model = try ModelDirectory.open(path)
        // Nearly always it is the run's model, so its weights are loaded while it is hashed.
        let hash = Background("skein-hash") { model.contentDigest().bytes }
        let loaded = Result {
            try WorkerEngine(
                offer: offer, model: model, modelDigest: offer.modelDigest, threads: setup.threads,
                residence: setup.weights)
        }
        let digest = hash.wait()
        guard digest == offer.modelDigest else {
            // Whatever loading it gave: the coordinator is to hear whose model this is.
            return Loaded(modelDigest: digest, engine: nil)
        }
        let engine = try loaded.get()
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        log.info("model ready after \(String(format: "%.1f", seconds)) s: \(path)")
        return Loaded(modelDigest: digest, engine: engine)
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
