import Foundation
import SkeinCluster
import SkeinNetwork

/// What is between two ends: time, width, and whether anything still comes through.
final class Wire {
    let number: UInt64
    let latency: Duration
    /// Seconds for a byte.
    let pace: Double
    /// Bytes that one end takes before the other has read them.
    let window: Int
    /// Everything disappears, and neither end is told.
    private(set) var isDead = false
    private(set) weak var one: VirtualLink?
    private(set) weak var other: VirtualLink?
    private var hosts: [VirtualHost] = []
    private let world: World

    init(_ world: World) {
        self.world = world
        number = world.nextLink()
        var random = SplitMix(state: world.seed &* 0x5851_F42D_4C95_7F2D &+ number)
        latency = .seconds(random.number(in: 0.0002...0.04))
        pace = 1 / random.number(in: 0.5e6...2e7)
        window = 1 << Int.random(in: 11...16, using: &random)
    }

    /// The two ends of a connection that stands.
    func ends(of dialler: VirtualLoop, and listener: VirtualLoop) -> (VirtualLink, VirtualLink) {
        let ends = (
            VirtualLink(self, "10.0.0.1:4011", dialler, side: 0),
            VirtualLink(self, "10.0.1.\(number % 250):\(40_000 + number)", listener, side: 1)
        )
        (one, other) = ends
        hosts = [dialler.host, listener.host]
        (ends.0.peer, ends.1.peer) = (ends.1, ends.0)
        dialler.adopt(ends.0)
        listener.adopt(ends.1)
        return ends
    }

    /// The machines of an end and of the other one.
    func hosts(from link: VirtualLink) -> (own: VirtualHost, other: VirtualHost)? {
        guard hosts.count == 2 else { return nil }
        return link.side == 0 ? (hosts[0], hosts[1]) : (hosts[1], hosts[0])
    }

    func die() {
        isDead = true
        one?.doubtPeer()
        other?.doubtPeer()
    }
}

/// One end of a connection between two processes: bytes arrive late and in pieces, a slow reader fills
/// its window, and what an end of a dead wire sends is never acknowledged.
final class VirtualLink: Link {
    let wire: Wire
    /// 0 for the end that dialled.
    let side: UInt64
    let peerName: String
    var peerNetwork: [UInt8] { Array(peerName.utf8.prefix { $0 != UInt8(ascii: ":") }) }
    private unowned let loop: VirtualLoop
    private let world: World
    private var random: SplitMix
    weak var peer: VirtualLink?

    private(set) var handler: ((Readiness) -> Void)?
    private var interest: Readiness = []
    private(set) var isClosed = false
    private var isBroken: Int32?
    private var hasEnded = false
    private var unread: [UInt8] = []
    private var readCount = 0
    /// Sent and not arrived.
    private var underWay = 0
    /// Bytes that were sent, and those that the other end's system has said it has.
    private var sent = 0
    private var acknowledged = 0
    private var lastArrival = Duration.zero

    init(_ wire: Wire, _ peerName: String, _ loop: VirtualLoop, side: UInt64) {
        self.wire = wire
        self.side = side
        self.peerName = peerName
        self.loop = loop
        world = loop.world
        random = SplitMix(state: loop.world.seed ^ (wire.number << 1 | side) &* 0x9E37_79B9)
    }

    var scratch: UnsafeMutableRawBufferPointer { loop.scratch }

    private var unreadCount: Int { unread.count - readCount }

    private var room: Int {
        max(0, wire.window - underWay - (peer?.unreadCount ?? 0))
    }

    /// What there is to tell the owner; nil: nothing.
    var readiness: Readiness? {
        guard !isClosed, handler != nil else { return nil }
        var ready: Readiness = []
        if isBroken != nil { ready.insert(.broken) }
        if interest.contains(.read), unreadCount > 0 || hasEnded { ready.insert(.read) }
        if interest.contains(.write), room > 0 || isBroken != nil { ready.insert(.write) }
        return ready.isEmpty ? nil : ready
    }

    /// The process of an end that is closed may be gone.
    private func wake() { if !isClosed { loop.wake(at: world.now) } }

