import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinLaunch
import SkeinNetwork
import SkeinTraining

/// A worker's process: the real `WorkerShell` over a virtual clock and network, with faults.
final class SimulatedWorker: @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    let world: World
    let index: Int
    let name: String
    let threads: Int
    let model: MadeUpModel
    /// Seconds per token.
    let pace: Double
    let host: VirtualHost
    /// The disk into which it fetches the model; nil: it has one.
    let cache: CacheHost?
    /// The disk on which it keeps features; nil: it keeps none.
    let featureHost: FeatureHost?
    private(set) var features: VirtualFeatures?
    var startsAfter = Duration.zero
    /// What it computes it never finishes, until it is started again.
    var hangs = false {
        didSet { if hangs { world.hung.insert(name) } }
    }
    /// Which of its results are bad.
    var badness = 0.0
    /// As many of its next results are bad, too.
    var badResults = 0
    /// Whether another process comes when one ends.
    var comesBack = true
    /// Told how the process ends, if a launcher has started it.
    var whenEnded: ((ChildProcess.Ending) -> Void)?
    /// How the names of workers begin that have another token.
    static let thief = "thief"
    /// The version that it says it has; none but the run's is let in.
    private let version: String
    private let token: [UInt8]
    /// What the coordinator knows its own worker by; nil: each process draws one.
    var incarnation: [UInt8]?
    private(set) var begun = 0
    private(set) var life = 0
    private(set) var loop: VirtualLoop?
    private var shell: Confined<WorkerShell>?
    private var book = WorkerBook()
    /// The process, or its fetch, as its disk has it.
    var usingDisk: SimulatedProcess?
    /// The death at that disk that is planned, for the next process or fetch if none has it open.
    var planned: (death: (count: Int, of: SimulatedDisk.Call), away: Duration)?
    /// Failures of that disk before it was started.
    var failuresBefore = 0
    /// Whether it ends with an error of its disk.
    var isFailing = false
    private var random: SplitMix

    init(
        _ world: World, _ index: Int, model: MadeUpModel, host: VirtualHost = VirtualHost(),
        cache: CacheHost? = nil, features: FeatureHost? = nil,
        version: String = SimulatedRun.version,
        token: [UInt8] = SimulatedRun.token, name: String? = nil
    ) {
        self.cache = cache
        featureHost = features
        self.world = world
        self.index = index
        self.model = model
        self.host = host
        (self.version, self.token) = (version, token)
        self.name = name ?? (token == SimulatedRun.token ? "w" : Self.thief) + "\(index)"
        random = SplitMix(state: world.random.next())
        threads = Int.random(in: 1...3, using: &world.random)
        let isSlow = index > 0 && world.random.happens(0.2)
        pace = 0.001 * (0.5 + world.random.unit()) * (isSlow ? 20 : 1)
    }

    func launch() throws {
        life += 1
        if life > 1, hangs {
            hangs = false
            world.hung.remove(name)
        }
        book = WorkerBook()
        isFailing = false
        failuresBefore = cache?.disk.faults.failures ?? 0
        let loop = VirtualLoop(name, in: world, on: host)
        self.loop = loop
        features = featureHost.map { VirtualFeatures($0, self, loop) }
        let randomness = randomness
        var options = WorkerOptions(
            coordinator: SimulatedRun.address, token: token, threads: threads, name: name,
            patience: .seconds(60))
        options.incarnation = incarnation
        let setup = try WorkerSetup(
            options, version: version, resolve: { _ in SimulatedRun.addresses },
            residentBytes: { nil }, randomness: randomness)
        let shell = try Confined(to: loop) { [self] in
            let shell = WorkerShell(
                loop: loop, setup: setup, log: log, ending: Promise(), randomness: randomness,
                makeLoading: { [self] in VirtualLoading($0, self, loop) })
            shell.witness = { [unowned self, unowned shell] in watch($0, $1, shell) }
            shell.hasToldReady = true
            return shell
        }
        self.shell = shell
        try shell.call { [shell] in
            $0.desk = shell
            $0.begin()
        }
    }

    private var randomness: Randomness {
        Randomness { [self] (count) throws(SocketError) in random.bytes(count) }
    }

    var log: Log {
        Log(to: { [world, name] _, sentence in world.note("\(name): \(sentence)") })
    }

    private func watch(
        _ event: WorkerState.Event, _ directives: [WorkerState.Directive], _ shell: WorkerShell
    ) {
        if isForeign {
            for directive in directives {
                if case .compute(_, let key, _) = directive {
                    world.violate("another version computes \(key)")
                }
            }
            if case .rejected = event { world.count("another version refused") }
        } else {
            book.take(
                event, directives, shell, mayFail: mayFail,
                wasTakenBack: {
                    world.takenBack.contains(
                        TakenBack(
                            start: shell.offer?.start ?? [], name: name, key: $0, attempt: $1))
                }, violate: { world.violate("\(name): \($0)") })
        }
        for directive in directives {
            switch directive {
            case .compute: begun += 1
            case .fail where mayFail: fail(shell)
            case .finish(let ending):
                world.note("\(name) ends: \(ending)")
                let life = life
                let status = ending.status
                world.after(.zero) { [self] in if life == self.life { die(.exited(status)) } }
            default: break
            }
        }
    }

    /// What must hold at any time.
    func inspect() throws {
        guard let shell, let loop, !loop.isDead, !loop.isAsleep else { return }
        try shell.call { [self] shell in
            if !isForeign, !isFailing, case .failure(let error) = shell.ending.value(within: 0) {
                world.violate("\(name) has failed: \(error)")
            }
            inspectBounds(of: shell)
        }
    }

    /// Damages a result now and then: what it says, and what tells that it is wrong.
    func spoiled(_ result: WorkResult) -> WorkResult {
        let isNext = badResults > 0
        if isNext { badResults -= 1 }
        guard isNext || random.happens(badness) else { return result }
        world.note("\(name) computes \(result.key) wrongly")
        var result = result
        guard result.kind != .evaluation else {
            result.lossTokens += 1
            return result
        }
        if !isNext, result.kind == .gradient, random.happens(0.3) {
            // Well-formed, and like no other's.
            var gradient = (0..<model.count).map { _ in Float(random.unit()) }
            result.payload = model.codec.pack(&gradient, seed: 0, step: 1, microBatch: 0)
            result.digest = GradientCodec.digest(of: gradient).bytes
            result.lossSum = .nan
            return result
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: result.lossTokens += 1
        case 1: result.payload.removeLast(min(result.payload.count, 1 + Int(random.next() % 8)))
        default: break
        }
        result.digest[0] ^= UInt8(truncatingIfNeeded: random.next() | 1)
        return result
    }

    // MARK: Faults

    var isForeign: Bool { version != SimulatedRun.version || token != SimulatedRun.token }

    /// - Returns: whether there was anything to which it could happen.
    func suffer(_ fault: Fault) -> Bool {
        let seconds = Duration.seconds(fault.seconds)
        switch fault.what {
        case .wrong: badness = Double(fault.number) / 100
        case .drift: host.drift(to: 1 + Double(fault.number) * 1e-6, now: world.now)
        case .cut, .mute, .deaf:
            if fault.what != .deaf { host.isMuteUntil = max(host.isMuteUntil, world.now + seconds) }
            if fault.what != .mute { host.isDeafUntil = max(host.isDeafUntil, world.now + seconds) }
            loop?.doubtPeers()
        case .unreachable:
            let codes = [ENETUNREACH, EHOSTUNREACH, ECONNREFUSED]
            host.unreachable = (world.now + seconds, codes[abs(fault.number) % codes.count])
        default:
            guard let loop, !loop.isDead else { return false }
            return suffer(fault, loop)
        }
        return true
    }

    private func suffer(_ fault: Fault, _ loop: VirtualLoop) -> Bool {
        switch fault.what {
        case .kill: die(for: .seconds(fault.seconds))
        case .stop: loop.sleep(.seconds(fault.seconds))
        case .silence:
            guard !loop.openLinks.isEmpty else { return false }
            for link in loop.openLinks { link.wire.die() }
        case .reset:
            guard !loop.openLinks.isEmpty else { return false }
            for link in loop.openLinks { link.reset() }
        case .leave: askToLeave()
        case .hang:
            hangs = true
        case .disk, .line, .name:
            guard storage != nil, let death = SimulatedDisk.death(of: fault) else { return false }
            planned = (death, .seconds(fault.seconds))
            if let usingDisk, !usingDisk.isDead { usingDisk.die(after: death) }
        default: return false
        }
        return true
    }

    /// SIGTERM: it hands in what it has and leaves.
    func askToLeave() {
        shell?.post { $0.drain() }
    }

    /// The process is gone; another one comes later, or a launcher starts one.
    func die(
        _ ending: ChildProcess.Ending = .killed(signal: SIGKILL), for away: Duration? = nil
    ) {
        life += 1
        end()
        if let whenEnded {
            self.whenEnded = nil
            whenEnded(ending)
            // Who has drained it starts another one by hand.
            guard ending == .exited(0) else { return }
        }
        guard comesBack else { return }
        let life = life
        world.after(away ?? world.duration(0.2...6)) { [self] in
            guard life == self.life, comesBack else { return }
            do {
                try launch()
            } catch {
                world.violate("\(name) cannot be started: \(error)")
            }
        }
    }

    func end() {
        usingDisk = nil
        loop?.die()
        features = nil
        (loop, shell) = (nil, nil)
    }
}
