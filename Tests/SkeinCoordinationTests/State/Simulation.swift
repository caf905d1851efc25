import SkeinBasics
import SkeinCoordination

/// A coordinator and its workers in one thread on a clock of their own: everything that happens is
/// a function of the seed.
final class Simulation {
    let seed: UInt64
    var random: SplitMix
    var now = Duration.zero
    var violations: [String] = []
    var trace: [String] = []
    private(set) var counts: [String: Int] = [:]

    private var line: [Entry] = []
    private var sequence = 0
    private(set) var events = 0

    private(set) lazy var coordinator = SimulatedCoordinator(self)
    private(set) var workers: [SimulatedWorker] = []
    private(set) var links: [PeerID: Link] = [:]
    var faultsUntil = Duration.seconds(40)
    var patience = Duration.seconds(60)

    struct Entry {
        var time: Duration
        var order: Int
        var body: () -> Void
    }

    init(seed: UInt64, workers count: Int) {
        self.seed = seed
        random = SplitMix(state: seed)
        for index in 0..<count { workers.append(SimulatedWorker(self, index)) }
    }

    func after(_ delay: Duration, _ body: @escaping () -> Void) {
        at(now + delay, body)
    }

    func at(_ time: Duration, _ body: @escaping () -> Void) {
        sequence += 1
        line.append(Entry(time: max(time, now), order: sequence, body: body))
        var child = line.count - 1
        while child > 0, Self.isBefore(line[child], line[(child - 1) / 2]) {
            line.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private static func isBefore(_ a: Entry, _ b: Entry) -> Bool {
        (a.time, a.order) < (b.time, b.order)
    }

    private func pop() -> Entry? {
        guard let first = line.first else { return nil }
        let last = line.removeLast()
        guard !line.isEmpty else { return first }
        line[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < line.count else { return first }
            if child + 1 < line.count, Self.isBefore(line[child + 1], line[child]) { child += 1 }
            guard Self.isBefore(line[child], line[parent]) else { return first }
            line.swapAt(child, parent)
            parent = child
        }
    }

    /// Runs until the coordinator has done all its rounds, or clearly never will.
    func run(limit: Duration) {
        coordinator.start()
        for worker in workers { after(worker.startsAfter) { worker.launch() } }
        while !coordinator.isDone, violations.isEmpty {
            guard let entry = pop(), entry.time <= limit else {
                violate("not done after \(limit): \(coordinator.state.waiting(now: now).sentence)")
                return
            }
            now = entry.time
            entry.body()
            events += 1
            if events > 3_000_000 { violate("more than 3,000,000 events") }
        }
    }

    func violate(_ sentence: String) {
        violations.append("at \(now): \(sentence)")
    }

    func note(_ sentence: @autoclosure () -> String) {
        trace.append("\(now) \(sentence())")
        if trace.count > 400 { trace.removeFirst(200) }
    }

    /// Counts every kind of directive, to prove that the faults happen.
    func count(_ directive: CoordinatorState.Directive) {
        switch directive {
        case .lease(_, _, _, let reason):
            counts["lease " + "\(reason)".replacing(/w[0-9]+/, with: "w"), default: 0] += 1
        case .cancel(_, _, let reason):
            counts["cancel " + "\(reason)".replacing(/w[0-9]+/, with: "w"), default: 0] += 1
        case .answer(_, _, let verdict, _): counts["answer \(verdict)", default: 0] += 1
        case .disconnect(_, let rejection):
            counts["disconnect \(rejection.code)", default: 0] += 1
        case .deliver: counts["deliver", default: 0] += 1
        case .drop: counts["drop", default: 0] += 1
        case .dispute: counts["dispute", default: 0] += 1
        case .spoil: counts["spoil", default: 0] += 1
        case .check, .log, .giveUp, .settle: break
        }
    }

    func add(_ link: Link) { links[link.peer] = link }

    func duration(_ range: ClosedRange<Double>) -> Duration {
        .seconds(range.lowerBound + (range.upperBound - range.lowerBound) * random.unit())
    }
}

/// SplitMix64 of Steele, Lea and Flood, 2014.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func happens(_ probability: Double) -> Bool { unit() < probability }
}

/// A connection: in order, but small messages overtake large ones.
final class Link {
    let peer: PeerID
    let simulation: Simulation
    unowned let worker: SimulatedWorker
    let latency: Duration
    /// Everything disappears, and neither side is told.
    var isDead = false
    var coordinatorListens = true
    var workerListens = true
    private var last: [Duration] = Array(repeating: .zero, count: 4)

    init(_ peer: PeerID, _ worker: SimulatedWorker, _ simulation: Simulation) {
        self.peer = peer
        self.worker = worker
        self.simulation = simulation
        latency = simulation.duration(0.0002...0.04)
    }

    func toCoordinator(bulk: Bool, _ body: @escaping () -> Void) {
        guard workerListens else { return }
        deliver(bulk ? 0 : 1, bulk) { [self] in if coordinatorListens { body() } }
    }

    func toWorker(bulk: Bool, _ body: @escaping () -> Void) {
        deliver(bulk ? 2 : 3, bulk) { [self] in
            worker.whenAwake { if self.workerListens { body() } }
        }
    }

    private func deliver(_ lane: Int, _ bulk: Bool, _ body: @escaping () -> Void) {
        let transfer = bulk ? simulation.duration(0.0005...0.02) : .zero
        let time = max(simulation.now + latency + transfer, last[lane])
        last[lane] = time
        simulation.at(time) { [self] in if !isDead { body() } }
    }

    /// The worker's end closes; the coordinator reads what is under way and then the end.
    func closeByWorker() {
        workerListens = false
        guard !isDead else { return }
        let time = max(simulation.now + latency, max(last[0], last[1]))
        simulation.at(time) { [self] in
            guard coordinatorListens else { return }
            coordinatorListens = false
            simulation.coordinator.tell(.left(peer, .lost("end of stream")))
        }
    }

    /// The coordinator's end closes.
    func closeByCoordinator() {
        coordinatorListens = false
        guard !isDead else { return }
        let time = max(simulation.now + latency, max(last[2], last[3]))
        simulation.at(time) { [self] in
            worker.whenAwake {
                guard self.workerListens else { return }
                self.workerListens = false
                self.worker.tell(.disconnected("end of stream"))
            }
        }
    }
}
