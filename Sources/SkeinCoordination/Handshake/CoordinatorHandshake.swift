import SkeinBasics

/// The coordinator's side of the handshake.
///
/// Everything that is wrong gives a `Rejection`, the last message to send. Messages that do not
/// belong to a handshake (MODEL_REQUEST, HEARTBEAT, LEAVE, STATUS_REQUEST) are handled elsewhere.
package struct CoordinatorHandshake: Sendable {
    private let token: [UInt8]
    private let nonce: [UInt8]
    private let offer: Offer
    private let minors: ClosedRange<UInt8>
    private let comparesFingerprints: Bool
    private var stage = Stage.greeting

    private enum Stage {
        case greeting
        case proof(Hello, HandshakeTranscript)
        case joining
        case complete
    }

    /// What a message leads to.
    package enum Outcome: Sendable, Equatable {
        /// Send the challenge.
        case challenged(Hello, Message)
        /// The peer knows the token. From here on all frames, both ways, have tags; the offer is
        /// this side's first.
        case authenticated(Hello, SessionKeys, offer: Message)
        /// A worker that computes what this run needs; the caller sends WELCOME.
        case ready(Ready)
    }

    /// - Parameters:
    ///   - token: the shared secret, empty when there is none.
    ///   - nonce: 32 random bytes of this connection.
    ///   - offer: what the run is; its proof is filled in here.
    ///   - minors: the minor versions that this side speaks.
    ///   - comparesFingerprints: whether workers with another engine are refused.
    package init(
        token: [UInt8], nonce: [UInt8], offer: Offer,
        minors: ClosedRange<UInt8> = ProtocolVersion.minors, comparesFingerprints: Bool = true
    ) {
        self.token = token
        self.nonce = nonce
        self.offer = offer
        self.minors = minors
        self.comparesFingerprints = comparesFingerprints
    }

    /// Takes the next message of the dialler.
    ///
    /// - Throws: `Rejection`, the last message to send to it.
    package mutating func receive(_ message: Message) throws(Rejection) -> Outcome {
        switch (stage, message) {
        case (.greeting, .hello(let hello)):
            let challenge = Challenge(minor: try chooseMinor(of: hello), nonce: nonce)
            stage = .proof(hello, HandshakeTranscript(hello: hello, challenge: challenge))
            return .challenged(hello, .challenge(challenge))
        case (.proof(let hello, let transcript), .authentication(let authentication)):
            let expected = transcript.workerProof(token: token)
            guard MessageAuthentication.areEqual(expected, authentication.proof) else {
                throw Rejection(
                    code: .authentication,
                    reason: "'\(hello.name)' could not prove that it knows the token")
            }
            stage = hello.role == .worker ? .joining : .complete
            let offer = offer(to: hello.role, transcript)
            return .authenticated(
                hello, transcript.sessionKeys(token: token), offer: .offer(offer))
        case (.joining, .ready(let ready)):
            try check(ready)
            stage = .complete
            return .ready(ready)
        default:
            throw Rejection(
                code: .protocolViolation, reason: "\(message.type.name) came out of turn")
        }
    }

    private func chooseMinor(of hello: Hello) throws(Rejection) -> UInt8 {
        guard hello.minor.overlaps(minors) else {
            throw Rejection(
                code: .version,
                reason: "this coordinator speaks \(ProtocolVersion.major)."
                    + "\(minors.lowerBound) to \(ProtocolVersion.major).\(minors.upperBound), "
                    + "'\(hello.name)' \(ProtocolVersion.major).\(hello.minor.lowerBound) to "
                    + "\(ProtocolVersion.major).\(hello.minor.upperBound)")
        }
        return min(hello.minor.upperBound, minors.upperBound)
    }

    /// An observer does not compute: it gets neither options nor files.
    private func offer(to role: PeerRole, _ transcript: HandshakeTranscript) -> Offer {
        var offer = offer
        offer.proof = transcript.coordinatorProof(token: token)
        if role == .observer {
            offer.configuration = []
            offer.modelFiles = []
        }
        return offer
    }

    private func check(_ ready: Ready) throws(Rejection) {
        let digests: [(RejectCode, String, [UInt8], [UInt8])] = [
            (.model, "base model", offer.modelDigest, ready.modelDigest),
            (.data, "data", offer.dataDigest, ready.dataDigest),
            (
                .configuration, "configuration", offer.configurationDigest,
                ready.configurationDigest
            ),
            // Another version of Skein means other values by the same options.
            (.version, "set of all values", offer.recipeDigest, ready.recipeDigest),
        ]
        for (code, noun, expected, found) in digests where expected != found {
            throw Rejection(
                code: code,
                reason: "the run's \(noun) is \(Self.hexadecimal(expected)), the worker's "
                    + Self.hexadecimal(found))
        }
        if comparesFingerprints, offer.fingerprint != ready.fingerprint {
            throw Rejection(
                code: .fingerprint,
                reason: "the run's fingerprint is '\(offer.fingerprint)', the worker's "
                    + "'\(ready.fingerprint)'")
        }
        if comparesFingerprints, offer.answerDigest != ready.answerDigest {
            throw Rejection(
                code: .answer,
                reason: "the two machines make different results of a fixed piece of work, though "
                    + "their fingerprints are the same: the coordinator "
                    + "\(Self.hexadecimal(offer.answerDigest)), the worker "
                    + Self.hexadecimal(ready.answerDigest))
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
