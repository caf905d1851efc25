import SkeinBasics
import SkeinCoordination

/// A coordinator process: CoordinatorState, a run that checks results one after the other, and
/// records of its own to check the state's directives against.
final class SimulatedCoordinator {
    unowned let simulation: Simulation
    var state: CoordinatorState
    var term: UInt32 = 1
    var isUp = true
    var isDone = false

    var rounds: [[Int]] = []
    var current = 0
    var number: UInt64 = 0
    var isOpen = false
    var accepted: [Int] = []
    var poisoned: Set<Int> = []
    var nextPeer: UInt64 = 0
    var tickAt: Duration?

    struct Parked: Hashable {
        var peer: PeerID
        var key: WorkKey
    }

    var parked: [Parked: SimulatedResult] = [:]
    var checks: [Parked] = []
    var isChecking = false
    var present: [PeerID: Member] = [:]
    var draining: Set<PeerID> = []
    var lastHeard: [PeerID: Duration] = [:]
    var leases: [PeerID: [WorkKey]] = [:]
    var tried: [Int: Set<String>] = [:]
    /// Refusals of each piece.
    var refusals: [Int: Int] = [:]
    /// Pieces whose results differ.
    var disputes: Set<WorkKey> = []
    var spoiled = 0
    var idleSince: Duration?
    var nextInspection = Duration.zero

    init(_ simulation: Simulation) {
        self.simulation = simulation
        state = CoordinatorState(settings: Self.settings(simulation), now: .zero)
        let count = Int.random(in: 4...9, using: &simulation.random)
        for _ in 0..<count {
            let pieces = Int.random(in: 1...50, using: &simulation.random)
            rounds.append(
                (0..<pieces).map { _ in Int.random(in: 1...400, using: &simulation.random) })
        }
    }

    static func settings(_ simulation: Simulation) -> CoordinatorSettings {
        var settings = CoordinatorSettings(minimumWorkers: 1, patience: simulation.patience)
        // Now and then there is hardly any room for results.
        if simulation.seed % 5 == 0 { settings.maximumUnchecked = 1 + Int(simulation.seed % 2) }
        return settings
    }

    func cost(_ key: WorkKey) -> Int { rounds[current][Int(key.index)] }

    func start() {
        watch()
        simulation.after(.milliseconds(100)) { [self] in openRound() }
        guard simulation.random.happens(0.2) else { return }
        simulation.after(simulation.duration(1...20)) { [self] in restart() }
    }

    /// SIGKILL and a restart: a new term, the same round again.
    func restart() {
        guard !isDone else { return }
        simulation.note("the coordinator dies")
        isUp = false
        isOpen = false
        for link in simulation.links.values.sorted(by: { $0.peer < $1.peer })
        where link.coordinatorListens { link.closeByCoordinator() }
        (parked, checks, present, leases, lastHeard) = ([:], [], [:], [:], [:])
        disputes = []
        draining = []
        isChecking = false
        idleSince = nil
        simulation.after(.milliseconds(700)) { [self] in
            term += 1
            number = 0
            isUp = true
            tickAt = nil
            state = CoordinatorState(settings: Self.settings(simulation), now: simulation.now)
            openRound()
        }
    }

    func openRound() {
        number += 1
        let costs = rounds[current]
        accepted = Array(repeating: 0, count: costs.count)
        tried = [:]
        refusals = [:]
        poisoned = simulation.random.happens(0.1) ? [costs.count / 2] : []
        isOpen = true
        simulation.note("opens \(number) with \(costs.count)")
        let label = current % 3 == 2 ? RoundLabel.validation(afterStep: 1) : .step(current + 1)
        tell(.opened(Round(number: number, label: label, costs: costs)))
    }

    /// Closes the round when all results are here and none is disputed.
    func closeIfDone() {
        if isOpen, disputes.isEmpty, accepted.allSatisfy({ $0 > 0 }) { closeRound() }
    }

    func closeRound() {
        isOpen = false
        tell(.closed(round: number))
        tell(.phase(.betweenSteps("applies AdamW")))
        for (peer, held) in leases where !held.isEmpty {
            simulation.violate("\(peer) has leases of a closed round")
        }
        if !parked.isEmpty { simulation.violate("\(parked.count) results are left unanswered") }
        current += 1
        if current == rounds.count {
            isDone = true
            return
        }
        let term = term
        simulation.after(simulation.duration(0.001...0.2)) { [self] in
            if term == self.term, isUp { openRound() }
        }
    }

