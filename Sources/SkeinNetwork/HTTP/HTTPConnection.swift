/// One client. Lives on its loop's thread.
///
/// Every wait for the client has a deadline: the head of a request must be complete
/// `HTTPTimes.request` after it may begin, its body must come at a minimum rate, the next request
/// must begin within `HTTPTimes.idle`, and a client must take something of what waits for it every
/// `HTTPTimes.write`. Only a wait for the site has none.
final class HTTPConnection {
    /// Its place among the server's clients.
    let slot: Int
    let socket: Socket
    /// Where the client is; see `SocketAddress.network`.
    let network: [UInt8]
    let loop: EventLoop
    unowned let clients: Clients
    private var watch: Watch?
    private var watched: Readiness = .read
    private var alarm: (alarm: Alarm, at: ContinuousClock.Instant)?
    private var deadline: ContinuousClock.Instant?
    var parser = HTTPRequestParser()
    private var bodyBegan: ContinuousClock.Instant?
    /// How fast its body comes, or what waits for it is taken.
    var pace: Pace
    /// Whether its last request was one of a client that the site knows.
    var isKnown = false
    /// Bytes of the body that the server knows of.
    private(set) var countedBytes = 0
    var outbound = Outbound()
    /// Bytes of `outbound` that the server knows of.
    private var countedOutbound = 0
    var phase = Phase.reading
    var traits = AnswerTraits()
    var reply: HTTPReply?
    var stream: EventStream?

    enum Phase {
        /// Waits for a request, or for the rest of one.
        case reading
        /// Waits for the site.
        case awaitingAnswer
        /// Sends a whole answer.
        case answering
        /// Sends events.
        case streaming
        /// Sends what is left of the events.
        case endingStream
        /// Has answered and ended its side; throws away what still comes, of which so many bytes may.
        case lingering(until: ContinuousClock.Instant, bytes: Int)
        case closed
    }

    /// What the request that is being answered asks of its answer.
    struct AnswerTraits {
        var keepsAlive = false
        var isHead = false
        var knowsChunks = false
        /// Whether it follows events to which the connection belongs: what comes means nothing.
        var isFollower = false
    }

    init(_ socket: Socket, slot: Int, loop: EventLoop, clients: Clients) {
        self.socket = socket
        network = socket.peer.network
        self.slot = slot
        self.loop = loop
        self.clients = clients
        pace = Pace(at: loop.now)
        watch = loop.watch(socket.descriptor, for: .read) { [weak self] in self?.handle($0) }
        setDeadline(times.request)
    }

    var times: HTTPTimes { clients.settings.times }

    var waitingBytes: Int { outbound.count }

    /// Whether another event may be sent to it.
    var hasRoom: Bool {
        guard case .streaming = phase else { return false }
        return outbound.isEmpty
    }

    /// Whether little waits for it.
    var hasRoomForMore: Bool {
        guard case .streaming = phase else { return false }
        return outbound.count < Limits.streamRoomBytes
    }

    /// Whether the site has the request and has not begun to answer.
    var awaitsAnswer: Bool {
        guard case .awaitingAnswer = phase else { return false }
        return true
    }

    /// Gives the client up: it takes nothing, or another needs what it holds.
    func drop() { close(dropped: true) }

    func close(dropped: Bool = false) {
        if case .closed = phase { return }
        phase = .closed
        if let watch { loop.end(watch) }
        if let alarm { loop.cancel(alarm.alarm) }
        (watch, alarm, deadline) = (nil, nil, nil)
        socket.close()
        parser = HTTPRequestParser()
        countBody()
        outbound = Outbound()
        countOutbound(hasTaken: false)
        stopFollowing()
        clients.remove(self)
        let (reply, stream) = (reply, stream)
        (self.reply, self.stream) = (nil, nil)
        reply?.ended(tells: true, dropped: dropped)
        stream?.ended()
    }

    /// Answers what the site has, and nothing after it: who has sent half a request may try
    /// elsewhere, and would hold the server up as long as a request may take.
    func drain() {
        switch phase {
        case .reading where parser.isInside:
            refuse(
                .serviceUnavailable, "the server is stopping; send the request again later",
                headers: [("Retry-After", "1")])
        case .reading: close()
        case .streaming where traits.isFollower: endStream()
        case .lingering(let end, let bytes):
            linger(until: min(end, .now + times.linger), bytes: bytes)
        case .awaitingAnswer, .answering, .streaming, .endingStream, .closed: break
        }
    }

    private func handle(_ readiness: Readiness) {
        // Another connection's event may have changed what this one waits for.
        if readiness.contains(.write), watched.contains(.write) {
            write()
            if hasRoomForMore { stream?.onRoom() }
        }
        if case .closed = phase { return }
        if readiness.contains(.broken) {
            // Both sides have ended, or the connection was reset.
            if case .lingering = phase { return read() }
            return close()
        }
        // Requests that wait are dropped: no client is left to read the answers.
        if readiness.contains(.hangUp), watched.contains(.hangUp) { return close() }
        if readiness.contains(.read), watched.contains(.read) { read() }
    }

    // MARK: Reading

