import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork

// The run's thread: the world goes on while it waits or computes.
extension SimulatedRun {
    /// What the run's thread waits for a result by. It was busy with the one before.
    func wait(_ isReady: () -> Bool) throws {
        // In one world of eight it has much to do: results that differ, or whose workers go, wait.
        let isSlow = world.random.happens(world.seed % 8 == 3 ? 0.3 : 0.01)
        let free = world.now + (isSlow ? .milliseconds(400) : world.duration(0.0005...0.004))
        while world.now < free || !isReady() || loop?.isAsleep == true { try step() }
    }

    func pass(_ time: Duration) throws {
        let end = world.now + time
        // Nothing may be left to happen at all.
        world.at(end) {}
        while world.now < end || loop?.isAsleep == true { try step() }
    }

    func step() throws {
        if isDead { throw ProcessDied() }
        guard world.violations.isEmpty else { throw WorldEnded() }
        guard world.step(), world.now <= limit else {
            // Without a coordinator there is nothing to say.
            let state = shell.flatMap { shell in
                try? shell.call { $0.state.waiting(now: $0.now).sentence }
            }
            world.violate("not done after \(limit): \(state ?? "no coordinator")")
            throw WorldEnded()
        }
        if world.now >= watchesAt { try inspect() }
        if isDead { throw ProcessDied() }
    }

    private func inspect() throws {
        watchesAt = world.now + .milliseconds(300)
        for worker in workers { try worker.inspect() }
        try own?.inspect()
        guard !isDead, let shell, let loop, let inbox, !loop.isAsleep else { return }
        // Others of a worker's name, and strangers, have connections, too.
        let count = workers.count + (own == nil ? 0 : 1) + others.count + strangers
        try shell.call { [self] in book?.inspect($0, loop, inbox, workers: count) }
    }

    /// What is done beside the run: some time later, or when it is waited for.
    func beside(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let once = Once(work)
        world.after(world.duration(0.001...0.3)) { once.run() }
        return { once.run() }
    }
}

/// Work that the first caller does.
private final class Once: @unchecked Sendable {
    // Sendable: used on the world's thread alone.
    private var work: (@Sendable () -> Void)?

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    func run() {
        let work = self.work
        self.work = nil
        work?()
    }
}