    /// A worker with a past that now computes wrongly is believed against a new name when nobody else
    /// can be asked: all the results were good, but the state cannot know.
    private func computeAnew(_ round: UInt64) {
        guard isUp, isOpen, round == number else { return }
        spoiled += 1
        if spoiled > 8 { simulation.violate("spoils \(spoiled) rounds whose results are good") }
        isOpen = false
        tell(.closed(round: number))
        (parked, checks, disputes) = ([:], [], [])
        isChecking = false
        openRound()
    }

    // MARK: connections

    func accept(_ worker: SimulatedWorker) -> Link {
        nextPeer += 1
        let link = Link(PeerID(nextPeer), worker, simulation)
        simulation.add(link)
        return link
    }

    func welcome(_ link: Link, _ member: Member) {
        let rejection = state.admission(
            name: member.name, incarnation: member.incarnation, now: simulation.now)
        if let rejection {
            hangUp(link, rejection)
            return
        }
        present[link.peer] = member
        lastHeard[link.peer] = simulation.now
        let welcome = Welcome(heartbeatMilliseconds: 500, silenceMilliseconds: 2500)
        link.toWorker(bulk: true) { link.worker.tell(.welcomed(welcome)) }
        tell(.joined(link.peer, member))
    }

    func hangUp(_ link: Link, _ rejection: Rejection) {
        link.toWorker(bulk: false) { link.worker.tell(.rejected(rejection)) }
        link.closeByCoordinator()
    }

    func receive(_ link: Link, _ key: WorkKey, _ result: SimulatedResult) {
        let place = Parked(peer: link.peer, key: key)
        if parked[place] == nil { parked[place] = result }
        leases[link.peer]?.removeAll { $0 == key }
        lastHeard[link.peer] = simulation.now
        tell(.arrived(link.peer, key, attempt: 1, digest: digest(place)))
    }

    func digest(_ place: Parked) -> [UInt8] {
        [UInt8(truncatingIfNeeded: place.key.index), parked[place]?.salt ?? 0]
    }

    func tell(_ event: CoordinatorState.Event) {
        guard isUp else { return }
        switch event {
        case .left(let peer, _): forget(peer)
        case .heard(let peer, _): lastHeard[peer] = simulation.now
        case .draining(let peer): draining.insert(peer)
        default: break
        }
        let directives = state.handle(event, now: simulation.now)
        for directive in directives { obey(directive) }
        inspect()
        planTick()
        work()
    }

    func forget(_ peer: PeerID) {
        present[peer] = nil
        leases[peer] = nil
        draining.remove(peer)
        let inHand = isChecking ? checks.first : nil
        parked = parked.filter {
            $0.key.peer != peer || checks.contains($0.key) || inHand == $0.key
        }
    }

    func planTick() {
        guard let next = state.nextDeadline, next != tickAt else { return }
        tickAt = next
        let term = term
        simulation.at(next) { [self] in
            guard tickAt == next, term == self.term else { return }
            tickAt = nil
            tell(.tick)
        }
    }

    // MARK: directives

    func obey(_ directive: CoordinatorState.Directive) {
        simulation.note("\(directive)")
        simulation.count(directive)
        switch directive {
        case .lease(let peer, let key, let attempt, let reason):
            lease(peer, key, attempt, reason)
        case .cancel(let peer, let key, _):
            known(peer, directive)
            if leases[peer]?.contains(key) != true {
                violate("cancels what is not leased", directive)
            }
            leases[peer]?.removeAll { $0 == key }
            let link = simulation.links[peer]
            link?.toWorker(bulk: false) { link?.worker.tell(.cancelled(key)) }
        case .check(let peer, let key):
            known(peer, directive)
            let place = Parked(peer: peer, key: key)
            if parked[place] == nil { violate("checks what is not there", directive) }
            if accepted[Int(key.index)] > 0 { violate("checks accepted work", directive) }
            checks.append(place)
        case .deliver(let peer, let key):
            accepted[Int(key.index)] += 1
            parked[Parked(peer: peer, key: key)] = nil
        case .answer(let peer, let key, let verdict, let detail):
            known(peer, directive)
            parked[Parked(peer: peer, key: key)] = nil
            let link = simulation.links[peer]
            link?.toWorker(bulk: false) { link?.worker.tell(.answered(key, verdict, detail)) }
        case .drop(let peer, let key):
            known(peer, directive)
            if parked.removeValue(forKey: Parked(peer: peer, key: key)) == nil {
                violate("drops what is not there", directive)
            }
            // The worker has it, and keeps it.
            leases[peer, default: []].append(key)
        case .dispute(let key):
            if !disputes.insert(key).inserted { violate("disputes twice", directive) }
        case .settle(let key):
            if disputes.remove(key) == nil { violate("settles what is no dispute", directive) }
            simulation.after(.zero) { [self] in closeIfDone() }
        case .spoil(let round): simulation.after(.zero) { [self] in computeAnew(round) }
        case .disconnect(let peer, let rejection):
            known(peer, directive)
            forget(peer)
            if let link = simulation.links[peer] { hangUp(link, rejection) }
        case .log: break
        case .giveUp(let sentence): violate(sentence, directive)
        }
    }

