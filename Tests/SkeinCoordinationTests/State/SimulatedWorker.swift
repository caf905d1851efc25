import SkeinBasics
import SkeinCoordination

/// A worker process: WorkerState and a shell that obeys it, with faults.
final class SimulatedWorker {
    unowned let simulation: Simulation
    let index: Int
    let name: String
    let threads: Int
    /// Seconds per token.
    let pace: Double
    var startsAfter = Duration.zero
    /// Whether it finishes nothing that it begins from here on, until it is restarted.
    var hangs = false
    private(set) var begun = 0
    /// Which of its results are bad.
    var badness = 0.0
    /// This many of its next results are bad, too.
    var badResults = 0
    var isTrustworthy: Bool { index == 0 }

    private(set) var life = 0
    private(set) var state: WorkerState?
    private var link: Link?
    private var dial = 0
    private var asleepUntil = Duration.zero
    private var tickAt: Duration?
    /// The tokens of leased work.
    private var rows: [WorkKey: Int] = [:]
    private var kept: Set<WorkKey> = []
    private var busy: [Int: WorkKey] = [:]
    private var given: Set<Int> = []

    init(_ simulation: Simulation, _ index: Int) {
        self.simulation = simulation
        self.index = index
        name = "w\(index)"
        threads = Int.random(in: 1...3, using: &simulation.random)
        let isSlow = index > 0 && simulation.random.happens(0.2)
        pace = 0.001 * (0.5 + simulation.random.unit()) * (isSlow ? 20 : 1)
        if index > 0, simulation.random.happens(0.2) { badness = 0.3 }
    }

    func launch() {
        life += 1
        state = WorkerState(settings: WorkerSettings(threads: threads, patience: .seconds(60)))
        (rows, kept, busy, given) = ([:], [], [:], [])
        if life > 1 { hangs = false }
        tickAt = nil
        tell(.start)
        planFault()
    }

    /// A stopped process does everything when it continues.
    func whenAwake(_ body: @escaping () -> Void) {
        let life = life
        if asleepUntil > simulation.now {
            simulation.at(asleepUntil) { [self] in
                if life == self.life { whenAwake(body) }
            }
        } else {
            body()
        }
    }

    func tell(_ event: WorkerState.Event) {
        guard state != nil else { return }
        let jitter = simulation.random.unit()
        let directives = state?.handle(event, now: simulation.now, jitter: jitter) ?? []
        for directive in directives { obey(directive) }
        planTick()
    }

    private func planTick() {
        guard let next = state?.nextDeadline, next != tickAt else { return }
        tickAt = next
        let life = life
        simulation.at(next) { [self] in
            guard life == self.life else { return }
            whenAwake {
                guard self.tickAt == next, life == self.life else { return }
                self.tickAt = nil
                self.tell(.tick)
            }
        }
    }

    private func obey(_ directive: WorkerState.Directive) {
        switch directive {
        case .connect(let delay): connect(after: delay)
        case .ready(let held): ready(held)
        case .compute(let thread, let key, let attempt): compute(thread, key, attempt)
        case .abandon(let thread, let key): abandon(thread, key)
        case .keep(let thread, let key):
            if !given.contains(thread) { violate("keeps a result that thread \(thread) has not") }
            kept.insert(key)
            if kept.count > 4 * threads { later { self.checkKept() } }
        case .send(let key): send(key)
        case .forget(let key):
            rows[key] = nil
            kept.remove(key)
        case .leaveRun: violate("leaves the only run that there is")
        case .announceDrain:
            guard let link else { return violate("drains without a connection") }
            link.toCoordinator(bulk: false) {
                link.simulation.coordinator.tell(.draining(link.peer))
            }
        case .disconnect:
            dial += 1
            link?.closeByWorker()
            link = nil
        case .log(_, let sentence): simulation.note("\(name): \(sentence)")
        case .finish(let ending):
            simulation.note("\(name) ends: \(ending)")
            die()
        }
    }

    private func checkKept() {
        if kept.count > 4 * threads { violate("keeps \(kept.count) results") }
    }

    private func later(_ body: @escaping () -> Void) {
        let life = life
        simulation.after(.zero) { [self] in if life == self.life { body() } }
    }

    func violate(_ sentence: String) { simulation.violate("\(name): \(sentence)") }

    // MARK: the connection

    private func connect(after delay: Duration) {
        dial += 1
        let (dial, life) = (dial, life)
        simulation.after(delay) { [self] in
            whenAwake {
                guard dial == self.dial, life == self.life else { return }
                guard self.simulation.coordinator.isUp else {
                    self.tell(.disconnected("connection refused"))
                    return
                }
                let link = self.simulation.coordinator.accept(self)
                self.link = link
                link.toCoordinator(bulk: false) {
                    link.toWorker(bulk: false) {
                        self.tell(.connected)
                        link.toCoordinator(bulk: false) { self.offer(link) }
                    }
                }
            }
        }
    }

