import SkeinBasics

/// The workers that have joined, and which of them want work; every change costs O(1).
package struct Membership: Sendable {
    private var workers: [PeerID: Worker] = [:]
    private var byName: [String: PeerID] = [:]
    private(set) var all = PeerSet()
    /// Those with a thread that has nothing to do.
    private(set) var idle = PeerSet()
    /// Those with all threads busy and room for one more lease.
    private(set) var roomy = PeerSet()
    /// Those with leases that wait behind others.
    private(set) var laden = PeerSet()
    /// Workers that do not drain, and their threads.
    private(set) var active = 0
    private(set) var activeThreads = 0

    var count: Int { all.count }

    package subscript(peer: PeerID) -> Worker? { workers[peer] }

    package subscript(name name: String) -> Worker? {
        byName[name].flatMap { workers[$0] }
    }

    func isActive(name: String) -> Bool {
        self[name: name].map { !$0.isDraining } ?? false
    }

    mutating func add(_ worker: Worker) {
        precondition(workers[worker.peer] == nil, "\(worker.peer) joins twice")
        precondition(byName[worker.name] == nil, "two workers of one name")
        workers[worker.peer] = worker
        byName[worker.name] = worker.peer
        all.set(worker.peer, true)
        active += 1
        activeThreads += worker.threads
        sort(worker.peer)
    }

    mutating func remove(_ peer: PeerID) -> Worker? {
        guard let worker = workers.removeValue(forKey: peer) else { return nil }
        byName[worker.name] = nil
        all.set(peer, false)
        idle.set(peer, false)
        roomy.set(peer, false)
        laden.set(peer, false)
        if !worker.isDraining {
            active -= 1
            activeThreads -= worker.threads
        }
        return worker
    }

    /// Changes a worker in place and updates the sets; nil: there is no such worker.
    @discardableResult
    mutating func update<T>(_ peer: PeerID, _ change: (inout Worker) -> T) -> T? {
        guard let place = workers.index(forKey: peer) else { return nil }
        let wasDraining = workers.values[place].isDraining
        let result = change(&workers.values[place])
        if workers.values[place].isDraining, !wasDraining {
            active -= 1
            activeThreads -= workers.values[place].threads
        }
        sort(peer)
        return result
    }

    private mutating func sort(_ peer: PeerID) {
        guard let worker = workers[peer] else { return }
        idle.set(peer, worker.hasIdleThread)
        roomy.set(peer, worker.canPrefetch)
        laden.set(peer, worker.hasUnstarted)
    }
}
