/// From the answer of the site to its last byte.
extension HTTPConnection {
    func answer(_ request: HTTPRequest) {
        traits = AnswerTraits(
            keepsAlive: request.keepsAlive, isHead: request.method == "HEAD",
            knowsChunks: request.minorVersion > 0)
        isKnown = clients.site.knows(request)
        clients.place(self, .busy)
        phase = .awaitingAnswer
        setDeadline(nil)
        switch clients.answer(request) {
        case .response(let response): respond(response)
        case .events(let begin):
            traits.isFollower = true
            clients.followers += 1
            let stream = sendEvents(headers: [])
            if case .streaming = phase { begin(stream) }
        case .later(let begin):
            watchAgain()
            let reply = HTTPReply(self)
            self.reply = reply
            begin(reply)
        }
    }

    func respond(_ response: HTTPResponse) {
        reply = nil
        phase = .answering
        traits.keepsAlive = traits.keepsAlive && !clients.isDraining
        put(
            response.bytes(
                keepsAlive: traits.keepsAlive, date: clients.date, isHead: traits.isHead))
    }

    /// Answers a request that the site does not see, and ends the connection.
    func refuse(
        _ status: HTTPStatus, _ words: String, headers: [(name: String, value: String)] = []
    ) {
        let head = parser.head
        var response = clients.site.refusal(status, words, to: head)
        // The site may have said some of it.
        let said = Set(response.headers.map { $0.name.lowercased() })
        response.headers += headers.filter { !said.contains($0.name.lowercased()) }
        refuse(response, isHead: head?.method == "HEAD")
    }

    /// Answers a request of which nothing more is read, and ends the connection.
    func refuse(_ response: HTTPResponse, isHead: Bool = false) {
        parser = HTTPRequestParser()
        countBody()
        clients.place(self, .busy)
        traits = AnswerTraits(isHead: isHead)
        respond(response)
    }

    func sendEvents(headers: [(name: String, value: String)]) -> EventStream {
        let stream = EventStream(self)
        self.stream = stream
        phase = .streaming
        let isChunked = traits.knowsChunks && !traits.isFollower
        traits.knowsChunks = isChunked
        traits.keepsAlive = traits.keepsAlive && isChunked && !clients.isDraining
        put(
            HTTPResponse.head(
                .ok, contentType: "text/event-stream; charset=utf-8",
                // nginx would keep events back until it has 4 KiB of them.
                headers: headers + [("X-Accel-Buffering", "no")],
                framing: isChunked ? .chunked : .untilClosed, keepsAlive: traits.keepsAlive,
                date: clients.date))
        return stream
    }

    func stream(_ events: [[UInt8]]) {
        // An answer to HEAD has a head only.
        guard case .streaming = phase, !traits.isHead else { return }
        // What is sent at once may be as long as it is; a client that lets more pile up is dropped.
        if outbound.count > Limits.streamBytes { return drop() }
        guard traits.knowsChunks else { return put(Array(events.joined())) }
        var bytes: [UInt8] = []
        for event in events {
            bytes += Array("\(String(event.count, radix: 16))\r\n".utf8) + event + [0x0D, 0x0A]
        }
        put(bytes)
    }

    func endStream() {
        guard case .streaming = phase else { return }
        phase = .endingStream
        reply?.ended(tells: false)
        reply = nil
        if traits.knowsChunks, !traits.isHead {
            put(Array("0\r\n\r\n".utf8))
        } else {
            write()
        }
    }

    func stopFollowing() {
        if traits.isFollower { clients.followers -= 1 }
        traits.isFollower = false
    }

    // MARK: Writing

    /// Adds bytes to what waits, and writes what the system takes.
    func put(_ bytes: [UInt8]) {
        let waits = !outbound.isEmpty
        outbound.append(bytes)
        // What waits is written when the socket is ready.
        guard !waits else { return countOutbound(hasTaken: false) }
        setDeadline(times.write)
        write()
    }

    func write() {
        let before = outbound.count
        let outcome = outbound.write(to: socket)
        pace.add(before - outbound.count, at: loop.now)
        countOutbound(hasTaken: outbound.count < before)
        switch outcome {
        case .failed: close()
        case .wouldBlock:
            if outbound.count < before { setDeadline(times.write) }
            watchAgain()
        case .allWritten: allWritten()
        }
    }

    private func allWritten() {
        switch phase {
        case .reading: readMore()
        case .streaming:
            setDeadline(times.keepAlive)
            watchAgain()
        case .answering, .endingStream: answered()
        case .awaitingAnswer, .lingering, .closed: break
        }
    }

    func answered() {
        let ended = stream
        stream = nil
        ended?.ended()
        stopFollowing()
        guard traits.keepsAlive, !clients.isDraining else { return linger() }
        phase = .reading
        clients.place(self, .waiting)
        setDeadline(parser.isInside ? times.request : times.idle)
        guard parser.isInside else { return watchAgain() }
        // The next request may be here already. It is read before any more bytes are, so that a
        // pipeline of them stays bounded, and not from here, so that it cannot grow the stack.
        watch(for: [])
        loop.setAlarm(at: .now) { [weak self] in self?.readNext() }
    }

    /// Ends this side, and lets the client's bytes run out so that it gets the answer and no reset.
    private func linger() {
        parser = HTTPRequestParser()
        socket.endWriting()
        clients.place(self, .lingering)
        // A server that stops does not wait for those who do not.
        linger(
            until: .now + (clients.isDraining ? times.linger : times.lingerTotal),
            bytes: Limits.lingerBytes)
        watchAgain()
    }

    func linger(until end: ContinuousClock.Instant, bytes: Int) {
        phase = .lingering(until: end, bytes: bytes)
        setDeadline(at: min(.now + times.linger, end))
    }
}