    private func offer(_ link: Link) {
        let term = simulation.coordinator.term
        link.toWorker(bulk: true) { [self] in
            tell(.offered(term: term))
            link.toCoordinator(bulk: false) { [self] in
                simulation.coordinator.tell(
                    .preparing(link.peer, name: name, address: "10.0.0.\(index):4011", bytes: 0))
            }
            simulation.after(simulation.duration(0...0.3)) { [self] in
                whenAwake { if self.link === link, link.workerListens { self.tell(.prepared) } }
            }
        }
        beat(link)
    }

    private func ready(_ held: [WorkKey]) {
        guard let link else { return violate("is ready without a connection") }
        for key in held where !kept.contains(key) { violate("says it holds \(key)") }
        let member = Member(
            name: name, address: "10.0.0.\(index):4011", threads: threads,
            incarnation: [UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: life)],
            held: held)
        link.toCoordinator(bulk: true) { link.simulation.coordinator.welcome(link, member) }
    }

    /// Both sides send a sign of life every 500 ms.
    private func beat(_ link: Link) {
        guard link.coordinatorListens || link.workerListens else { return }
        if link.coordinatorListens { link.toWorker(bulk: false) { self.tell(.heard) } }
        if link.workerListens, self.link === link, asleepUntil <= simulation.now {
            let progress = (state?.computing ?? []).map {
                Heartbeat.Progress(key: $0, thousandths: 0)
            }
            link.toCoordinator(bulk: false) {
                link.simulation.coordinator.tell(.heard(link.peer, progress))
            }
        }
        simulation.after(.milliseconds(500)) { [self] in beat(link) }
    }

    // MARK: work

    func lease(_ key: WorkKey, attempt: UInt32, tokens: Int) {
        rows[key] = tokens
        tell(.leased(key, attempt: attempt))
    }

    private func compute(_ thread: Int, _ key: WorkKey, _ attempt: UInt32) {
        guard let tokens = rows[key] else { return violate("computes \(key) without rows") }
        if busy[thread] != nil { violate("thread \(thread) has work already") }
        busy[thread] = key
        given.remove(thread)
        begun += 1
        if hangs { return }
        finish(thread, key, after: .seconds(Double(tokens) * pace))
    }

    private func finish(_ thread: Int, _ key: WorkKey, after delay: Duration) {
        let life = life
        simulation.after(delay) { [self] in
            whenAwake {
                guard life == self.life, self.busy[thread] == key else { return }
                self.busy[thread] = nil
                self.given.insert(thread)
                self.tell(.computed(thread: thread, key))
            }
        }
    }

    private func abandon(_ thread: Int, _ key: WorkKey) {
        guard busy[thread] == key else { return violate("abandons \(key), which it has not") }
        if hangs { return }
        let life = life
        simulation.after(simulation.duration(0...0.05)) { [self] in
            whenAwake {
                guard life == self.life, self.busy[thread] == key else { return }
                self.busy[thread] = nil
                self.tell(.abandoned(thread: thread, key))
            }
        }
    }

    private func send(_ key: WorkKey) {
        guard let link else { return violate("sends without a connection") }
        if !kept.contains(key) { violate("sends \(key), which it has not") }
        let isSpoiled = badResults > 0
        if isSpoiled { badResults -= 1 }
        let isBad = isSpoiled || simulation.random.happens(badness)
        let result = SimulatedResult(
            isBad: isBad, isNotFinite: isBad && !isSpoiled && simulation.random.happens(0.3),
            salt: isBad ? UInt8(truncatingIfNeeded: simulation.random.next() | 1) : 0)
        let times = simulation.random.happens(0.05) ? 2 : 1
        for _ in 0..<times {
            link.toCoordinator(bulk: true) {
                link.simulation.coordinator.receive(link, key, result)
            }
        }
    }

    // MARK: faults

    private func planFault() {
        guard index > 0 else { return }
        let life = life
        simulation.after(simulation.duration(0.1...8)) { [self] in
            guard life == self.life, state != nil, simulation.now < simulation.faultsUntil else {
                return
            }
            switch Int.random(in: 0..<6, using: &simulation.random) {
            case 0:
                simulation.note("kill \(name)")
                die()
                return
            case 1:
                let pause = simulation.duration(0.2...6)
                simulation.note("stop \(name) for \(pause)")
                asleepUntil = simulation.now + pause
            case 2:
                simulation.note("silence between the coordinator and \(name)")
                link?.isDead = true
            case 3:
                simulation.note("reset the connection of \(name)")
                reset()
            case 4:
                simulation.note("drain \(name)")
                whenAwake { if life == self.life { self.tell(.drain) } }
            default:
                simulation.note("\(name) hangs from now on")
                hangs = true
            }
            planFault()
        }
    }

    private func reset() {
        guard let link else { return }
        link.closeByWorker()
        let life = life
        whenAwake { [self] in
            guard life == self.life, self.link === link else { return }
            self.link = nil
            self.tell(.disconnected("connection reset"))
        }
    }

    /// The process is gone; another one starts later.
    private func die() {
        state = nil
        life += 1
        dial += 1
        asleepUntil = .zero
        link?.closeByWorker()
        link = nil
        let life = life
        simulation.after(simulation.duration(0.2...6)) { [self] in
            if life == self.life { launch() }
        }
    }
}

/// What the coordinator's run would find in a result.
struct SimulatedResult {
    var isBad: Bool
    var isNotFinite: Bool
    var salt: UInt8
}
