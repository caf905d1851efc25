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
        let hello = Hello(
            minor: ProtocolVersion.minors, role: .observer, name: "status",
            incarnation: try SystemRandomness.bytes(16), nonce: try SystemRandomness.bytes(32),
            software: "skein \(version)")
        let answer = try Question.ask(name, patience: Limits.handshake, timeout: timeout) {
            socket, loop, keep in
            let conversation = Conversation(
                WorkerHandshake(token: token ?? [], hello: hello), name: name,
                on: Connection(
                    socket, bounds: MessageBounds(from: .coordinator, in: .greeting), loop: loop),
                keep: keep)
            return { conversation.end() }
        }
        guard let answer else {
            throw NodeError.noStatus(address: name.description, detail: "no answer in time")
        }
        return answer
    }

    /// One connection of an observer; lives on the loop's thread.
    private final class Conversation {
        private var handshake: WorkerHandshake
        private let name: NetworkAddress
        private let connection: Connection
        private let keep: (Result<[UInt8], any Error>) -> Void

        init(
            _ handshake: WorkerHandshake, name: NetworkAddress, on connection: Connection,
            keep: @escaping (Result<[UInt8], any Error>) -> Void
        ) {
            self.handshake = handshake
            self.name = name
            self.connection = connection
            self.keep = keep
            connection.onMessage = { [weak self] in self?.receive($0) }
            connection.onViolation = { [weak self] error in
                guard case .majorVersion(let found) = error else { return }
                self?.fail(.majorVersion(found: found))
            }
            connection.onClose = { reason in
                keep(
                    .failure(
                        NodeError.noStatus(
                            address: name.description, detail: reason.description)))
            }
            connection.send(handshake.greeting)
        }

        func end() { connection.close() }

        private func receive(_ received: ReceivedMessage) {
            if case .status(let report) = received.message {
                return keep(.success(report.json))
            }
            do {
                switch try handshake.receive(received.message) {
                case .nothing: break
                case .answered(let reply, let keys):
                    connection.send(reply)
                    connection.authenticate(
                        receiving: keys.coordinatorToWorker, sending: keys.workerToCoordinator)
                    connection.bounds = MessageBounds(from: .coordinator, in: .proof)
                case .offered(let offer):
                    connection.term = offer.term
                    connection.bounds = MessageBounds(from: .coordinator, in: .observing)
                    connection.send(.statusRequest)
                }
            } catch {
                fail(error)
            }
        }

        private func fail(_ error: HandshakeError) {
            keep(.failure(NodeError.refused(address: name.description, error: error)))
        }
    }
}
