import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork
import SkeinTraining

/// A book that the simulation keeps of what a coordinator's state was told, and that it holds the
/// state's directives against.
struct CoordinatorBook {
    private struct Place: Hashable {
        var peer: PeerID
        var key: WorkKey
    }

    let world: World
    let settings: CoordinatorSettings
    private var round: RoundPlan?
    private var isSpoiled = false
    private var accepted: [Int] = []
    private var parked: Set<Place> = []
    /// In the run's thread's hands.
    private var checks: Set<Place> = []
    private var present: [PeerID: Member] = [:]
    /// All that have ever joined: a result may be refused when its worker is gone.
    private var names: [PeerID: String] = [:]
    /// Peers that prepare their model.
    private var preparing: Set<PeerID> = []
    private var draining: Set<PeerID> = []
    private var lastHeard: [PeerID: Duration] = [:]
    var leases: [PeerID: [WorkKey]] = [:]
    /// The attempt of each lease of the round, and the newest of each piece.
    private var attempts: [Place: UInt32] = [:]
    private var newestAttempts: [WorkKey: UInt32] = [:]
    /// Who gave a bad result of a piece.
    private var tried: [Int: Set<String>] = [:]
    private var refusals: [Int: Int] = [:]
    /// The lease whose worker lacks its state, in this turn.
    private var unanswered: Place?
    /// Pieces whose results differ.
    private var disputes: Set<WorkKey> = []
    /// When the state says that a name may come back, and when it may by the book.
    var pauses: [String: (told: Duration?, end: Duration)] = [:]
    /// How often in a row strangers were found that had been here for longer than they may.
    var lateStrangers: [PeerID: Int] = [:]
    private var idleSince: Duration?
    /// Whether the round had enough workers once. A piece may wait for its home after that.
    private var wasBegun = false
    private var nextInspection = Duration.zero
    /// Whether a round may be left before it is complete.
    private let mayLeave: () -> Bool

    init(_ world: World, _ settings: CoordinatorSettings, mayLeave: @escaping () -> Bool) {
        self.world = world
        self.mayLeave = mayLeave
        self.settings = settings
    }

    mutating func take(
        _ event: CoordinatorState.Event, _ directives: [CoordinatorState.Directive],
        _ shell: CoordinatorShell
    ) {
        inspectGrants(shell)
        note(event)
        let hasBegun = shell.state.open?.begun == true
        if hasBegun, !wasBegun, present.count - draining.count < settings.minimumWorkers {
            violate("begins a round with fewer workers than it may", event)
        }
        wasBegun = hasBegun
        for directive in directives {
            world.note("\(directive)")
            count(directive)
            obey(directive, shell.identity.offer.start)
        }
        if directives.contains(where: { if case .log = $0 { true } else { false } }) {
            notePauses(shell.state)
        }
        if let unanswered { violate("does not answer who lacks a state", unanswered) }
        unanswered = nil
        if case .closed = event { close() }
        inspectClaims(shell.state)
        inspect(hasBegun: hasBegun)
    }

    private func violate(_ what: String, _ directive: Any) {
        world.violate("\(what): \(directive)")
    }

    // MARK: What happened

    private mutating func note(_ event: CoordinatorState.Event) {
        switch event {
        case .opened(let round):
            world.note("opens \(round.number) with \(round.costs.count)")
            self.round = round
            isSpoiled = false
            accepted = Array(repeating: 0, count: round.costs.count)
            (tried, refusals) = ([:], [:])
        case .joined(let peer, let member):
            if present.values.contains(where: { $0.name == member.name }) {
                world.count("a name that is there joins")
            }
            if member.name == WorkerName.own { world.count("the coordinator's own worker") }
            if let end = pauses[member.name]?.end, world.now + .milliseconds(100) < end {
                violate("lets in a worker that has to pause until \(end)", member.name)
            }
            preparing.remove(peer)
            present[peer] = member
            names[peer] = member.name
            lastHeard[peer] = world.now
        case .left(let peer, _): forget(peer)
        case .heard(let peer, _): lastHeard[peer] = world.now
        case .draining(let peer): draining.insert(peer)
        case .arrived(let peer, let key, let attempt, _, _):
            let place = Place(peer: peer, key: key)
            if let given = attempts[place], given != attempt {
                violate("takes a result for another attempt than \(given)", attempt)
            }
            parked.insert(place)
            leases[peer]?.removeAll { $0 == key }
            lastHeard[peer] = world.now
        case .checked(let peer, let key, let outcome): checked(Place(peer: peer, key: key), outcome)
        case .stateWanted(let peer, let key):
            if leases[peer]?.contains(key) == true { unanswered = Place(peer: peer, key: key) }
        case .preparing(let peer, let name, _, _):
            if name.hasPrefix(SimulatedWorker.thief) { violate("makes an offer to", name) }
            preparing.insert(peer)
            lastHeard[peer] = world.now
        case .phase, .closed, .moved, .stopAdmitting, .tick: break
        }
    }

