import Foundation
import SkeinSockets

/// One client. Lives on its loop's thread.
///
/// Every wait has a deadline: a request must be complete `Limits.requestTime` after it may begin, the
/// next one must begin within `Limits.idleTime`, and a client must take something of what waits for
/// it every `Limits.writeTime`.
final class HTTPConnection {
    private let socket: Socket
    private let loop: EventLoop
    private let answer: (HTTPRequest) -> HTTPAnswer
    private let onClose: (HTTPConnection) -> Void
    private var watch: Watch?
    private var alarm: Alarm?
    private var parser = HTTPRequestParser()
    private var outbound: [UInt8] = []
    /// Bytes of `outbound` that have been written.
    private var written = 0
    private var phase = Phase.reading
    private(set) var stream: EventStream?

    private enum Phase {
        /// Waits for a request, or for the rest of one.
        case reading
        /// Sends an answer, and closes unless `keeps`.
        case answering(keeps: Bool)
        /// Sends events.
        case streaming
        /// Sends what is left of the events.
        case endingStream
        /// Has answered and ended its side; drops what still comes.
        case lingering
        case closed
    }

    init(
        _ socket: Socket, loop: EventLoop, answer: @escaping (HTTPRequest) -> HTTPAnswer,
        onClose: @escaping (HTTPConnection) -> Void
    ) {
        self.socket = socket
        self.loop = loop
        self.answer = answer
        self.onClose = onClose
        watch = loop.watch(socket.descriptor, for: .read) { [weak self] in self?.handle($0) }
        setAlarm(Limits.requestTime)
    }

    /// Whether it may be dropped for another client: it follows no events.
    var isIdle: Bool {
        if case .streaming = phase { return false }
        return true
    }

    /// Whether another event may be sent to it.
    var hasRoom: Bool {
        guard case .streaming = phase else { return false }
        return outbound.isEmpty
    }

    func close() {
        if case .closed = phase { return }
        phase = .closed
        if let watch { loop.end(watch) }
        if let alarm { loop.cancel(alarm) }
        (watch, alarm) = (nil, nil)
        socket.close()
        let stream = stream
        self.stream = nil
        stream?.ended()
        onClose(self)
    }

    private func handle(_ readiness: Readiness) {
        if readiness.contains(.write) { write() }
        if case .closed = phase { return }
        if !readiness.isDisjoint(with: [.read, .broken]) { read() }
    }

    // MARK: Reading

    private func read() {
        let room = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<Limits.readBytes])
        switch socket.read(into: room) {
        case .wouldBlock: return
        case .ended:
            // A client that has sent its request may end its side before it reads the answer.
            if case .answering = phase {
                phase = .answering(keeps: false)
                return watchFor(.write)
            }
            close()
        case .failed: close()
        case .bytes(let count):
            guard case .reading = phase else {
                // Nothing is read while an answer is under way; what comes to a stream means nothing.
                return
            }
            let wasInside = parser.isInside
            parser.take(room[..<count])
            readRequest()
            // The first byte of a request begins its time; neither more bytes nor empty lines before it
            // prolong that.
            if case .reading = phase, !wasInside, parser.isInside { setAlarm(Limits.requestTime) }
        }
    }

    private func readRequest() {
        do throws(HTTPProblem) {
            guard let request = try parser.next() else { return watchFor(.read) }
            give(answer(request), keeps: request.keepsAlive, isHead: request.method == "HEAD")
        } catch {
            give(.response(HTTPResponse(error.status, line: error.words)), keeps: false)
        }
    }

    private func give(_ answer: HTTPAnswer, keeps: Bool, isHead: Bool = false) {
        switch answer {
        case .response(let response):
            phase = .answering(keeps: keeps)
            put(response.bytes(keepsAlive: keeps, isHead: isHead))
        case .events(let begin):
            phase = .streaming
            put(
                HTTPResponse.head(
                    .ok, contentType: "text/event-stream; charset=utf-8", headers: [],
                    length: nil, keepsAlive: false))
            guard case .streaming = phase else { return }
            let stream = EventStream(self)
            self.stream = stream
            begin(stream)
        }
    }

    // MARK: Writing

    /// Adds bytes to what waits, and writes what the system takes.
    private func put(_ bytes: [UInt8]) {
        if outbound.isEmpty { setAlarm(Limits.writeTime) }
        outbound += bytes
        write()
    }

    func stream(_ bytes: [UInt8]) {
        guard case .streaming = phase else { return }
        // One event may be as long as it is; a client that lets more pile up is dropped.
        if !outbound.isEmpty, outbound.count - written + bytes.count > Limits.streamBytes {
            return close()
        }
        put(bytes)
    }

    func endStream() {
        guard case .streaming = phase else { return }
        phase = .endingStream
        write()
    }

    private func write() {
        while written < outbound.count {
            let transfer = outbound.withUnsafeBytes { bytes in
                socket.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))
            }
            switch transfer {
            case .bytes(let count):
                written += count
                setAlarm(Limits.writeTime)
            case .wouldBlock:
                // Nothing is read meanwhile: a client that sends without reading stops.
                return watchFor(.write)
            case .ended, .failed: return close()
            }
        }
        outbound = []
        written = 0
        allWritten()
    }

    private func allWritten() {
        switch phase {
        case .answering(true):
            phase = .reading
            setAlarm(parser.isInside ? Limits.requestTime : Limits.idleTime)
            guard parser.isInside else { return watchFor(.read) }
            // The next request may be here already. It is read before any more bytes are, so that a
            // pipeline of them stays bounded, and not from here, so that it cannot grow the stack.
            watchFor([])
            loop.setAlarm(at: .now) { [weak self] in self?.readNext() }
        case .answering(false), .endingStream: linger()
        case .streaming:
            watchFor(.read)
            setAlarm(nil)
        case .reading, .lingering, .closed: break
        }
    }

    private func readNext() {
        if case .reading = phase { readRequest() }
    }

    /// Ends this side, and lets the client's bytes run out so that it gets the answer and no reset.
    private func linger() {
        phase = .lingering
        socket.endWriting()
        watchFor(.read)
        setAlarm(Limits.lingerTime)
    }

    private func watchFor(_ interest: Readiness) {
        if let watch { loop.change(watch, to: interest) }
    }

    // MARK: Deadlines

    private func setAlarm(_ time: Duration?) {
        if let alarm { loop.cancel(alarm) }
        alarm = time.map { time in
            loop.setAlarm(at: .now + time) { [weak self] in self?.timeIsOver() }
        }
    }

    private func timeIsOver() {
        alarm = nil
        guard case .reading = phase, parser.isInside else { return close() }
        give(
            .response(HTTPResponse(.requestTimeout, line: "the request did not come in time")),
            keeps: false)
    }
}