    func start(_ handler: @escaping (Readiness) -> Void) {
        self.handler = handler
        interest = .read
    }

    func wait(for interest: Readiness) { self.interest = interest }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        guard unreadCount > 0 else {
            if let isBroken { return .failed(isBroken) }
            return hasEnded ? .ended : .wouldBlock
        }
        var count = min(unreadCount, buffer.count)
        if count > 1, random.happens(0.1) { count = Int.random(in: 1...count, using: &random) }
        buffer.copyBytes(from: unread[readCount..<readCount + count])
        readCount += count
        if readCount == unread.count {
            unread.removeAll(keepingCapacity: true)
            readCount = 0
        }
        peer?.wake()
        return .bytes(count)
    }

    func write(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Transfer {
        if let isBroken { return .failed(isBroken) }
        var room = room
        guard room > 0 else { return .wouldBlock }
        if room > 1, random.happens(0.05) { room = Int.random(in: 1...room, using: &random) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(room, pieces.reduce(0) { $0 + $1.count }))
        for piece in pieces where bytes.count < room {
            bytes += piece.prefix(room - bytes.count)
        }
        underWay += bytes.count
        sent += bytes.count
        // What was sent arrives, whether this end is still there or not.
        carry(Double(bytes.count) * wire.pace) { [peer] in
            self.acknowledge(bytes.count)
            peer?.take(bytes)
        }
        if wire.isDead || passesAt(out: true) > world.now || passesAt(out: false) > world.now {
            doubtPeer()
        }
        return .bytes(bytes.count)
    }

    /// Until when nothing passes from this end to the other one, or the other way.
    private func passesAt(out: Bool) -> Duration {
        guard let (own, other) = wire.hosts(from: self) else { return .zero }
        return out
            ? max(own.isMuteUntil, other.isDeafUntil) : max(own.isDeafUntil, other.isMuteUntil)
    }

    /// The other end's system has `count` bytes more, and says so as soon as that passes.
    private func acknowledge(_ count: Int) {
        let passes = isClosed ? world.now : passesAt(out: false)
        guard passes <= world.now else {
            return world.at(passes) { self.acknowledge(count) }
        }
        underWay -= count
        acknowledged += count
        wake()
    }

    /// Has something arrive at the other end, after all that was sent before.
    private func carry(_ seconds: Double, _ body: @escaping () -> Void) {
        guard !wire.isDead else { return }
        let passes = isClosed ? world.now : max(world.now, passesAt(out: true))
        lastArrival = max(passes + wire.latency, lastArrival) + .seconds(seconds)
        world.at(lastArrival) { [wire] in if !wire.isDead { body() } }
    }

    private func take(_ bytes: [UInt8]) {
        guard !isClosed else {
            // The end is gone: the system says so.
            return carry(0) { [peer] in peer?.breakOff(ECONNRESET) }
        }
        unread += bytes
        wake()
    }

    private func takeEnd() {
        hasEnded = true
        wake()
    }

    func breakOff(_ code: Int32) {
        guard !isClosed, isBroken == nil else { return }
        isBroken = code
        wake()
    }

    /// What is not acknowledged for long is given up by the system (TCP_USER_TIMEOUT).
    func doubtPeer() {
        guard underWay > 0 else { return }
        let mark = sent
        world.after(Socket.patience) { [weak self] in
            if let self, acknowledged < mark { breakOff(ETIMEDOUT) }
        }
    }

    var unacknowledgedBytes: Int { underWay }

    func endWriting() {
        carry(0) { [peer] in peer?.takeEnd() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        handler = nil
        hangUp()
    }

    private func hangUp() {
        let peer = peer
        if unreadCount > 0 {
            carry(0) { peer?.breakOff(ECONNRESET) }
        } else {
            carry(0) { peer?.takeEnd() }
        }
        unread = []
        readCount = 0
    }

    /// Both ends are told that the connection is broken, this one at once.
    func reset() {
        breakOff(ECONNRESET)
        carry(0) { [peer] in peer?.breakOff(ECONNRESET) }
    }
}