    private mutating func checked(_ place: Place, _ outcome: CoordinatorState.CheckOutcome) {
        guard place.key.round == round?.number else { return }
        let index = Int(place.key.index)
        if checks.remove(place) == nil { violate("a check that was not asked for", place) }
        switch outcome {
        case .accepted, .confirmed:
            accepted[index] += 1
            if accepted[index] > 1 { violate("accepts twice", place) }
        case .refused, .doubtful:
            tried[index, default: []].insert(names[place.peer] ?? "")
            refusals[index, default: 0] += 1
        }
        if present[place.peer] == nil { parked.remove(place) }
    }

    private mutating func forget(_ peer: PeerID) {
        present[peer] = nil
        preparing.remove(peer)
        leases[peer] = nil
        draining.remove(peer)
        parked = parked.filter { $0.peer != peer || checks.contains($0) }
    }

    private mutating func close() {
        for (peer, held) in leases where !held.isEmpty {
            violate("has leases of a closed round", peer)
        }
        // A run that was asked to end, or whose disk has failed, leaves its step as it is.
        let isLeft = isSpoiled || mayLeave()
        if !isLeft, !parked.isEmpty { violate("results are left unanswered", parked.count) }
        if !isLeft, accepted.contains(0) { violate("closes before all is there", accepted) }
        if !isLeft, !disputes.isEmpty { violate("closes with disputes", disputes) }
        (parked, checks, disputes) = ([], [], [])
        (attempts, newestAttempts) = ([:], [:])
        round = nil
        idleSince = nil
    }

    // MARK: What is directed

    private mutating func obey(
        _ directive: CoordinatorState.Directive, _ start: [UInt8]
    ) {
        switch directive {
        case .lease(let peer, let key, let attempt, let reason):
            lease(peer, key, reason)
            number(Place(peer: peer, key: key), attempt, reason)
        case .cancel(let peer, let key, let reason):
            known(peer, directive)
            if reason == .notRebuilt { violate("no worker names states wrongly here", directive) }
            if leases[peer]?.contains(key) != true {
                violate("cancels what is not leased", directive)
            }
            leases[peer]?.removeAll { $0 == key }
            if let name = names[peer], let attempt = attempts[Place(peer: peer, key: key)] {
                world.takenBack.insert(
                    TakenBack(
                        start: start, name: name, key: key,
                        attempt: attempt))
            }
        case .replay(let peer, let key):
            known(peer, directive)
            if leases[peer]?.contains(key) != true {
                violate("rebuilds what is not leased", directive)
            }
            if unanswered == Place(peer: peer, key: key) { unanswered = nil }
        case .check(let peer, let key):
            known(peer, directive)
            let place = Place(peer: peer, key: key)
            if !parked.contains(place) { violate("checks what is not there", directive) }
            if accepted[Int(key.index)] > 0 { violate("checks accepted work", directive) }
            checks.insert(place)
        case .deliver(let peer, let key):
            accepted[Int(key.index)] += 1
            if accepted[Int(key.index)] > 1 { violate("delivers accepted work", directive) }
            parked.remove(Place(peer: peer, key: key))
            let name = names[peer] ?? ""
            if tried[Int(key.index)] == [name],
                world.doubtful[Computed(start: start, name: name, key: key), default: 0] < 2
            {
                violate("counts one computation twice", directive)
            }
        case .answer(let peer, let key, _, _):
            known(peer, directive)
            parked.remove(Place(peer: peer, key: key))
        case .drop(let peer, let key):
            known(peer, directive)
            if parked.remove(Place(peer: peer, key: key)) == nil {
                violate("drops what is not there", directive)
            }
            // The worker has it, and keeps it.
            leases[peer, default: []].append(key)
        case .dispute(let key):
            if !disputes.insert(key).inserted { violate("disputes twice", directive) }
        case .settle(let key):
            if disputes.remove(key) == nil { violate("settles what is no dispute", directive) }
        case .spoil: isSpoiled = true
        case .disconnect(let peer, let rejection):
            if !preparing.contains(peer) { known(peer, directive) }
            if rejection.code == .stuck, let name = present[peer]?.name, !world.hung.contains(name)
            {
                violate("lets a worker wait in vain for what its work needs", directive)
            }
            if rejection.code == .timeout,
                world.now - (lastHeard[peer] ?? .zero) < settings.lostAfter - .milliseconds(100)
            {
                violate("hangs up on a worker that it has heard", directive)
            }
            forget(peer)
        case .log: break
        case .giveUp(let sentence), .stateLost(let sentence): violate("gives up", sentence)
        }
    }

