import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinTraining

/// A whole run of a cluster in one thread: the real `TrainingLoop`, `ClusterSource`, shells, frames,
/// codecs and checkpoints, over virtual time, links and disks.
///
/// The coordinator's run is the thread: where it would wait for results, the world goes on. A
/// coordinator that dies is an error out of that wait, or out of an operation of the disk.
final class SimulatedRun: @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    static let address = "127.0.0.1:4011"
    static let token = [UInt8](repeating: 7, count: 32)
    static let options = CoordinatorOptions(listen: address, token: token)
    /// A numeric address: no name server is asked.
    static let addresses: [SocketAddress] =
        (try? NetworkAddress(parsing: address).resolved(for: .dialling)) ?? []

    let world: World
    let simulated: SimulatedJob
    let disk: VirtualDisk
    let poison: SimulatedJob.Poison
    private(set) var workers: [SimulatedWorker] = []
    /// How often the coordinator may die.
    var deaths = 0
    /// Whether its process is stopped for a while in each of its lives.
    var stops = false
    /// Whether an older copy of the run's directory is put in place between two lives.
    var restores = false
    var patience = Duration.seconds(60)
    private(set) var lives = 0

    private var limit = Duration.zero
    private var isDead = false
    private var store: VirtualStore?
    private var loop: VirtualLoop?
    private var shell: Confined<CoordinatorShell>?
    private var book: CoordinatorBook?
    /// The newest checkpoint that was said to be durable.
    private var savedStep = 0
    /// The copy of the disk, with what was durable then.
    private var copy: (disk: VirtualDisk.Copy, savedStep: Int)?
    private var watchesAt = Duration.zero

    /// Why the world does not go on.
    private struct WorldEnded: Error {}

    init(
        seed: UInt64, workers count: Int, of simulated: SimulatedJob,
        poison: SimulatedJob.Poison = SimulatedJob.Poison()
    ) {
        world = World(seed: seed)
        disk = VirtualDisk(seed: seed)
        self.simulated = simulated
        self.poison = poison
        let model = simulated.model(poison)
        for index in 0..<count { workers.append(SimulatedWorker(world, index, model: model)) }
    }

    var violations: [String] { world.violations }

    /// Runs until the run has ended and all that it left was looked at, or until it is clear that it
    /// will not end.
    func run(limit: Duration) {
        self.limit = limit
        for worker in workers { world.after(worker.startsAfter) { self.launch(worker) } }
        while true {
            do {
                try live()
                try verify(failingStep: nil)
            } catch is WorldEnded {
                break
            } catch  where isDead {
                end()
                if world.random.happens(0.4) {
                    world.note("power is lost")
                    world.count("power lost")
                    disk.loosePower()
                }
                if restores { copyOrRestore() }
                do {
                    isDead = false
                    try pass(.milliseconds(700))
                } catch {
                    break
                }
                continue
            } catch TrainingError.lossNotFinite(let step, _) {
                do {
                    try verify(failingStep: step)
                } catch {
                    world.violate("what was left cannot be read: \(error)")
                }
            } catch {
                world.violate("the run has failed: \(error)")
            }
            break
        }
        end()
        for worker in workers { worker.end() }
        world.end()
    }

    /// Copies the directory after one death and puts the copy back after a later one: the terms since
    /// then are given out once more.
    private func copyOrRestore() {
        guard let copy else {
            self.copy = (disk.copied(), savedStep)
            return
        }
        guard world.random.happens(0.7) else { return }
        world.note("an older copy of the run's directory is put in place")
        world.count("directory restored")
        disk.restore(copy.disk)
        savedStep = copy.savedStep
    }

    private func launch(_ worker: SimulatedWorker) {
        do {
            try worker.launch()
        } catch {
            world.violate("\(worker.name) cannot be started: \(error)")
        }
    }

    /// One process of the coordinator, from its start to its end.
    private func live() throws {
        lives += 1
        let life = lives
        world.note("the coordinator starts")
        var death: (count: Int, of: VirtualDisk.Step)?
        if deaths > 0 {
            deaths -= 1
            if world.random.happens(0.6) {
                death = deathAtDisk()
            } else {
                world.after(world.duration(1...12)) { [self] in
                    if life == lives { die("the coordinator is killed") }
                }
            }
        }
        let store = disk.opened(dyingAfter: death) { [self] in
            world.count("died at the disk")
            die("the coordinator is killed while it uses its disk")
        }
        self.store = store
        let loop = VirtualLoop("coordinator", in: world)
        self.loop = loop
        if stops { planStop(life) }
        let directory = try RunDirectory(path: "/run", resuming: true, in: store)
        let identity = try simulated.identity(
            term: directory.nextTerm(first: 100), start: world.random.bytes(16))
        let inbox = RunInbox { [self] isReady in try wait(isReady) }
        let counts = ShellCounts()
        let shell = try listen(loop, inbox, identity, counts)
        self.shell = shell
        let shellHandle = ShellHandle(shell: shell, counts: counts)
        var settings = LoopSettings()
        settings.now = { [world] in world.instant }
        settings.beside = BesideRun { [self] in beside($0) }
        let training = CoordinatorRun(
            job: simulated.job, directory: directory,
            network: CoordinatorNetwork(
                shellHandle: shellHandle, inbox: inbox, address: Self.address, endThread: {}),
            options: Self.options, settings: settings, log: log, samples: .silent)
        let ending = try training.train(
            report: { [self] in try take($0) }, shouldStop: { false })
        shellHandle.finish(Leave(reason: .complete, detail: "the run is complete"))
        if !ending.outcome.isComplete { world.violate("the run ended before its plan") }
        try pass(Connection.flushPatience)
        if counts.connections > 0 { world.note("\(counts.connections) peers are still there") }
    }

    private func listen(
        _ loop: VirtualLoop, _ inbox: RunInbox, _ identity: RunIdentity, _ counts: ShellCounts
    ) throws -> Confined<CoordinatorShell> {
        var settings = CoordinatorSettings(minimumWorkers: 1, patience: patience)
        // Now and then there is hardly any room for results.
        if world.seed % 5 == 0 { settings.maximumUnchecked = 1 + Int(world.seed % 2) }
        book = CoordinatorBook(world, settings)
        let source = RandomSource(world.random.next())
        let randomness = Randomness { (count) throws(SocketError) in source.bytes(count) }
        let shell = try Confined(to: loop) { [settings, log] in
            CoordinatorShell(
                loop: loop, inbox: inbox, identity: identity,
                options: Self.options,
                settings: settings, counts: counts, log: log, randomness: randomness)
        }
        try shell.call { [self] in
            $0.desk = shell
            $0.witness = { [unowned self, unowned shell = $0] in book?.take($0, $1, shell) }
            let name = try NetworkAddress(parsing: Self.address)
            _ = try $0.listen(on: Self.addresses, name: name)
        }
        return shell
    }

    private var log: Log {
        Log(to: { [world] _, sentence in world.note("coordinator: \(sentence)") })
    }

    private func die(_ how: String) {
        guard !isDead else { return }
        world.note(how)
        world.count("coordinator died")
        isDead = true
        // At once, not when the run has unwound: a checkpoint that is being written stays as it is.
        store?.end()
        loop?.die()
    }

    /// Ledger, metrics and names of checkpoints are few among all that is written, and what goes on from
    /// them is much: half of the deaths are there.
    private func deathAtDisk() -> (count: Int, of: VirtualDisk.Step) {
        switch Int.random(in: 0..<4, using: &world.random) {
        case 0: (Int.random(in: 1...40, using: &world.random), .line)
        case 1: (Int.random(in: 1...12, using: &world.random), .name)
        default: (Int.random(in: 1...400, using: &world.random), .any)
        }
    }

    private func planStop(_ life: Int) {
        world.after(world.duration(0.5...8)) { [self] in
            guard life == lives, let loop, !loop.isDead else { return }
            let pause = world.duration(0.2...6)
            world.note("stop the coordinator for \(pause)")
            world.count("coordinator stopped")
            world.after(pause) { [self] in book?.forgive() }
            loop.sleep(pause)
        }
    }

    private func end() {
        loop?.die()
        store?.end()
        (loop, store, shell, book) = (nil, nil, nil, nil)
    }

    // MARK: The run's thread

    /// What the run's thread waits for a result by. It was busy with the one before.
    private func wait(_ isReady: () -> Bool) throws {
        // In one world of eight it has much to do: results that differ, or whose workers go, wait.
        let isSlow = world.random.happens(world.seed % 8 == 3 ? 0.3 : 0.01)
        let free = world.now + (isSlow ? .milliseconds(400) : world.duration(0.0005...0.004))
        while world.now < free || !isReady() || loop?.isAsleep == true { try step() }
    }

    private func pass(_ time: Duration) throws {
        let end = world.now + time
        // Nothing may be left to happen at all.
        world.at(end) {}
        while world.now < end || loop?.isAsleep == true { try step() }
    }

    private func step() throws {
        if isDead { throw ProcessDied() }
        guard world.violations.isEmpty else { throw WorldEnded() }
        guard world.step(), world.now <= limit else {
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
        guard !isDead, let shell, loop?.isAsleep == false else { return }
        try shell.call { [self] in book?.inspect($0, workers: workers.count) }
    }

    /// What is done beside the run: some time later, or when it is waited for.
    private func beside(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let once = Once(work)
        world.after(world.duration(0.001...0.3)) { once.run() }
        return { once.run() }
    }

    private func take(_ event: TrainingLoop.Event) throws {
        // Killed while it read a checkpoint, it would call that one damaged.
        if isDead { throw ProcessDied() }
        switch event {
        case .step:
            // The update, and what is written down for it.
            try pass(world.duration(0.001...0.2))
        case .resumed(let step, let rejected):
            world.note("goes on from step \(step)")
            world.count("resumed")
            if step < savedStep { world.violate("goes back to \(step) from \(savedStep)") }
            for error in rejected { world.violate("a checkpoint is lost: \(error)") }
        case .checkpoint(let step, _):
            savedStep = step
            world.note("has saved step \(step)")
        case .ledgerDoubted(let error): world.violate("the ledger is doubted: \(error)")
        case .adapterRestored(let step): world.violate("the adapter of step \(step) was gone")
        case .rowsNotRecorded: world.violate("run.json does not name the rows")
        case .otherEngines: world.violate("other engines are admitted")
        case .validation, .sample, .stoppedEarly, .noticed: break
        }
    }

    // MARK: What is left

    /// The law: everything is as in one process, down to the bytes of the adapter, and stays when
    /// power is lost now.
    private func verify(failingStep: Int?) throws {
        let expected = try simulated.expected(poison)
        guard failingStep == expected.failingStep else {
            let steps = (failingStep, expected.failingStep)
            return world.violate("ends at \(String(describing: steps)) (found, expected)")
        }
        for isPowerLost in [false, true] {
            if isPowerLost { disk.loosePower() }
            let found = try RunFiles(disk, directory: "/run")
            if found.adapter != expected.files.adapter { world.violate("another adapter") }
            if failingStep == nil, found.adapter == nil { world.violate("no adapter") }
            if found.metrics != expected.files.metrics {
                world.violate(
                    "other metrics: \(found.metrics) instead of \(expected.files.metrics)")
            }
            if found.ledger != expected.files.ledger { world.violate("another ledger") }
        }
        let report = try Ledger.verify(
            ledger: "/run/ledger.jsonl", metrics: "/run/metrics.jsonl", in: disk.opened())
        if report.findingCount > 0 {
            world.violate("the ledger proves nothing: \(report.findings)")
        }
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

/// Random bytes of one process.
final class RandomSource: @unchecked Sendable {
    // Sendable: used on the world's thread alone.
    private var random: SplitMix

    init(_ seed: UInt64) { random = SplitMix(state: seed) }

    func bytes(_ count: Int) -> [UInt8] { random.bytes(count) }
}
