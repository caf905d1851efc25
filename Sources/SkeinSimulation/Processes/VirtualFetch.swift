import SkeinBasics
import SkeinCluster
import SkeinCoordination

/// The real `ModelFetch` of a simulated worker, on a `VirtualThread` and the disk of its host.
final class VirtualFetch: @unchecked Sendable {
    // Sendable: as `VirtualThread`.

    private let fetch: ModelFetch
    private let cache: CacheHost
    private unowned let worker: SimulatedWorker
    private let process: SimulatedProcess
    private let thread: VirtualThread
    private let loop: VirtualLoop
    private var asked: Set<UInt32> = []
    private var hasWaited = false

    init(
        _ offer: Offer, _ worker: SimulatedWorker, _ cache: CacheHost, _ loop: VirtualLoop,
        _ progress: PreparationProgress
    ) {
        self.cache = cache
        self.worker = worker
        self.loop = loop
        let thread = VirtualThread(of: loop)
        self.thread = thread
        let process = worker.opens(cache.disk)
        self.process = process
        fetch = ModelFetch(
            offer: offer, cache: CacheHost.path, progress: progress, patience: cache.patience,
            log: worker.log, calls: process,
            time: FetchTime(
                now: { [unowned loop] in loop.moment }, wait: { try thread.wait($0) }),
            pieceBytes: FetchedModel.pieces.bytes)
    }

    private func block(_ call: SimulatedProcess.BlockingCall) {
        let world = worker.world
        switch call {
        case .flush: thread.sleep(world.duration(0.0005...0.03))
        case .pause(let time):
            // It pauses only to wait for another one.
            if !hasWaited { world.count("fetch waits for its turn") }
            hasWaited = true
            thread.sleep(time)
        case .transfer: break
        }
    }

    func receive(_ piece: ModelChunk) -> Bool {
        defer { thread.wake() }
        return fetch.receive(piece)
    }

    /// The connection is gone, or the model is not wanted any more.
    func cancel() {
        fetch.cancel()
        thread.wake()
    }

    /// Whether the disk has all that was offered.
    var isWhole: Bool {
        if cache.isWhole { return true }
        if !cache.isDoubtful { worker.world.violate("\(worker.name) loads another model") }
        return false
    }

    /// Fetches; `ended` is called once, unless the process dies.
    func start(
        request: @escaping (ModelRequest) -> Void,
        ended: @escaping (Result<String, any Error>) -> Void
    ) {
        loop.whenEnding { [process, thread] in
            process.end()
            thread.unwind()
        }
        loop.later(.microseconds(100)) { [self] in
            process.blocks = { [unowned self] in block($0) }
            cache.begins(process, in: fetch.directory)
            let isStarted = thread.start("skein-fetch") { [self] in
                let result = Result { try run(request) }
                process.blocks = nil
                if case .success = result {
                    cache.ends(process, isDone: true)
                } else {
                    cache.ends(process, isDone: false)
                }
                // The next one begins where this one was.
                guard !process.isDead else { return }
                process.end()
                note(result)
                ended(result)
            }
            if !isStarted { worker.world.violate("the system has no thread for a fetch") }
        }
    }

    private func run(_ request: (ModelRequest) -> Void) throws -> String {
        let before = cache.mark
        let path = try fetch.run(
            request: { next in
                cache.asks(for: next, isFirst: asked.insert(next.file).inserted, process)
                inspectBounds()
                request(next)
            }, report: { _, _ in })
        cache.isFetched(since: before, Set(asked.map { Int($0) }))
        return path
    }

    private func inspectBounds() {
        worker.world.bound(
            "pieces that a worker waits for", at: worker.name, fetch.openPieces,
            atMost: Limits.pieceWindow)
    }

    private func note(_ result: Result<String, any Error>) {
        guard case .failure(let error) = result else { return }
        worker.world.note("\(worker.name) has not fetched the model: \(error)")
        switch error {
        case NodeError.connectionLost: worker.world.count("fetch interrupted")
        case NodeError.modelDamaged: cache.isDamaged()
        default: break
        }
    }
}
