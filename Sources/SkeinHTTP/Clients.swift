import SkeinBasics
import SkeinSockets

/// The clients of a server. Lives on the loop's thread. No event costs more when there are more of
/// them, and neither does accepting one; only making room looks through those for whom bytes wait.
final class Clients {
    private let loop: EventLoop
    let settings: HTTPServer.Settings
    let site: any HTTPSite
    private var listener: Listener?
    let address: SocketAddress
    private var connections: [HTTPConnection?] = []
    private var freeSlots: [Int] = []
    private var refused = WaitingLine()
    private(set) var isDraining = false

    /// Those that may be dropped for others: they wait for a request, have begun none or the head
    /// of one, or were answered for the last time. Who has waited longest is first.
    var line = WaitingLine()
    /// How many follow events to which their connection belongs.
    var followers = 0
    /// Bytes of all bodies that are not complete.
    var bodyBytes = 0
    /// Bytes held for all clients that have not taken them.
    private(set) var waitingBytes = 0
    /// Those for whom bytes wait. Who has taken none for longest is first.
    private var takers = WaitingLine()
    private var isMakingRoom = false

    init(
        on addresses: [SocketAddress], name: NetworkAddress, settings: HTTPServer.Settings,
        loop: EventLoop, site: any HTTPSite
    ) throws {
        self.loop = loop
        self.settings = settings
        self.site = site
        var accept: (Socket) -> Void = { _ in }
        let listener = try Listener(on: addresses, name: name, loop: loop) { accept($0) }
        address = listener.address
        self.listener = listener
        accept = { [weak self] in self?.accept($0) }
        // Whoever still answers hears that nobody listens any more.
        loop.whenEnding { [weak self] in self?.closeAll() }
    }

    var count: Int { connections.count - freeSlots.count }

    /// No more clients come. Those that follow events get what was sent, answers under way are
    /// finished, and the others are dropped.
    func drain() {
        guard !isDraining else { return }
        isDraining = true
        listener?.end()
        listener = nil
        site.finish()
        for connection in connections { connection?.drain() }
    }

    private func closeAll() {
        for connection in connections { connection?.close() }
    }

    private func accept(_ socket: Socket) {
        if count - refused.count >= settings.connections {
            guard let dropped = crowded ?? line.first else { return refuse(socket) }
            connections[dropped]?.close()
        }
        line.join(add(socket).slot)
    }

    /// Of those that may be dropped and have waited longest, the first one of the host that has most
    /// of them: a host that opens connections without end loses its own.
    private var crowded: Int? {
        var counts: [[UInt8]: Int] = [:]
        var seen = 0
        _ = line.first { slot in
            if let network = connections[slot]?.network { counts[network, default: 0] += 1 }
            seen += 1
            return seen >= Limits.crowd
        }
        let most = counts.values.max()
        return line.first { slot in connections[slot].map { counts[$0.network] == most } ?? false }
    }

    private func add(_ socket: Socket) -> HTTPConnection {
        let slot = freeSlots.popLast() ?? connections.count
        let connection = HTTPConnection(socket, slot: slot, loop: loop, clients: self)
        if slot == connections.count {
            connections.append(connection)
        } else {
            connections[slot] = connection
        }
        return connection
    }

    /// All are answered at the moment: one more is told so.
    private func refuse(_ socket: Socket) {
        if refused.count >= Limits.refusedConnections, let oldest = refused.first {
            connections[oldest]?.close()
        }
        let connection = add(socket)
        refused.join(connection.slot)
        connection.refuse(
            .serviceUnavailable, "all \(settings.connections) connections are in use; try again",
            headers: [("Retry-After", "1")])
    }

    /// An answered connection may be dropped.
    func lingers(_ connection: HTTPConnection) {
        if !refused.contains(connection.slot) { line.join(connection.slot) }
    }

    /// What waits for a client has changed.
    ///
    /// - Parameters:
    ///   - connection: the client's.
    ///   - more: bytes that are held for it beyond those before, or below 0.
    ///   - hasTaken: whether it has taken some.
    func waiting(_ connection: HTTPConnection, more: Int, hasTaken: Bool) {
        let slot = connection.slot
        waitingBytes += more
        if connection.outbound.isEmpty {
            takers.leave(slot)
        } else if hasTaken || !takers.contains(slot) {
            takers.join(slot)
        }
        guard waitingBytes > settings.answerBytes, !isMakingRoom else { return }
        // Not from here: the site, which answers one, need not expect to hear of others meanwhile.
        isMakingRoom = true
        loop.setAlarm(at: .now) { [weak self] in self?.makeRoom() }
    }

    /// Drops those that have taken nothing for longest, but not those that hold little, less than a
    /// quarter of their share: that would free nothing. The last one's answer may have any length.
    func makeRoom() {
        isMakingRoom = false
        while waitingBytes > settings.answerBytes, takers.count > 1 {
            let little = settings.answerBytes / takers.count / 4
            let slowest = takers.first(where: {
                connections[$0].map { $0.outbound.heldBytes > little } ?? false
            })
            guard let dropped = slowest ?? takers.first else { return }
            connections[dropped]?.close()
        }
    }

    func remove(_ connection: HTTPConnection) {
        let slot = connection.slot
        line.leave(slot)
        refused.leave(slot)
        takers.leave(slot)
        connections[slot] = nil
        freeSlots.append(slot)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let answer = site.answer(request)
        guard case .events = answer, followers >= settings.streams else { return answer }
        return .response(
            site.refusal(
                .serviceUnavailable,
                "\(followers) clients follow this already; close one of them"))
    }
}
