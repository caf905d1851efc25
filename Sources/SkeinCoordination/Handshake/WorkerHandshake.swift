/// The dialler's side of the handshake, a worker's or an observer's.
///
/// Send `greeting`, then pass in what comes: CHALLENGE gives the answer and the keys, OFFER what
/// the run is. What follows (READY, WELCOME) needs no secrets.
package struct WorkerHandshake: Sendable {
    private let token: [UInt8]
    private let hello: Hello
    private var transcript: HandshakeTranscript?
    private var isComplete = false

    /// What a message leads to.
    package enum Outcome: Sendable, Equatable {
        /// Send the reply, which has no tag; all later frames, both ways, have one with these keys.
        case answered(Message, SessionKeys)
        /// The coordinator is authentic, and this is its run.
        case offered(Offer)
        /// A sign of life.
        case nothing
    }

    /// - Parameters:
    ///   - token: the shared secret, empty when there is none.
    ///   - hello: with a fresh random nonce.
    package init(token: [UInt8], hello: Hello) {
        self.token = token
        self.hello = hello
    }

    /// The first message to send.
    package var greeting: Message { .hello(hello) }

    /// Takes the next message of the coordinator.
    ///
    /// - Throws: `HandshakeError`; the connection is useless then.
    package mutating func receive(_ message: Message) throws(HandshakeError) -> Outcome {
        switch message {
        case .rejection(let rejection):
            throw .rejected(rejection)
        case .challenge(let challenge) where transcript == nil:
            guard hello.minor.contains(challenge.minor) else {
                throw .minorVersion(offered: hello.minor, chosen: challenge.minor)
            }
            let transcript = HandshakeTranscript(hello: hello, challenge: challenge)
            self.transcript = transcript
            let proof = transcript.workerProof(token: token)
            return .answered(
                .authentication(Authentication(proof: proof)),
                transcript.sessionKeys(token: token))
        case .offer(let offer) where !isComplete:
            guard let transcript else { throw .unexpected(.offer) }
            let expected = transcript.coordinatorProof(token: token)
            guard MessageAuthentication.areEqual(expected, offer.proof) else {
                throw .coordinatorNotAuthentic
            }
            isComplete = true
            return .offered(offer)
        case .heartbeat where transcript != nil:
            return .nothing
        default:
            throw .unexpected(message.type)
        }
    }
}