    private mutating func lease(_ peer: PeerID, _ key: WorkKey, _ reason: LeaseReason) {
        let directive = "\(key) to \(peer), \(reason)"
        if reason == .recalled {
            if leases[peer]?.contains(key) != true {
                violate("recalls what is not held", directive)
            }
            return
        }
        if key.round != round?.number { return violate("leases of another round", directive) }
        if present[peer] == nil { violate("leases to a worker that is gone", directive) }
        if draining.contains(peer) { violate("leases to a draining worker", directive) }
        if leases[peer]?.contains(key) == true { violate("leases to its holder", directive) }
        if accepted[Int(key.index)] > 0, !disputes.contains(key) {
            violate("leases accepted work", directive)
        }
        leases[peer, default: []].append(key)
        let holders = leases.values.count { $0.contains(key) }
        if holders > 2 { violate("leases a third time", directive) }
        if holders == 2, !reason.isSecond, reason != .held { violate("leases twice", directive) }
        let threads = present[peer]?.threads ?? 0
        if reason != .held, leases[peer, default: []].count > 4 * threads {
            violate("leases too much", directive)
        }
    }

    /// No two leases of a piece have one number.
    private mutating func number(_ place: Place, _ attempt: UInt32, _ reason: LeaseReason) {
        guard reason != .recalled else { return }
        if attempt <= newestAttempts[place.key] ?? 0 { violate("repeats an attempt", place) }
        newestAttempts[place.key] = attempt
        attempts[place] = attempt
    }

    private func known(_ peer: PeerID, _ directive: CoordinatorState.Directive) {
        if present[peer] == nil { violate("an unknown peer", directive) }
    }

    /// How often what was said, for the proof that the faults happen.
    private func count(_ directive: CoordinatorState.Directive) {
        switch directive {
        case .lease(_, _, _, let reason):
            world.count(reason.kind)
        case .cancel(_, _, let reason):
            world.count(reason.kind)
        case .answer(_, _, let verdict, _): world.count("answer \(verdict)")
        case .disconnect(_, let rejection): world.count("disconnect \(rejection.code)")
        case .deliver: world.count("deliver")
        case .drop: world.count("drop")
        case .dispute: world.count("dispute")
        case .spoil: world.count("spoil")
        case .replay: world.count("replay")
        case .check, .log, .giveUp, .stateLost, .settle: break
        }
    }

    /// The process was stopped: no worker could be given anything.
    mutating func forgive() {
        idleSince = nil
        nextInspection = world.now + .milliseconds(50)
    }

    // MARK: What must always hold

    /// No worker is idle for more than a second while there is work that none has. Looks twenty
    /// times a second.
    private mutating func inspect(hasBegun: Bool) {
        guard world.now >= nextInspection else { return }
        nextInspection = world.now + .milliseconds(50)
        // A round may wait for more workers before its first lease.
        guard let round, hasBegun else {
            idleSince = nil
            return
        }
        let held = Set(leases.values.flatMap { $0 })
        let inHand = Set(parked.map(\.key))
        let free = accepted.indices.filter { index in
            let key = WorkKey(round: round.number, index: UInt32(index))
            return accepted[index] == 0 && !held.contains(key) && !inHand.contains(key)
        }
        let isIdle =
            !free.isEmpty
            && present.contains { peer, member in
                !draining.contains(peer)
                    && world.now - (lastHeard[peer] ?? .zero) < .milliseconds(1500)
                    && (leases[peer]?.count ?? 0) < member.threads
                    && parked.count { $0.peer == peer } < 2 * member.threads
                    && free.contains {
                        // What was refused so often waits for a worker with good results.
                        tried[$0]?.contains(member.name) != true
                            && refusals[$0, default: 0] < settings.refusalsByStrangers
                    }
            }
        if !isIdle {
            idleSince = nil
        } else if let idleSince {
            // A home that is gone is waited for, if there is something to compute again.
            let most: Duration =
                round.replay.map { $0 == 0 ? .seconds(3) : settings.patience + .seconds(3) }
                ?? .seconds(1)
            if world.now - idleSince > most {
                violate("a worker is idle while pieces are free", free)
            }
        } else {
            idleSince = world.now
        }
    }
}

extension LeaseReason {
    /// Its name in the table of what happened.
    fileprivate var kind: String {
        switch self {
        case .next: "lease next"
        case .prefetch: "lease ahead"
        case .held: "lease of what is held"
        case .released: "lease given back"
        case .takenOver: "lease taken over"
        case .silent: "lease of the silent"
        case .overdue: "lease overdue"
        case .straggler: "lease of a straggler"
        case .recalled: "lease recalled"
        case .disputed: "lease disputed"
        }
    }
}

extension CancelReason {
    fileprivate var kind: String {
        switch self {
        case .accepted: "cancel accepted"
        case .takenOver: "cancel taken over"
        case .draining: "cancel of the draining"
        case .roundClosed: "cancel of a closed round"
        case .late: "cancel of the late"
        case .notRebuilt: "cancel not rebuilt"
        }
    }
}
