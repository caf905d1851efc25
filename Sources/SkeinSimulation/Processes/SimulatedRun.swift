import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinLaunch
import SkeinModels
import SkeinNetwork
import SkeinTraining

/// A whole run of a cluster in one thread: the real `TrainingLoop`, `ClusterSource`, shells, frames,
/// codecs and checkpoints, over virtual time, links and disks.
///
/// The coordinator's run is the thread: where it would wait for results, the world goes on. A
/// coordinator that dies is an error out of that wait, or out of an operation of the disk.
final class SimulatedRun: DiskOwner, @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    /// That of all processes but strangers.
    static let version = "simulated"
    static let address = "127.0.0.1:4011"
    static let token = [UInt8](repeating: 7, count: 32)
    static let options = CoordinatorOptions(listen: address, token: token)
    /// A numeric address: no name server is asked.
    // Without one no worker would ever join, and each run would say so.
    static let addresses: [SocketAddress] =
        (try? NetworkAddress(parsing: address).resolved(for: .dialling)) ?? []

    let world: World
    let simulated: SimulatedJob
    let disk: SimulatedDisk
    let poison: SimulatedJob.Poison
    /// The model that its workers fetch; nil: each has one.
    let fetched: FetchedModel?
    /// When the coordinator's disk has read all that it was asked for of the model.
    private var readsUntil = Duration.zero
    private(set) var workers: [SimulatedWorker] = []
    /// The worker in the coordinator's process (`--local-workers`).
    private(set) var own: SimulatedWorker?
    private let faults: [Fault]
    /// Those of the faults that found something to happen to.
    private(set) var suffered: [Fault] = []
    /// What starts all processes; nil: each comes back by itself.
    private(set) var launcher: SimulatedLauncher?
    let host = VirtualHost()
    var patience = Duration.seconds(60)
    private(set) var lives = 0

    var limit = Duration.zero
    var isDead = false
    /// SIGTERM: the run ends after its step.
    var isAsked = false
    /// What happens while no coordinator is there.
    var between = Between()
    /// The death at the disk that is planned, for the next process if none is there.
    var planned: (count: Int, of: SimulatedDisk.Call)?
    /// What is wrong with the disk.
    var trouble = DiskTrouble()
    /// How long the coordinator is away whose directory another process has taken over; nil: none has.
    var lostFor: Duration?
    /// What that other process is still to do.
    var takesOver: (() -> Void)?
    /// The files that it has left, by path.
    var left: [String: [UInt8]]?
    /// Second processes of a worker's name, and workers of another version.
    var others: [SimulatedWorker] = []
    /// Connections that strangers have asked for.
    var strangers = 0
    var process: SimulatedProcess?
    var loop: VirtualLoop?
    var shell: Confined<CoordinatorShell>?
    var book: CoordinatorBook?
    var inbox: RunInbox?
    /// The newest checkpoint that was said to be durable.
    private var savedStep = 0
    /// The step from which the coordinator has gone on, and its checkpoints since then.
    private var savedSince: (step: Int, steps: Set<Int>) = (0, [])
    /// The copy of the disk, with what was durable then.
    private var copy: (disk: SimulatedDisk.Copy, savedStep: Int)?
    var watchesAt = Duration.zero

    /// Why the world does not go on.
    struct WorldEnded: Error {}

    /// What a dead coordinator leaves to be done before the next one starts.
    struct Between {
        var pause = Duration.milliseconds(700)
        var losesPower = false
        var rots = false
        var copies = false
        var restores = false
        var repeatsTerm = false
    }

    /// A run that has not begun; `faults` are in the order of their times. `computes`: the coordinator has a
    /// worker of its own. `keepsFeatures`: its other workers keep features on disks. `launches`: a launcher starts
    /// all processes.
    init(
        seed: UInt64, workers count: Int, of simulated: SimulatedJob,
        poison: SimulatedJob.Poison = SimulatedJob.Poison(), faults: [Fault] = [],
        fetched: FetchedModel? = nil, keepsFeatures: Bool = false, computes: Bool = false,
        launches: Bool = false,
        keepsTrace: Bool = false
    ) {
        self.faults = faults
        self.fetched = fetched
        world = World(seed: seed, keepsTrace: keepsTrace)
        disk = SimulatedDisk(seed: seed)
        self.simulated = simulated
        self.poison = poison
        let model = simulated.model(poison)
        // In every other world two workers share a host.
        let hosts = fetched.map { fetched in
            (0..<count).map { CacheHost(world, $0, fetched) }
        }
        let featureHosts = keepsFeatures ? (0..<count).map { FeatureHost(world, $0) } : nil
        for index in 0..<count {
            let number = seed / 4 % 4 < 2 ? index : index / 2
            workers.append(
                SimulatedWorker(
                    world, index, model: model, cache: hosts?[number],
                    features: featureHosts?[number]))
        }
        if launches { launcher = SimulatedLauncher(self) }
        guard computes else { return }
        own = SimulatedWorker(world, 99, model: model, host: host, name: WorkerName.own)
        own?.comesBack = false
    }

    var violations: [String] { world.violations }

    /// Runs until the run has ended and all that it left was looked at, or until it is clear that it
    /// will not end.
    func run(limit: Duration) {
        self.limit = limit
        if launcher == nil {
            for worker in workers { world.after(worker.startsAfter) { self.launch(worker) } }
        }
        for fault in faults {
            world.at(.seconds(fault.at)) { [self] in
                guard suffer(fault) else { return }
                world.note("\(fault)")
                world.count("fault \(fault.what.rawValue)")
                suffered.append(fault)
            }
        }
        while true {
            do {
                try launcher?.begin()
                if try !live() {
                    try stayAway(.exited(ExitStatus.interrupted.rawValue))
                    continue
                }
                inspectTakeover()
                if let launcher {
                    // The process is gone: nothing can happen to it while its workers leave.
                    end()
                    try launcher.runIsComplete()
                }
                try verify(failingStep: nil)
            } catch is WorldEnded {
                break
            } catch  where isDead {
                // It throws when the world has ended, which has been written down.
                do { try stayAway(.killed(signal: SIGKILL)) } catch { break }
                continue
            } catch TrainingError.lossNotFinite(let step, _) {
                do {
                    try verify(failingStep: step)
                } catch {
                    world.violate("what was left cannot be read: \(error)")
                }
            } catch let error where lostFor != nil && showsLoss(error) {
                world.note("the coordinator has lost its directory")
                world.count("lost its directory")
                between.pause = lostFor ?? between.pause
                // Likewise.
                do { try stayAway(.exited(ExitStatus.inputOutput.rawValue)) } catch { break }
                continue
            } catch let error as any Explained where trouble.explainsError(disk) {
                // Its user starts it again, when the disk may be better.
                world.note("the coordinator ends: \(error)")
                world.count("ended by its disk")
                if trouble.isLasting { break }
                between.pause = .seconds(2)
                let status = error.explanation.status.rawValue
                // Likewise.
                do { try stayAway(.exited(status)) } catch { break }
                continue
            } catch {
                world.violate("the run has failed: \(error)")
            }
            break
        }
        end()
        // Another process that has not gone on would keep the world.
        (takesOver, left) = (nil, nil)
        for worker in workers + others { worker.end() }
        world.end()
    }

    /// The next process has the term of the one before, and goes on from a later step.
    private func putTermBack() throws {
        let text = String(decoding: disk["/run/term"] ?? [], as: UTF8.self)
        guard let term = UInt32(text.prefix(while: \.isNumber)), term > 0 else { return }
        world.note("OUT/term is what it was")
        world.count("term put back")
        let (faults, process) = (disk.faults, disk.opened())
        defer {
            process.end()
            disk.faults = faults
        }
        disk.faults = DiskFaults()
        try process.store.write("\(term - 1)\n", to: "/run/term")
    }

    /// No coordinator is there for a while.
    private func stayAway(_ ending: ChildProcess.Ending) throws {
        end()
        inspectTakeover()
        launcher?.ended(.coordinator, ending)
        isDead = false
        isAsked = false
        let pause = between.pause
        between.pause = .milliseconds(700)
        try pass(pause)
        if between.losesPower {
            world.note("power is lost")
            world.count("power lost")
            disk.losePower()
            // After a flush that failed the system forgets what it was to write.
            let counts = disk.faults.counts
            if counts[.lostFlush] != nil || counts[.flushError] != nil { trouble.isLasting = true }
        }
        if between.rots, let path = disk.rot(below: "/run") {
            world.note("a bit of \(path) is another")
            world.count("bit rot")
            trouble.isLasting = true
        }
        if between.copies { copy = disk.copied().map { ($0, savedStep) } }
        if between.restores, let copy {
            // The terms since then are given out once more.
            world.note("an older copy of the run's directory is put in place")
            world.count("directory restored")
            disk.restore(copy.disk)
            savedStep = copy.savedStep
        }
        if between.repeatsTerm { try putTermBack() }
        between = Between()
    }

    func launch(_ worker: SimulatedWorker) {
        do {
            try worker.launch()
        } catch {
            world.violate("\(worker.name) cannot be started: \(error)")
        }
    }

    /// One process of the coordinator, from its start to its end.
    ///
    /// - Returns: whether the run is complete.
    private func live() throws -> Bool {
        lives += 1
        world.note("the coordinator starts")
        trouble.failuresBefore = disk.faults.failures
        savedSince = (0, [])
        (lostFor, left) = (nil, nil)
        let process = disk.opened(dyingAfter: planned) { [self] in
            world.count("died at the disk")
            die("the coordinator is killed while it uses its disk")
        }
        planned = nil
        self.process = process
        let loop = VirtualLoop("coordinator", in: world, on: host)
        self.loop = loop
        let directory = try RunDirectory(path: "/run", resuming: true, in: process.store)
        let identity = try simulated.identity(
            term: directory.nextTerm(first: 100, mark: world.random.next()),
            start: world.random.bytes(16), fetched: fetched)
        let inbox = RunInbox { [self] isReady in try wait(isReady) }
        self.inbox = inbox
        let counts = ShellCounts()
        let shell = try listen(loop, inbox, identity, counts)
        self.shell = shell
        if let own { launch(own) }
        launcher?.hear(ListeningLine.text(address: Self.address))
        let shellHandle = ShellHandle(shell: shell, counts: counts)
        var settings = LoopSettings()
        settings.now = { [self] in world.start + host.own(world.now) }
        settings.beside = BesideRun { [self] in beside($0) }
        let training = CoordinatorRun(
            job: simulated.job, directory: directory,
            network: CoordinatorNetwork(
                shellHandle: shellHandle, inbox: inbox, address: Self.address, endThread: {}),
            options: Self.options, settings: settings, log: log, samples: .silent)
        let ending = try training.train(
            report: { [self] in try take($0) }, shouldStop: { [self] in isAsked })
        let isComplete = ending.outcome.isComplete
        shellHandle.finish(
            isComplete
                ? Leave(reason: .complete, detail: "the run is complete")
                : Leave(reason: .interrupted, detail: "the coordinator was asked to stop"))
        if !isComplete, !isAsked { world.violate("the run ended before its plan") }
        if isComplete {
            let missing = try simulated.expected(poison).savedSteps.filter {
                $0 > savedSince.step && !savedSince.steps.contains($0)
            }
            if !missing.isEmpty { world.violate("has no checkpoint of \(missing.sorted())") }
        }
        try pass(Connection.flushPatience)
        if counts.connections > 0 { world.note("\(counts.connections) peers are still there") }
        return isComplete
    }

    private func listen(
        _ loop: VirtualLoop, _ inbox: RunInbox, _ identity: RunIdentity, _ counts: ShellCounts
    ) throws -> Confined<CoordinatorShell> {
        // In one world of seven rounds begin when two or three workers are there.
        let fewest = world.seed % 7 == 2 ? 2 + Int(world.seed / 7 % 2) : 1
        var settings = CoordinatorSettings(
            minimumWorkers: min(fewest, workers.count), patience: patience)
        if settings.minimumWorkers > 1 { world.count("waits for several workers") }
        if let own {
            own.incarnation = world.random.bytes(16)
            settings.ownIncarnation = own.incarnation
        }
        // Now and then there is hardly any room for results.
        if world.seed % 5 == 0 { settings.maximumUnchecked = 1 + Int(world.seed % 2) }
        book = CoordinatorBook(world, settings) { [unowned self] in
            isAsked || lostFor != nil || trouble.explainsError(disk)
        }
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
            $0.readBeside = { [unowned self, unowned loop] in read($0, loop) }
            $0.witness = { [unowned self, unowned shell = $0] in book?.take($0, $1, shell) }
            let name = try NetworkAddress(parsing: Self.address)
            _ = try $0.listen(on: Self.addresses, name: name)
        }
        return shell
    }

    /// Reads a piece of the model, after those before it.
    private func read(_ piece: @escaping () -> Void, _ loop: VirtualLoop) {
        let isSlow = world.seed / 4 % 3 == 0
        readsUntil = max(readsUntil, world.now) + world.duration(0.001...(isSlow ? 0.4 : 0.1))
        loop.later(readsUntil - world.now, piece)
    }

    private var log: Log {
        Log(to: { [unowned self] _, sentence in
            world.note("coordinator: \(sentence)")
            launcher?.hear(sentence)
        })
    }

    func die(_ how: String) {
        guard !isDead else { return }
        world.note(how)
        world.count("coordinator died")
        isDead = true
        // At once, not when the run has unwound: a checkpoint that is being written stays as it is.
        process?.end()
        loop?.die()
        own?.end()
    }

    private func end() {
        loop?.die()
        process?.end()
        own?.end()
        (loop, process, shell) = (nil, nil, nil)
        (book, inbox) = (nil, nil)
    }

    private func take(_ event: TrainingLoop.Event) throws {
        // Killed while it read a checkpoint, it would call that one damaged.
        if isDead { throw ProcessDied() }
        switch event {
        case .step:
            // The update, and what is written down for it.
            try pass(world.duration(0.001...0.2))
            launcher?.hear("step ")
        case .resumed(let step, let rejected):
            world.note("goes on from step \(step)")
            savedSince = (step, [])
            world.count("resumed")
            if trouble.isLasting || trouble.explainsError(disk) {
                if !rejected.isEmpty { world.count("checkpoint rejected") }
                savedStep = step
            }
            if step < savedStep { world.violate("goes back to \(step) from \(savedStep)") }
            for error in rejected where !trouble.explainsError(disk) {
                world.violate("a checkpoint is lost: \(error)")
            }
        case .checkpoint(let step, _):
            savedStep = step
            savedSince.steps.insert(step)
            world.note("has saved step \(step)")
        case .ledgerDoubted(let error):
            if !trouble.isLasting { world.violate("the ledger is doubted: \(error)") }
        case .adapterRestored(let step):
            if !trouble.isLasting { world.violate("the adapter of step \(step) was gone") }
        case .rowsNotRecorded:
            if !trouble.isLasting { world.violate("run.json does not name the rows") }
        case .otherEngines: world.violate("other engines are admitted")
        case .validation, .sample, .stoppedEarly, .noticed: break
        }
    }
}
