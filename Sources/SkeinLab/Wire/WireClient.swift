import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork
import SkeinTraining

/// One worker of a load: speaks the protocol and computes nothing. Lives on the loop's thread.
final class WireClient {
    private let gradients: PreparedGradients
    private let lineRate: Int?
    private let loop: EventLoop
    private let name: String
    private let hello: Hello
    /// Has another thread compute the answer to a lease, which comes back through `send`.
    private let answer: (LeaseGrant) -> Void
    /// Called once: nil when the coordinator said that the run is complete.
    private var ended: (((any Error)?) -> Void)?
    private var dial: Dial?
    private var connection: Connection?
    private var handshake: WorkerHandshake
    private var isJoining = false

    init(
        _ number: Int, gradients: PreparedGradients, lineRate: Int? = nil, loop: EventLoop,
        answer: @escaping (LeaseGrant) -> Void, ended: @escaping ((any Error)?) -> Void
    ) throws {
        self.gradients = gradients
        self.lineRate = lineRate
        self.loop = loop
        self.answer = answer
        self.ended = ended
        name = "load-\(number)"
        hello = Hello(
            minor: ProtocolVersion.minors, role: .worker, name: name,
            incarnation: try SystemRandomness.bytes(16), nonce: try SystemRandomness.bytes(32),
            software: "skein-lab bench")
        handshake = WorkerHandshake(token: [], hello: hello)
    }

    func dial(_ addresses: [SocketAddress], name: NetworkAddress) {
        dial = Dial(addresses, name: name, patience: Limits.handshake, loop: loop) {
            [weak self] result in
            guard let self else { return }
            dial = nil
            switch result {
            case .success(let socket): connected(socket)
            case .failure(let error): end(error)
            }
        }
    }

    func send(_ message: EncodedMessage) {
        connection?.send(shared: message)
    }

    func beat() {
        if isJoining { connection?.send(.heartbeat(Heartbeat())) }
    }

    private func connected(_ socket: Socket) {
        let connection = Connection(
            socket, bounds: MessageBounds(from: .coordinator, in: .greeting), loop: loop)
        connection.onMessage = { [weak self] in self?.receive($0.message) }
        connection.onClose = { [weak self] in self?.fail($0.description) }
        connection.pendingLimit += 2 * gradients.codec.mostPackedBytes(count: gradients.count)
        connection.readRate = lineRate
        self.connection = connection
        connection.send(handshake.greeting)
    }

    private func receive(_ message: Message) {
        switch message {
        case .challenge, .offer: greet(message)
        case .welcome:
            connection?.bounds = MessageBounds(
                from: .coordinator, in: .serving,
                parameterPayloadBytes: ParameterCodec.mostPackedBytes(count: gradients.count))
        case .lease(let lease): answer(lease)
        case .answer(let answer) where answer.verdict == .refused: fail(answer.detail)
        case .rejection(let rejection): fail(rejection.reason)
        case .leave(let leave):
            connection?.closeAfterFlush()
            if leave.reason == .complete { end(nil) } else { fail(leave.detail) }
        case .parameters, .answer, .cancellation, .heartbeat: break
        default: fail("the coordinator sent \(message.type.name)")
        }
    }

    private func greet(_ message: Message) {
        do {
            switch try handshake.receive(message) {
            case .nothing: break
            case .answered(let reply, let keys):
                connection?.send(reply)
                connection?.authenticate(
                    receiving: keys.coordinatorToWorker, sending: keys.workerToCoordinator)
                connection?.bounds = MessageBounds(from: .coordinator, in: .proof)
            case .offered(let offer): agree(offer)
            }
        } catch {
            fail(error.explanation.what)
        }
    }

    /// Joins: there is nothing to load, and every offer is acceptable.
    private func agree(_ offer: Offer) {
        isJoining = true
        connection?.term = offer.term
        connection?.bounds = MessageBounds(from: .coordinator, in: .joining)
        connection?.send(
            .ready(
                Ready(
                    modelDigest: offer.modelDigest, dataDigest: offer.dataDigest,
                    configurationDigest: offer.configurationDigest,
                    recipeDigest: offer.recipeDigest, answerDigest: offer.answerDigest,
                    fingerprint: offer.fingerprint,
                    threads: 1, held: [])))
    }

    private func fail(_ detail: String) {
        end(NodeError.runFailed(detail: "\(name): \(detail)"))
    }

    private func end(_ problem: (any Error)?) {
        isJoining = false
        ended?(problem)
        ended = nil
    }
}
