import SkeinBasics

/// The clients of a server. Lives on the loop's thread. No event costs more when there are more of
/// them, and neither does accepting one; only making room looks through those that send bodies or
/// for whom bytes wait.
final class Clients {
    private let loop: EventLoop
    let settings: HTTPServer.Settings
    let site: any HTTPSite
    private var listener: Listener?
    let address: SocketAddress
    private var connections: [HTTPConnection?] = []
    private var freeSlots: [Int] = []
    private var refused = WaitingQueue()
    private(set) var isDraining = false
    private var written: (seconds: Int, text: String) = (-1, "")

    /// Who may have to leave, for the place that it has.
    private var places = Places()
    /// How many follow events to which their connection belongs.
    var followers = 0
    /// Bytes of all bodies that are not complete.
    var bodyBytes = 0
    /// Bytes held for all clients that have not taken them.
    private(set) var waitingBytes = 0
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
        // Closes the connections that are left, so that code that still makes an answer learns that it
        // is not read.
        loop.whenEnding { [weak self] in self?.closeAll() }
    }

    /// The `Date` of an answer, written once a second.
    var date: String {
        let now = settings.date()
        if written.seconds != now { written = (now, HTTPDate.text(now)) }
        return written.text
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
            guard let dropped = places.dispensable(client) else { return refuse(socket) }
            connections[dropped]?.drop()
        }
        place(add(socket), .waiting)
    }

    /// What is known of a client when one must leave.
    private func client(_ slot: Int) -> Places.Client {
        let connection = connections[slot]
        return Places.Client(
            network: connection?.network ?? [], isKnown: connection?.isKnown ?? false,
            pace: connection?.pace.bytes(at: loop.now) ?? 0,
            bodyBytes: connection?.countedBytes ?? 0,
            waitingBytes: connection?.outbound.heldBytes ?? 0)
    }

    /// Notes what a connection does now.
    func place(_ connection: HTTPConnection, _ occupation: Places.Occupation) {
        if occupation == .lingering, refused.contains(connection.slot) { return }
        places.place(connection.slot, occupation, isKnown: connection.isKnown)
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

    /// Makes room for another byte of a body: as long as all bodies take as much as they may, the
    /// slowest of those that hold more than a little is refused.
    ///
    /// - Returns: whether there is room.
    func makeBodyRoom(besides newcomer: HTTPConnection) -> Bool {
        while bodyBytes >= settings.bodyBytes {
            guard
                let slot = places.slowestBody(
                    besides: newcomer.slot, holding: settings.bodyBytes, client),
                let slowest = connections[slot]
            else { return false }
            slowest.refuse(
                .serviceUnavailable,
                "the server receives too much at the moment, and this came slowest; try again",
                headers: [("Retry-After", "1")])
        }
        return true
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
        places.waits(slot, !connection.outbound.isEmpty, hasTaken: hasTaken)
        guard waitingBytes > settings.answerBytes, !isMakingRoom else { return }
        // Not from here: the site, which answers one, need not expect to hear of others meanwhile.
        isMakingRoom = true
        loop.setAlarm(at: .now) { [weak self] in self?.makeRoom() }
    }

    /// Drops those that have taken nothing for longest, but not those that hold little, less than a
    /// quarter of their share: that would free nothing. The last one's answer may have any length.
    func makeRoom() {
        isMakingRoom = false
        while waitingBytes > settings.answerBytes,
            let slot = places.slowestTaker(holding: settings.answerBytes, client)
        {
            connections[slot]?.drop()
        }
    }

    func remove(_ connection: HTTPConnection) {
        let slot = connection.slot
        places.leave(slot)
        refused.leave(slot)
        connections[slot] = nil
        freeSlots.append(slot)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let answer = site.answer(request)
        guard case .events = answer, followers >= settings.streams else { return answer }
        return .response(
            site.refusal(
                .serviceUnavailable,
                "\(followers) clients follow this already; close one of them", to: request))
    }
}
