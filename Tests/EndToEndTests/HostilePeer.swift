import Foundation
import SkeinCoordination
import SkeinLab
import SkeinTestSupport
import Testing

/// A dialler that can lie at any layer: it seals frames as `skein worker` does and sends anything.
///
/// It blocks. It checks what it hears as a worker does; while it listens as a member it sends
/// heartbeats.
final class HostilePeer {
    /// How a conversation ended.
    enum Heard: Equatable {
        case message(Message)
        /// The coordinator has closed the connection.
        case closed
        /// Nothing came in time.
        case silence
    }

    private let descriptor: Int32
    private let hello: Hello
    private var sealer = FrameSealer()
    private var inbound = InboundQueue(
        bounds: MessageBounds(
            allowed: Set(MessageType.allCases), gradientPayloadBytes: 1 << 24,
            parameterPayloadBytes: 1 << 24))
    private var handshake: WorkerHandshake
    private var offered: Offer?
    private var passedOver: [Message] = []
    private var lastBeat = ContinuousClock.now
    /// Called with the parameters that come.
    var takeParameters: (ParameterUpdate) -> Void = { _ in }
    /// Whether `hear` sends heartbeats.
    var isAlive = false

    /// Dials `HOST:PORT`, an IPv4 address.
    init(
        _ address: String, name: String = "liar", token: [UInt8] = [],
        minor: ClosedRange<UInt8> = ProtocolVersion.minors, role: PeerRole = .worker
    ) throws {
        descriptor = try Self.dial(address)
        hello = Hello(
            minor: minor, role: role, name: name, incarnation: Self.bytes(16),
            nonce: Self.bytes(32), software: "liar 1")
        handshake = WorkerHandshake(token: token, hello: hello)
    }

    deinit { hangUp() }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255) }
    }

    /// A connected socket; end it with `close`. `source` is the local address, the system's choice
    /// without one.
    static func dial(_ address: String, from source: String? = nil) throws -> Int32 {
        let colon = try #require(address.lastIndex(of: ":"))
        let port = try #require(UInt16(address[address.index(after: colon)...]))
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = inet_addr(String(address[..<colon]))
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Other tests start processes meanwhile.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        try #require(descriptor >= 0, "socket: \(String(cString: strerror(errno)))")
        if let source {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_addr.s_addr = inet_addr(source)
            let bound = withUnsafePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(bound == 0, "bind: \(String(cString: strerror(errno)))")
        }
        let status = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        var time = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    /// The run, once it is known.
    var offer: Offer {
        get throws { try #require(offered, "there was no offer") }
    }

    /// The HELLO that an honest dialler would send.
    var greeting: Message { handshake.greeting }

    // MARK: Sending

    /// Sends bytes as they are. It is no error if the coordinator has hung up meanwhile.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The next frame of this connection, as a worker would make it.
    func frame(_ message: Message, term: UInt32? = nil) -> [UInt8] {
        let payload = message.encoded()
        return frame(message.type.rawValue, payload, count: payload.count, term: term)
    }

    /// The next frame of this connection, with a payload that need not be any message's.
    func frame(
        _ type: UInt16, _ payload: [UInt8], count: Int, flags: FrameHeader.Flags = [],
        term: UInt32? = nil
    ) -> [UInt8] {
        payload.withUnsafeBytes {
            sealer.seal(
                type: type, flags: flags, term: term ?? offered?.term ?? 0, messageLength: count,
                payload: $0)
        }
    }

    func say(_ message: Message) {
        send(frame(message))
    }

    /// Closes the connection.
    func hangUp() {
        guard !isGone else { return }
        isGone = true
        close(descriptor)
    }

    private var isGone = false

    // MARK: Listening

    /// The next message besides heartbeats and parameters.
    func hear(seconds: Double = SkeinProcess.patience) throws -> Heard {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            while let message = try inbound.next()?.message {
                switch message {
                case .heartbeat: continue
                case .parameters(let update): takeParameters(update)
                default: return .message(message)
                }
            }
            if isAlive, ContinuousClock.now - lastBeat > .milliseconds(300) {
                lastBeat = .now
                say(.heartbeat(Heartbeat()))
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                buffer.withUnsafeBytes {
                    inbound.append(UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
                continue
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else { return .closed }
            if ContinuousClock.now > deadline { return .silence }
        }
    }

    /// The next message that `choose` takes; the others stay for later. Nil when the connection
    /// ended or nothing came.
    func wait<Value>(seconds: Double = SkeinProcess.patience, for choose: (Message) -> Value?)
        throws -> Value?
    {
        let deadline = ContinuousClock.now + .seconds(seconds)
        for (place, message) in passedOver.enumerated() {
            if let value = choose(message) {
                passedOver.remove(at: place)
                return value
            }
        }
        while ContinuousClock.now < deadline {
            guard case .message(let message) = try hear(seconds: seconds) else { return nil }
            if let value = choose(message) { return value }
            passedOver.append(message)
        }
        return nil
    }

    /// Why this peer is rejected; nil when it is not, or no reason came.
    func rejection(seconds: Double = SkeinProcess.patience) throws -> Rejection? {
        try wait(seconds: seconds) { message in
            if case .rejection(let rejection) = message { rejection } else { nil }
        }
    }

    func lease() throws -> LeaseGrant {
        try #require(
            try wait { message in
                if case .lease(let lease) = message { lease } else { nil }
            }, "no lease came")
    }

    /// The answer to a result; what comes before it stays for later.
    func answer(to key: WorkKey) throws -> ResultAnswer {
        try #require(
            try wait { message in
                if case .answer(let answer) = message, answer.key == key { answer } else { nil }
            }, "no answer came")
    }

    // MARK: Getting in

    /// HELLO, and the proof in answer to CHALLENGE.
    ///
    /// - Returns: the bytes of AUTHENTICATION as they were sent.
    @discardableResult
    func prove(sending proof: [UInt8]? = nil) throws -> [UInt8] {
        say(handshake.greeting)
        guard case .message(let message) = try hear(),
            case .answered(let reply, let keys) = try handshake.receive(message)
        else { throw Unwelcome() }
        let bytes = frame(reply)
        send(proof ?? bytes)
        sealer.authenticate(with: keys.workerToCoordinator)
        inbound.authenticate(with: keys.coordinatorToWorker)
        return bytes
    }

    /// The handshake up to OFFER.
    func authenticate() throws {
        try prove()
        guard case .message(let message) = try hear(),
            case .offered(let offer) = try handshake.receive(message)
        else { throw Unwelcome() }
        offered = offer
    }

    /// The handshake up to READY; `change` may lie.
    func ready(threads: UInt16 = 1, change: (inout Ready) -> Void = { _ in }) throws {
        if offered == nil { try authenticate() }
        let offer = try offer
        var ready = Ready(
            modelDigest: offer.modelDigest, dataDigest: offer.dataDigest,
            configurationDigest: offer.configurationDigest, recipeDigest: offer.recipeDigest,
            answerDigest: offer.answerDigest,
            fingerprint: offer.fingerprint,
            threads: threads, held: [])
        change(&ready)
        say(.ready(ready))
    }

    /// The handshake up to WELCOME.
    func join(threads: UInt16 = 1) throws {
        try ready(threads: threads)
        let isWelcome = try wait { message in
            if case .welcome = message { true } else { nil }
        }
        guard isWelcome == true else { throw Unwelcome() }
        isAlive = true
    }

    /// The coordinator did not let this peer in.
    struct Unwelcome: Error {}
}