    func lease(
        _ peer: PeerID, _ key: WorkKey, _ attempt: UInt32, _ reason: LeaseReason
    ) {
        let directive = "\(key) to \(peer), \(reason)"
        if reason == .recalled {
            if leases[peer]?.contains(key) != true {
                violate("recalls what is not held", directive)
            }
            hand(peer, key, attempt)
            return
        }
        if present[peer] == nil { violate("leases to nobody", directive) }
        if draining.contains(peer) { violate("leases to a draining worker", directive) }
        if leases[peer]?.contains(key) == true { violate("leases to its holder", directive) }
        if accepted[Int(key.index)] > 0, !disputes.contains(key) {
            violate("leases accepted work", directive)
        }
        leases[peer, default: []].append(key)
        let holders = leases.values.count { $0.contains(key) }
        if holders > 2 { violate("leases a third time", directive) }
        if holders == 2 {
            if !reason.isSecond, reason != .held { violate("leases twice", directive) }
        }
        let threads = present[peer]?.threads ?? 0
        if reason != .held, leases[peer, default: []].count > 2 * threads + 2 * threads {
            violate("leases too much", directive)
        }
        hand(peer, key, attempt)
    }

    private func hand(_ peer: PeerID, _ key: WorkKey, _ attempt: UInt32) {
        guard let link = simulation.links[peer] else { return }
        let tokens = cost(key)
        link.toWorker(bulk: true) { link.worker.lease(key, attempt: attempt, tokens: tokens) }
    }

    func known(_ peer: PeerID, _ directive: CoordinatorState.Directive) {
        if present[peer] == nil { violate("an unknown peer", directive) }
    }

    func violate(_ what: String, _ directive: Any) {
        simulation.violate("\(what): \(directive)")
    }

    // MARK: the run's thread

    func work() {
        guard !isChecking, !checks.isEmpty, isOpen else { return }
        isChecking = true
        let (term, number) = (term, number)
        let slow = simulation.random.happens(0.01)
        simulation.after(slow ? .milliseconds(400) : simulation.duration(0.0005...0.004)) {
            [self] in
            // The result of a round that is computed again.
            guard term == self.term, isUp, number == self.number else { return }
            isChecking = false
            let place = checks.removeFirst()
            guard let result = parked[place] else {
                return violate("a check without a result", place)
            }
            tell(.checked(place.peer, place.key, outcome(place, result)))
            if present[place.peer] == nil { parked[place] = nil }
            closeIfDone()
            work()
        }
    }

    func outcome(
        _ place: Parked, _ result: SimulatedResult
    ) -> CoordinatorState.CheckOutcome {
        let index = Int(place.key.index)
        if result.isNotFinite || (poisoned.contains(index) && !result.isBad) {
            tried[index, default: []].insert(simulation.links[place.peer]?.worker.name ?? "")
            refusals[index, default: 0] += 1
            return .notFinite("a NaN")
        }
        if result.isBad {
            tried[index, default: []].insert(simulation.links[place.peer]?.worker.name ?? "")
            refusals[index, default: 0] += 1
            return .refused("wrong shape")
        }
        accepted[index] += 1
        if accepted[index] > 1 { violate("accepts twice", place) }
        return .accepted
    }
}
