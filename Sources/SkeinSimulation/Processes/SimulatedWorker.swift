import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
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
    var startsAfter = Duration.zero
    /// What it computes it never finishes, until it is started again.
    var hangs = false
    /// Which of its results are bad.
    var badness = 0.0
    /// As many of its next results are bad, too.
    var badResults = 0
    var faultsUntil = Duration.seconds(40)
    private(set) var begun = 0
    private(set) var life = 0
    private(set) var loop: VirtualLoop?
    private var shell: Confined<WorkerShell>?
    private var book = WorkerBook()
    private var random: SplitMix

    init(_ world: World, _ index: Int, model: MadeUpModel) {
        self.world = world
        self.index = index
        self.model = model
        name = "w\(index)"
        random = SplitMix(state: world.random.next())
        threads = Int.random(in: 1...3, using: &world.random)
        let isSlow = index > 0 && world.random.happens(0.2)
        pace = 0.001 * (0.5 + world.random.unit()) * (isSlow ? 20 : 1)
        if index > 0, world.random.happens(0.2) { badness = 0.3 }
    }

    func launch() throws {
        life += 1
        if life > 1 { hangs = false }
        book = WorkerBook()
        let loop = VirtualLoop(name, in: world)
        self.loop = loop
        let randomness = randomness
        let setup = try WorkerSetup(
            WorkerOptions(
                coordinator: SimulatedRun.address, token: SimulatedRun.token, threads: threads,
                name: name, patience: .seconds(60)),
            version: "simulated", resolve: { _ in SimulatedRun.addresses },
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
        planFault()
    }

    private var randomness: Randomness {
        Randomness { [self] (count) throws(SocketError) in random.bytes(count) }
    }

    private var log: Log {
        Log(to: { [world, name] _, sentence in world.note("\(name): \(sentence)") })
    }

    private func watch(
        _ event: WorkerState.Event, _ directives: [WorkerState.Directive], _ shell: WorkerShell
    ) {
        book.take(event, directives, shell) { world.violate("\(name): \($0)") }
        for directive in directives {
            switch directive {
            case .compute: begun += 1
            case .finish(let ending):
                world.note("\(name) ends: \(ending)")
                let life = life
                world.after(.zero) { [self] in if life == self.life { die() } }
            default: break
            }
        }
    }

    /// What must hold at any time.
    func inspect() throws {
        guard let shell, let loop, !loop.isDead, !loop.isAsleep else { return }
        try shell.call { [self] shell in
            if case .failure(let error) = shell.ending.value(within: 0) {
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

    private func planFault() {
        guard index > 0 else { return }
        let life = life
        world.after(world.duration(0.1...8)) { [self] in
            guard life == self.life, let loop, world.now < faultsUntil else { return }
            switch Int.random(in: 0..<6, using: &world.random) {
            case 0:
                world.note("kill \(name)")
                die()
                return
            case 1:
                let pause = world.duration(0.2...6)
                world.note("stop \(name) for \(pause)")
                loop.sleep(pause)
            case 2:
                world.note("silence between the coordinator and \(name)")
                for link in loop.openLinks { link.wire.die() }
            case 3:
                world.note("reset the connection of \(name)")
                for link in loop.openLinks { link.reset() }
            case 4:
                world.note("drain \(name)")
                shell?.post { $0.drain() }
            default:
                world.note("\(name) hangs from now on")
                hangs = true
            }
            planFault()
        }
    }

    /// The process is gone; another one comes later.
    private func die() {
        life += 1
        end()
        let life = life
        world.after(world.duration(0.2...6)) { [self] in
            guard life == self.life else { return }
            do {
                try launch()
            } catch {
                world.violate("\(name) cannot be started: \(error)")
            }
        }
    }

    func end() {
        loop?.die()
        (loop, shell) = (nil, nil)
    }
}
