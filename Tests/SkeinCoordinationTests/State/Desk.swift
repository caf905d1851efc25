import SkeinBasics
import SkeinCoordination

/// A coordinator's state with short words for tests; times are in seconds.
struct Desk {
    var state: CoordinatorState

    init(minimumWorkers: Int = 1, patience: Duration = .seconds(60)) {
        state = CoordinatorState(
            settings: CoordinatorSettings(minimumWorkers: minimumWorkers, patience: patience),
            now: .zero)
    }

    init(settings: CoordinatorSettings) {
        state = CoordinatorState(settings: settings, now: .zero)
    }

    @discardableResult
    mutating func at(
        _ seconds: Double, _ event: CoordinatorState.Event
    ) -> [CoordinatorState.Directive] {
        state.handle(event, now: .seconds(seconds))
    }

    @discardableResult
    mutating func open(
        _ costs: [Int], number: UInt64 = 1, replay: Int? = nil, at seconds: Double = 0
    ) -> [CoordinatorState.Directive] {
        at(
            seconds,
            .opened(RoundPlan(number: number, label: .step(7), costs: costs, replay: replay)))
    }

    /// Worker "w<number>" joins as peer `number`, or as another peer.
    @discardableResult
    mutating func join(
        _ number: UInt64, threads: Int = 1, incarnation: UInt8 = 1, as peer: UInt64? = nil,
        held: [UInt32] = [], at seconds: Double = 0
    ) -> [CoordinatorState.Directive] {
        let member = Member(
            name: "w\(number)", address: "10.0.0.\(number):4011", threads: threads,
            incarnation: [incarnation], held: held.map { key($0) })
        return at(seconds, .joined(PeerID(peer ?? number), member))
    }

    @discardableResult
    mutating func arrive(
        _ peer: UInt64, _ index: UInt32, digest: [UInt8] = [1], at seconds: Double
    ) -> [CoordinatorState.Directive] {
        at(seconds, .arrived(PeerID(peer), key(index), attempt: 1, digest: digest))
    }

    @discardableResult
    mutating func check(
        _ peer: UInt64, _ index: UInt32, _ outcome: CoordinatorState.CheckOutcome = .accepted,
        at seconds: Double
    ) -> [CoordinatorState.Directive] {
        at(seconds, .checked(PeerID(peer), key(index), outcome))
    }

    /// A good result.
    @discardableResult
    mutating func finish(
        _ peer: UInt64, _ index: UInt32, round: UInt64 = 1, at seconds: Double
    ) -> [CoordinatorState.Directive] {
        let key = key(index, round: round)
        return at(seconds, .arrived(PeerID(peer), key, attempt: 1, digest: [1]))
            + at(seconds, .checked(PeerID(peer), key, .accepted))
    }

    @discardableResult
    mutating func hear(_ peers: [UInt64], from: Double, to: Double) -> [CoordinatorState.Directive]
    {
        var said: [CoordinatorState.Directive] = []
        for tenth in Int(from * 10)...Int(to * 10) {
            for peer in peers { said += at(Double(tenth) / 10, .heard(PeerID(peer), [])) }
            said += at(Double(tenth) / 10, .tick)
        }
        return said
    }

    /// Worker 1 has piece 0 and worker 2 has it, too.
    static func doubled() -> Desk {
        var desk = Desk()
        desk.join(1)
        desk.join(2)
        desk.open([1])
        _ = desk.hear([2], from: 0, to: 1.6)
        desk.at(1.6, .heard(PeerID(1), []))
        return desk
    }

    func sentence(at seconds: Double) -> String {
        state.waiting(now: .seconds(seconds)).sentence
    }
}

func key(_ index: UInt32, round: UInt64 = 1) -> WorkKey { WorkKey(round: round, index: index) }

extension [CoordinatorState.Directive] {
    /// "index>peer" of every lease, in order.
    var leases: [String] {
        compactMap {
            if case .lease(let peer, let key, _, _) = $0 {
                "\(key.index)>\(peer.number)"
            } else {
                nil
            }
        }
    }

    var reasons: [LeaseReason] {
        compactMap { if case .lease(_, _, _, let reason) = $0 { reason } else { nil } }
    }

    /// "index<peer" of every cancellation.
    var cancellations: [String] {
        compactMap {
            if case .cancel(let peer, let key, _) = $0 {
                "\(key.index)<\(peer.number)"
            } else {
                nil
            }
        }
    }

    /// "index peer verdict" of every answer.
    var answers: [String] {
        compactMap {
            guard case .answer(let peer, let key, let verdict, _) = $0 else { return nil }
            return "\(key.index) \(peer.number) \(verdict)"
        }
    }

    var checks: [String] {
        compactMap {
            if case .check(let peer, let key) = $0 { "\(key.index) \(peer.number)" } else { nil }
        }
    }

    var deliveries: [String] {
        compactMap {
            if case .deliver(let peer, let key) = $0 { "\(key.index) \(peer.number)" } else { nil }
        }
    }

    var rejections: [Rejection] {
        compactMap { if case .disconnect(_, let rejection) = $0 { rejection } else { nil } }
    }

    var sentences: [String] {
        compactMap { if case .log(_, let sentence) = $0 { sentence } else { nil } }
    }

    /// "index peer" of every replay.
    var replays: [String] {
        compactMap {
            if case .replay(let peer, let key) = $0 { "\(key.index) \(peer.number)" } else { nil }
        }
    }

    var lostStates: [String] {
        compactMap { if case .stateLost(let sentence) = $0 { sentence } else { nil } }
    }

    var givenUp: [String] {
        compactMap { if case .giveUp(let sentence) = $0 { sentence } else { nil } }
    }
}
