import SkeinBasics
import SkeinCluster
import SkeinCoordination

/// Makes a `VirtualEngine` in up to 0.3 s, behind the real `ModelFetch` if its worker has no model.
final class VirtualLoading: EngineLoading, @unchecked Sendable {
    // Sendable: used on the world's thread, and on the fetch's while that waits.

    let progress = PreparationProgress()
    private let offer: Offer
    private unowned let worker: SimulatedWorker
    private let loop: VirtualLoop
    private let fetch: VirtualFetch?

    init(_ offer: Offer, _ worker: SimulatedWorker, _ loop: VirtualLoop) {
        self.offer = offer
        self.worker = worker
        self.loop = loop
        let progress = progress
        fetch = worker.cache.map { VirtualFetch(offer, worker, $0, loop, progress) }
    }

    func serves(_ other: Offer) -> Bool {
        var other = other
        (other.term, other.start, other.proof) = (offer.term, offer.start, offer.proof)
        return other == offer
    }

    func receive(_ piece: ModelChunk) -> Bool { fetch?.receive(piece) ?? false }

    func cancel() { fetch?.cancel() }

    func abandon() {
        progress.stop()
        fetch?.cancel()
    }

    func start(
        request: @escaping @Sendable (ModelRequest) -> Void,
        completion: @escaping @Sendable (Result<LoadedEngine, any Error>) -> Void
    ) {
        guard let fetch else { return load(completion) }
        fetch.start(request: request) { [self] result in
            switch result {
            case .success: load(completion)
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private func load(
        _ completion: @escaping @Sendable (Result<LoadedEngine, any Error>) -> Void
    ) {
        loop.later(worker.world.duration(0...0.3)) { [self] in
            _ = progress.add(1 << 20)
            // It is hashed while it is loaded, and what is on the disk may be another one by now.
            if let fetch, !fetch.isWhole {
                let other = LoadedEngine(
                    modelDigest: offer.modelDigest.reversed(), engine: nil)
                return completion(.success(other))
            }
            completion(
                .success(
                    LoadedEngine(
                        modelDigest: offer.modelDigest,
                        engine: VirtualEngine(offer, worker, loop))))
        }
    }
}
