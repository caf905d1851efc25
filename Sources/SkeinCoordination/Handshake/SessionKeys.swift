import SkeinBasics

/// The secrets of one connection, one for each direction so that no frame can be sent back.
package struct SessionKeys: Sendable, Equatable {
    package let workerToCoordinator: FrameKey
    package let coordinatorToWorker: FrameKey
}

/// The messages from before the two sides know each other, and what follows from them and the
/// token. docs/PROTOCOL.md has the formulas.
struct HandshakeTranscript: Sendable, Equatable {
    private let digest: [UInt8]

    init(hello: Hello, challenge: Challenge) {
        // A message has exactly one encoding, so this is what was on the wire.
        let said = Message.hello(hello).encoded() + Message.challenge(challenge).encoded()
        digest = SHA256.digest(of: said).bytes
    }

    func workerProof(token: [UInt8]) -> [UInt8] {
        MessageAuthentication.code(key: token, "skein worker proof 1", digest)
    }

    func coordinatorProof(token: [UInt8]) -> [UInt8] {
        MessageAuthentication.code(key: token, "skein coordinator proof 1", digest)
    }

    func sessionKeys(token: [UInt8]) -> SessionKeys {
        let session = MessageAuthentication.code(key: token, "skein session 1", digest)
        return SessionKeys(
            workerToCoordinator: FrameKey(
                bytes: MessageAuthentication.code(key: session, "worker to coordinator")),
            coordinatorToWorker: FrameKey(
                bytes: MessageAuthentication.code(key: session, "coordinator to worker")))
    }
}
