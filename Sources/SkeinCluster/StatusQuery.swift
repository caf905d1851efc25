import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinNetwork

/// Asks a coordinator for its status, as `skein status` does.
package enum StatusQuery {
    /// Dials, proves the token, asks once and hangs up; blocks.
    ///
    /// - Parameters:
    ///   - coordinator: `HOST:PORT`.
    ///   - token: nil when there is none, as on loopback.
    ///   - version: Skein's, sent to the coordinator.
    ///   - timeout: from dialling to the answer.
    /// - Returns: a JSON object; docs/PROTOCOL.md names its fields.
    /// - Throws: `NodeError`.
    package static func ask(
        coordinator: String, token: [UInt8]?, version: String, timeout: Duration
    ) throws -> [UInt8] {
        let name = try NetworkAddress(parsing: coordinator)
        let addresses = try name.resolved(for: .dialling)
        let hello = Hello(
            minor: ProtocolVersion.minors, role: .observer, name: "status",
            incarnation: try SystemRandomness.bytes(16), nonce: try SystemRandomness.bytes(32),
            software: "skein \(version)")
        let loop = try EventLoop(name: "skein-network")
        defer { loop.stop() }
        let answer = Promise<Result<[UInt8], any Error>>()
        let conversation = try Confined(to: loop) {
            Conversation(
                handshake: WorkerHandshake(token: token ?? [], hello: hello), name: name,
                loop: loop, answer: answer)
        }
        conversation.post { $0.begin(addresses) }
        guard let result = answer.value(within: timeout / .seconds(1)) else {
            throw NodeError.noStatus(
                address: name.description, detail: "no answer in time")
        }
        try conversation.call { $0.end() }
        return try result.get()
    }

    /// One connection of an observer; lives on the loop's thread.
    private final class Conversation {
        private var handshake: WorkerHandshake
        private let name: NetworkAddress
        private let loop: EventLoop
        private let answer: Promise<Result<[UInt8], any Error>>
        private var dial: Dial?
        private var connection: Connection?

        init(
            handshake: WorkerHandshake, name: NetworkAddress, loop: EventLoop,
            answer: Promise<Result<[UInt8], any Error>>
        ) {
            self.handshake = handshake
            self.name = name
            self.loop = loop
            self.answer = answer
        }

        func begin(_ addresses: [SocketAddress]) {
            dial = Dial(
                addresses, name: name, patience: Limits.handshake, loop: loop
            ) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let socket): speak(on: socket)
                case .failure(let error): answer.keep(.failure(error))
                }
            }
        }

        func end() {
            dial?.cancel()
            connection?.close()
        }

        private func speak(on socket: Socket) {
            let connection = Connection(
                socket, bounds: MessageBounds(from: .coordinator, in: .greeting), loop: loop)
            connection.onMessage = { [weak self] in self?.receive($0) }
            connection.onViolation = { [weak self] error in
                guard case .majorVersion(let found) = error else { return }
                self?.fail(.majorVersion(found: found))
            }
            connection.onClose = { [weak self] reason in
                guard let self else { return }
                answer.keep(
                    .failure(
                        NodeError.noStatus(
                            address: name.description, detail: reason.description)))
            }
            self.connection = connection
            connection.send(handshake.greeting)
        }

        private func receive(_ received: ReceivedMessage) {
            if case .status(let report) = received.message {
                return answer.keep(.success(report.json))
            }
            do {
                switch try handshake.receive(received.message) {
                case .nothing: break
                case .answered(let reply, let keys):
                    connection?.send(reply)
                    connection?.authenticate(
                        receiving: keys.coordinatorToWorker, sending: keys.workerToCoordinator)
                    connection?.bounds = MessageBounds(from: .coordinator, in: .proof)
                case .offered(let offer):
                    connection?.term = offer.term
                    connection?.bounds = MessageBounds(from: .coordinator, in: .observing)
                    connection?.send(.statusRequest)
                }
            } catch {
                fail(error)
            }
        }

        private func fail(_ error: HandshakeError) {
            answer.keep(
                .failure(NodeError.refused(address: name.description, error: error)))
        }
    }
}
