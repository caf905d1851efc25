import Foundation
import SkeinCluster
import SkeinNetwork
import Synchronization

/// The clock and the network of one process in a `World`: what `EventLoop` is to a real one, turn by
/// turn the same, in no time.
final class VirtualLoop: Clock, Network, @unchecked Sendable {
    // Sendable: as the world.

    unowned let world: World
    let name: String
    let host: VirtualHost
    private(set) var isDead = false
    /// Until when the process is stopped.
    private var asleepUntil = Duration.zero
    private var isTurning = false
    private var posted: [() -> Void] = []
    private var alarms = AlarmList()
    private var nextDeadline: () -> ContinuousClock.Instant? = { nil }
    private var tick: (ContinuousClock.Instant) -> Void = { _ in }
    private var endings: [() -> Void] = []
    /// The ends of this process, in the order in which they were made.
    private var links: [VirtualLink] = []
    /// When the next turn is, and its number: an earlier one makes that of before void.
    private var planned: (time: Duration, number: Int)?
    private var turns = 0
    private(set) var now: ContinuousClock.Instant
    let scratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Connection.readBytes, alignment: 64)

    init(_ name: String, in world: World, on host: VirtualHost = VirtualHost()) {
        self.name = name
        self.world = world
        self.host = host
        now = world.start + host.own(world.now)
    }

    deinit { scratch.deallocate() }

    var moment: ContinuousClock.Instant { world.start + host.own(world.now) }

    func preconditionOnLoop() {
        precondition(isTurning, "this belongs to the loop's thread")
    }

    // MARK: Turns

    @discardableResult
    func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard !isDead else { return false }
        posted.append(work)
        wake(at: world.now)
        return true
    }

    func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        if isTurning { return try body() }
        guard !isDead else { throw SocketError.stopped }
        isTurning = true
        defer {
            isTurning = false
            plan()
        }
        now = moment
        doPostedWork()
        return try body()
    }

    /// Does something of the process's other threads later, unless it has died by then.
    func later(_ delay: Duration, _ body: @escaping () -> Void) {
        world.after(delay) { [weak self] in
            guard let self, !isDead else { return }
            if asleepUntil > world.now {
                later(asleepUntil - world.now, body)
            } else {
                body()
            }
        }
    }

    func wake(at time: Duration) {
        guard !isDead else { return }
        let time = max(time, asleepUntil)
        if let planned, planned.time <= time { return }
        turns += 1
        let number = turns
        planned = (time, number)
        world.at(time) { [weak self] in
            if let self, planned?.number == number { turn() }
        }
    }

    /// Stops the process as SIGSTOP does.
    func sleep(_ pause: Duration) {
        asleepUntil = max(asleepUntil, world.now + pause)
        planned = nil
        wake(at: asleepUntil)
    }

    var isAsleep: Bool { asleepUntil > world.now }

    private func turn() {
        planned = nil
        isTurning = true
        now = moment
        doPostedWork()
        for link in links {
            if let ready = link.readiness, let handler = link.handler { handler(ready) }
            if isDead { break }
        }
        links.removeAll { $0.isClosed }
        while let action = alarms.takeDue(now) { action() }
        if let deadline = nextDeadline(), deadline <= now { tick(now) }
        isTurning = false
        plan()
    }

    private func doPostedWork() {
        let work = posted
        posted = []
        for item in work { item() }
    }

    private func plan() {
        guard !isDead else { return }
        if !posted.isEmpty || links.contains(where: { $0.readiness != nil }) {
            return wake(at: world.now)
        }
        let due = [alarms.first, nextDeadline()].compactMap { $0 }.min()
        // A state machine that leaves a deadline in the past is asked again a millisecond later.
        if let due {
            let time = host.world(due - world.start)
            wake(at: time > world.now ? time : world.now + .milliseconds(1))
        }
    }

    func setAlarm(at deadline: ContinuousClock.Instant, _ action: @escaping () -> Void) -> Alarm {
        preconditionOnLoop()
        return alarms.add(deadline, action)
    }

    func cancel(_ alarm: Alarm) { alarms.remove(alarm) }

    func setTimer(
        nextDeadline: @escaping () -> ContinuousClock.Instant?,
        tick: @escaping (ContinuousClock.Instant) -> Void
    ) {
        self.nextDeadline = nextDeadline
        self.tick = tick
    }

    func whenEnding(_ action: @escaping () -> Void) { endings.append(action) }

    func stop() { die() }

    /// SIGKILL: the system closes what was open, and nothing more is done.
    func die() {
        guard !isDead else { return }
        isDead = true
        for link in links { link.close() }
        links = []
        posted = []
        alarms.removeAll()
        nextDeadline = { nil }
        tick = { _ in }
        world.ports = world.ports.filter { $0.value.loop !== self }
        for action in endings { action() }
        endings = []
    }

    // MARK: The network

    func adopt(_ link: VirtualLink) { links.append(link) }

    /// Ends that are not closed.
    var openLinks: [VirtualLink] { links.filter { !$0.isClosed } }

    /// What does not pass from now on may be given up.
    func doubtPeers() {
        for link in openLinks {
            link.doubtPeer()
            link.peer?.doubtPeer()
        }
    }

    /// Alarms that are set.
    var alarmCount: Int { alarms.count }

    func listen(
        on addresses: [SocketAddress], name: NetworkAddress, accept: @escaping (any Link) -> Void
    ) throws(SocketError) -> any ListeningPort {
        guard let address = addresses.first, world.ports[address.port] == nil else {
            throw .portInUse(address: name.description)
        }
        let port = VirtualPort(address: address, loop: self, accept: accept)
        world.ports[address.port] = port
        return port
    }

    func dial(
        _ addresses: [SocketAddress], name: NetworkAddress, patience: Duration,
        finish: @escaping (Result<any Link, SocketError>) -> Void
    ) -> any Attempt {
        let attempt = VirtualAttempt()
        let wire = Wire(world)
        let pass = max(host.isMuteUntil, host.isDeafUntil) - world.now
        if host.unreachable.until > world.now || pass > patience {
            let code = pass > patience ? ETIMEDOUT : host.unreachable.code
            let failed = Carried {
                if !attempt.isCancelled {
                    finish(.failure(.cannotConnect(address: name.description, code: code)))
                }
            }
            later(pass > patience ? patience : .milliseconds(1)) { [weak self] in
                self?.post { failed.body() }
            }
            return attempt
        }
        later(max(pass, .zero) + wire.latency * 2) { [weak self] in
            guard let self, !attempt.isCancelled else { return }
            let found = addresses.first.flatMap { self.world.ports[$0.port] }
            let carried = Carried { [weak self] in
                guard let self, !attempt.isCancelled else { return }
                guard let found, !found.loop.isDead else {
                    return finish(
                        .failure(
                            .cannotConnect(address: name.description, code: ECONNREFUSED)))
                }
                let (own, other) = wire.ends(of: self, and: found.loop)
                let accepted = Carried { found.accept(other) }
                found.loop.post { accepted.body() }
                finish(.success(own))
            }
            post { carried.body() }
        }
        return attempt
    }

    func lookUp(
        _ question: @escaping @Sendable () throws -> [SocketAddress],
        answer: @escaping @Sendable (Result<[SocketAddress], any Error>) -> Void
    ) {
        later(.milliseconds(1)) { answer(Result(catching: question)) }
    }
}

/// What is posted within one thread.
private struct Carried: @unchecked Sendable {
    // Sendable: made and called on the world's thread.
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}

final class VirtualPort: ListeningPort {
    let address: SocketAddress
    let loop: VirtualLoop
    let accept: (any Link) -> Void

    init(address: SocketAddress, loop: VirtualLoop, accept: @escaping (any Link) -> Void) {
        self.address = address
        self.loop = loop
        self.accept = accept
    }

    func end() { loop.world.ports[address.port] = nil }
}

final class VirtualAttempt: Attempt {
    private(set) var isCancelled = false

    func cancel() { isCancelled = true }
}
