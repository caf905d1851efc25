import SkeinBasics
import SkeinTraining

/// The real `FeatureStore` of a simulated worker, on `VirtualThread`s and the disk of its host. One lease
/// uses it at a time: a thread that waits holds the store's locks, and the world has no other thread.
final class VirtualFeatures: @unchecked Sendable {
    // Sendable: as `VirtualThread`.

    private let host: FeatureHost
    private unowned let worker: SimulatedWorker
    private let loop: VirtualLoop
    private let process: SimulatedProcess
    private var store: FeatureStore?
    private var hasOpened = false
    private var thread: VirtualThread?
    /// Leases whose rows wait, and what comes then.
    private var waiting: [(rows: [[Int32]], then: () -> Void)] = []

    init(_ host: FeatureHost, _ worker: SimulatedWorker, _ loop: VirtualLoop) {
        self.host = host
        self.worker = worker
        self.loop = loop
        process = worker.opens(host.disk)
        process.blocks = { [unowned self] in block($0) }
        loop.whenEnding { [self] in
            process.end()
            thread?.unwind()
            (thread, waiting) = (nil, [])
            process.blocks = nil
        }
    }

    private func block(_ call: SimulatedProcess.BlockingCall) {
        let world = worker.world
        switch call {
        case .flush: break
        case .pause(let time):
            world.count("features wait for another process")
            thread?.sleep(time)
        case .transfer:
            if world.random.happens(0.25) { thread?.sleep(world.duration(0.0001...0.005)) }
        }
    }

    /// Takes features of rows from the disk, and keeps those that are not there; then calls `then`, unless
    /// the process dies.
    func use(_ rows: [[Int32]], then: @escaping () -> Void) {
        waiting.append((rows, then))
        if thread == nil { goOn() }
    }

    private func goOn() {
        guard !waiting.isEmpty else { return }
        let (rows, then) = waiting.removeFirst()
        let thread = VirtualThread(of: loop)
        self.thread = thread
        let isStarted = thread.start("skein-features") { [self] in
            open()
            if let store { use(rows, store) }
            guard !process.isDead else { return }
            loop.later(.zero) { [self] in
                self.thread = nil
                then()
                goOn()
            }
        }
        precondition(isStarted, "the system has a thread for features")
    }

    private func open() {
        guard !hasOpened else { return }
        hasOpened = true
        do {
            let store = try FeatureStore(host.key, settings: host.settings, calls: process)
            if process.isDead { return }
            self.store = store
            guard host.mayBeginAnew, worker.world.random.happens(0.3) else { return }
            host.beginsAnew()
            try store.beginAnew()
        } catch is ProcessDied {
            return
        } catch {
            // A worker computes without, too.
            worker.world.note("\(worker.name) keeps no features: \(error)")
            if host.disk.faults.failures == 0, host.disk.faults.bytesLeft == nil {
                worker.world.violate("\(worker.name) keeps no features: \(error)")
            }
        }
    }

    /// As an engine uses them: first all rows are read, then those that are not there are kept.
    private func use(_ rows: [[Int32]], _ store: FeatureStore) {
        var missing: [[Int32]] = []
        for row in rows {
            var found = [Float](repeating: 0, count: row.count * FeatureHost.width)
            let isThere = found.withUnsafeMutableBufferPointer { found in
                guard let start = found.baseAddress else { return false }
                return store.read(FeatureName(row[...]), tokens: row.count, into: start)
            }
            if process.isDead { return }
            if isThere {
                host.isRead(row, found, by: worker.name)
            } else {
                host.lacks(row, worker.name)
                missing.append(row)
            }
        }
        for row in missing {
            let features = host.features(of: row)
            features.withUnsafeBufferPointer { features in
                guard let start = features.baseAddress else { return }
                store.keep(FeatureName(row[...]), tokens: row.count, start)
            }
            if process.isDead { return }
            if store.has(FeatureName(row[...])) { host.keeps(row) }
        }
        host.inspect(store, of: worker.name)
    }
}