    private func read() {
        let room = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<Limits.requestReadBytes])
        switch socket.read(into: room) {
        case .wouldBlock: return
        case .ended, .failed:
            // A client that ended only its own side cannot be told from one that is gone.
            close()
        case .bytes(let count): take(room[..<count])
        }
    }

    private func take(_ bytes: Slice<UnsafeMutableRawBufferPointer>) {
        switch phase {
        case .reading:
            let wasInside = parser.isInside
            parser.take(bytes)
            readRequest()
            // The first byte of a request begins its time; neither more bytes nor empty lines
            // before it prolong that.
            if case .reading = phase, !wasInside, parser.isInside, !parser.isInBody {
                clients.place(self, .waiting)
                setDeadline(times.request)
            }
        case .awaitingAnswer, .streaming, .endingStream:
            guard !traits.isFollower else { return }
            parser.take(bytes)
            watchAgain()
        case .lingering(let end, let left):
            guard bytes.count <= left else { return close() }
            linger(until: end, bytes: left - bytes.count)
        case .answering, .closed: break
        }
    }

    private func readRequest() {
        let (wasInBody, before) = (parser.isInBody, parser.bodyBytes)
        var answered: (HTTPResponse, isHead: Bool)?
        do throws(HTTPProblem) {
            let request = try parser.next { head in
                isKnown = clients.site.knows(head)
                switch clients.site.admit(head) {
                case .body(let limit): return limit
                case .answered(let response):
                    answered = (response, head.method == "HEAD")
                    return nil
                }
            }
            countBody()
            if let request { return answer(request) }
        } catch {
            if let (response, isHead) = answered { return refuse(response, isHead: isHead) }
            return refuse(error.status, error.words, headers: error.headers)
        }
        guard parser.isInBody else { return watchAgain() }
        if !wasInBody {
            bodyBegan = .now
            pace = Pace(at: loop.now)
        }
        if parser.bodyBytes > before || !wasInBody {
            pace.add(parser.bodyBytes - before, at: loop.now)
            clients.place(self, .body)
        }
        // It needs one more byte at least.
        guard clients.makeBodyRoom(besides: self) else {
            return refuse(
                .serviceUnavailable, "the server receives too much at the moment; try again",
                headers: [("Retry-After", "1")])
        }
        if parser.takeContinue() { return put(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        readMore()
    }

    /// Waits for the rest of a request, or for the next one.
    func readMore() {
        if parser.isInBody {
            setDeadline(at: (bodyBegan ?? .now) + times.body(parser.bodyBytes))
        }
        watchAgain()
    }

    func readNext() {
        if case .reading = phase { readRequest() }
    }

    /// Tells the server how much memory the body takes.
    func countBody() {
        clients.bodyBytes += parser.bodyBytes - countedBytes
        countedBytes = parser.bodyBytes
    }

    /// Tells the server how much memory the bytes take that wait for the client.
    func countOutbound(hasTaken: Bool) {
        if !hasTaken, countedOutbound == 0 { pace = Pace(at: loop.now) }
        clients.waiting(self, more: outbound.heldBytes - countedOutbound, hasTaken: hasTaken)
        countedOutbound = outbound.heldBytes
    }

    // MARK: Waiting

    private var interest: Readiness {
        // A client that is gone is noticed also behind bytes that are not read.
        let hasRoom = parser.heldBytes < Limits.pipelineBytes
        let reading: Readiness = hasRoom || traits.isFollower ? .read : .hangUp
        switch phase {
        case .reading: return outbound.isEmpty ? .read : .write
        case .awaitingAnswer: return reading
        // Nothing is read meanwhile: a client that sends without reading stops.
        case .answering: return .write
        case .streaming, .endingStream:
            return outbound.isEmpty ? reading : reading.union(.write)
        case .lingering: return .read
        case .closed: return []
        }
    }

    func watchAgain() { watch(for: interest) }

    func watch(for interest: Readiness) {
        watched = interest
        if let watch { loop.change(watch, to: interest) }
    }

    func setDeadline(_ time: Duration?) {
        if let time { setDeadline(at: .now + time) } else { deadline = nil }
    }

    /// Deadlines are put off with every piece that comes or leaves, so the alarm of an earlier one
    /// stays where it is, and is set again when it goes off.
    func setDeadline(at end: ContinuousClock.Instant) {
        deadline = end
        if let alarm {
            if alarm.at <= end { return }
            loop.cancel(alarm.alarm)
        }
        setAlarm(at: end)
    }

    private func setAlarm(at end: ContinuousClock.Instant) {
        alarm = (loop.setAlarm(at: end) { [weak self] in self?.alarmWentOff() }, end)
    }

    private func alarmWentOff() {
        alarm = nil
        guard let deadline else { return }
        if deadline > loop.now { return setAlarm(at: deadline) }
        self.deadline = nil
        switch phase {
        case .reading where parser.isInside && outbound.isEmpty:
            refuse(.requestTimeout, "the request did not come in time")
        case .streaming where outbound.isEmpty:
            stream([Array(": still here\n\n".utf8)])
            // To HEAD, nothing was sent.
            if self.deadline == nil { setDeadline(times.keepAlive) }
        default: drop()
        }
    }
}
