import SkeinCoordination
import Testing

@Suite("handshake")
struct HandshakeTests {
    private let token = Array("a token of the run".utf8)
    private static let digest = [UInt8](repeating: 3, count: 32)

    private func hello(
        _ minor: ClosedRange<UInt8> = ProtocolVersion.minors, role: PeerRole = .worker,
        nonce: UInt8 = 1
    ) -> Hello {
        Hello(
            minor: minor, role: role, name: "w1", incarnation: [UInt8](repeating: 9, count: 16),
            nonce: [UInt8](repeating: nonce, count: 32), software: "skein")
    }

    private let offer = Offer(
        proof: [UInt8](repeating: 0, count: 32), term: 4,
        start: [UInt8](repeating: 5, count: 16), modelDigest: Self.digest,
        dataDigest: Self.digest, configurationDigest: Self.digest, recipeDigest: Self.digest,
        answerDigest: Self.digest,
        fingerprint: "engine A",
        configuration: [1, 2], longestRow: 100,
        modelFiles: [.init(name: "m", byteCount: 1, digest: Self.digest)])

    private let ready = Ready(
        modelDigest: Self.digest, dataDigest: Self.digest, configurationDigest: Self.digest,
        recipeDigest: Self.digest, answerDigest: Self.digest,
        fingerprint: "engine A", threads: 1, held: [])

    private func coordinator(
        token: [UInt8]? = nil, nonce: UInt8 = 2,
        minors: ClosedRange<UInt8> = ProtocolVersion.minors,
        comparesFingerprints: Bool = true
    ) -> CoordinatorHandshake {
        CoordinatorHandshake(
            token: token ?? self.token, nonce: [UInt8](repeating: nonce, count: 32),
            offer: offer, minors: minors, comparesFingerprints: comparesFingerprints)
    }

    /// Challenge and proof of a worker, with the coordinator that waits for the proof.
    private func proof(
        _ worker: inout WorkerHandshake, _ coordinator: inout CoordinatorHandshake
    ) throws -> (Message, SessionKeys) {
        guard case .challenged(_, let challenge) = try coordinator.receive(worker.greeting),
            case .answered(let proof, let keys) = try worker.receive(challenge)
        else { throw Unexpected() }
        return (proof, keys)
    }

    private struct Unexpected: Error {}

    @Test("a worker with the token gets in, with the same keys on both sides")
    func success() throws {
        var worker = WorkerHandshake(token: token, hello: hello())
        var coordinator = coordinator()
        let (proof, keys) = try proof(&worker, &coordinator)
        guard case .authenticated(let hello, let same, let offer) = try coordinator.receive(proof)
        else { throw Unexpected() }
        #expect(hello == self.hello())
        #expect(same == keys)
        #expect(keys.workerToCoordinator != keys.coordinatorToWorker)
        #expect(try worker.receive(.heartbeat(Heartbeat())) == .nothing)
        guard case .offered(let read) = try worker.receive(offer) else { throw Unexpected() }
        #expect(read.configuration == [1, 2])
        #expect(read.modelFiles.count == 1)
        #expect(try coordinator.receive(.ready(ready)) == .ready(ready))
    }

    @Test("an observer gets an offer without options and files, and cannot be ready")
    func observer() throws {
        var observer = WorkerHandshake(token: token, hello: hello(role: .observer))
        var coordinator = coordinator()
        let (proof, _) = try proof(&observer, &coordinator)
        guard case .authenticated(_, _, let offer) = try coordinator.receive(proof),
            case .offered(let read) = try observer.receive(offer)
        else { throw Unexpected() }
        #expect(read.term == 4)
        #expect(read.configuration.isEmpty && read.modelFiles.isEmpty)
        #expect(rejection(of: .ready(ready), by: &coordinator)?.code == .protocolViolation)
    }

    private func rejection(
        of message: Message, by coordinator: inout CoordinatorHandshake
    ) -> Rejection? {
        do throws(Rejection) {
            _ = try coordinator.receive(message)
            return nil
        } catch {
            return error
        }
    }

    @Test("a worker without the token is refused", arguments: ["", "a token of the ruN", "x"])
    func wrongToken(_ other: String) throws {
        var worker = WorkerHandshake(token: Array(other.utf8), hello: hello())
        var coordinator = coordinator()
        let (proof, _) = try proof(&worker, &coordinator)
        let found = rejection(of: proof, by: &coordinator)
        #expect(found?.code == .authentication)
        #expect(throws: HandshakeError.rejected(try found.found())) {
            try worker.receive(.rejection(found.found()))
        }
    }

    @Test("a coordinator without the token is refused")
    func wrongCoordinator() throws {
        var worker = WorkerHandshake(token: token, hello: hello())
        var impostor = coordinator(token: [])
        _ = try proof(&worker, &impostor)
        // It cannot make the proof, so it sends others: none, the worker's, an old one.
        var earlier = WorkerHandshake(token: token, hello: hello(nonce: 7))
        var genuine = coordinator()
        let (old, _) = try proof(&earlier, &genuine)
        guard case .authenticated(_, _, .offer(let oldOffer)) = try genuine.receive(old),
            case .authentication(let reflected) = try {
                var again = WorkerHandshake(token: token, hello: hello())
                var other = coordinator(token: [])
                return try proof(&again, &other).0
            }()
        else { throw Unexpected() }
        for fake in [offer.proof, reflected.proof, oldOffer.proof] {
            var offer = offer
            offer.proof = fake
            #expect(throws: HandshakeError.coordinatorNotAuthentic) {
                try worker.receive(.offer(offer))
            }
        }
    }

    @Test("an old proof is useless against a new challenge")
    func replay() throws {
        var worker = WorkerHandshake(token: token, hello: hello())
        var first = coordinator(nonce: 2)
        let (old, _) = try proof(&worker, &first)
        #expect(rejection(of: old, by: &first) == nil)
        var second = coordinator(nonce: 3)
        #expect(rejection(of: .hello(hello()), by: &second) == nil)
        #expect(rejection(of: old, by: &second)?.code == .authentication)
    }

    @Test("a HELLO or CHALLENGE that was changed on its way breaks the proof")
    func tampering() throws {
        var changes: [Hello] = []
        for change in 0..<6 {
            var hello = hello(0...3)
            switch change {
            case 0: hello.minor = 0...2
            case 1: hello.role = .observer
            case 2: hello.name = "w2"
            case 3: hello.incarnation[0] = 1
            case 4: hello.nonce[31] = 0
            default: hello.software = "other"
            }
            changes.append(hello)
        }
        for changed in changes {
            var worker = WorkerHandshake(token: token, hello: hello(0...3))
            var coordinator = coordinator(minors: 0...3)
            guard
                case .challenged(_, .challenge(let challenge)) = try coordinator.receive(
                    .hello(changed))
            else { throw Unexpected() }
            guard case .answered(let proof, _) = try worker.receive(.challenge(challenge))
            else { throw Unexpected() }
            #expect(rejection(of: proof, by: &coordinator)?.code == .authentication)
        }
        var worker = WorkerHandshake(token: token, hello: hello(0...3))
        var coordinator = coordinator(minors: 0...3)
        guard
            case .challenged(_, .challenge(var challenge)) = try coordinator.receive(
                worker.greeting)
        else { throw Unexpected() }
        #expect(challenge.minor == 3)
        challenge.minor = 0
        guard case .answered(let proof, _) = try worker.receive(.challenge(challenge))
        else { throw Unexpected() }
        #expect(rejection(of: proof, by: &coordinator)?.code == .authentication)
    }

    @Test(
        "the highest minor version that both speak is used",
        arguments: [
            (0...0, 0...0, 0), (0...3, 2...5, 3), (2...5, 0...3, 3), (1...9, 4...4, 4),
            (0...1, 2...3, nil), (4...5, 2...3, nil),
        ] as [(ClosedRange<UInt8>, ClosedRange<UInt8>, UInt8?)])
    func versions(
        _ dialler: ClosedRange<UInt8>, _ listener: ClosedRange<UInt8>, _ expected: UInt8?
    ) throws {
        var coordinator = coordinator(minors: listener)
        do throws(Rejection) {
            let outcome = try coordinator.receive(.hello(hello(dialler)))
            guard case .challenged(_, .challenge(let challenge)) = outcome else { return }
            #expect(challenge.minor == expected)
        } catch {
            #expect(expected == nil)
            #expect(error.code == .version)
        }
        var worker = WorkerHandshake(token: token, hello: hello(0...1))
        #expect(throws: HandshakeError.minorVersion(offered: 0...1, chosen: 2)) {
            try worker.receive(.challenge(Challenge(minor: 2, nonce: Self.digest)))
        }
    }

    @Test("a worker of an earlier minor version is told so, and so is an observer")
    func earlier() {
        for role in PeerRole.allCases {
            var coordinator = coordinator()
            let found = rejection(of: .hello(hello(0...2, role: role)), by: &coordinator)
            #expect(found?.code == .version)
            #expect(found?.reason.contains("speaks 2.4 to 2.4, 'w1' 2.0 to 2.2") == true)
        }
    }

    @Test("a worker that computes something else is refused with both sides' facts")
    func differences() throws {
        let other = [UInt8](repeating: 0xab, count: 32)
        let cases: [(RejectCode, (inout Ready) -> Void)] = [
            (.model, { $0.modelDigest = other }), (.data, { $0.dataDigest = other }),
            (.version, { $0.recipeDigest = other }),
            (.configuration, { $0.configurationDigest = other }),
            (.fingerprint, { $0.fingerprint = "engine B" }),
            (.answer, { $0.answerDigest = other }),
        ]
        for (code, change) in cases {
            var worker = WorkerHandshake(token: token, hello: hello())
            var coordinator = coordinator()
            _ = try coordinator.receive(proof(&worker, &coordinator).0)
            var ready = ready
            change(&ready)
            let found = try rejection(of: .ready(ready), by: &coordinator).found()
            #expect(found.code == code)
            let facts =
                code == .fingerprint
                ? ["engine A", "engine B"] : [Hex.text(Self.digest), Hex.text(other)]
            #expect(facts.allSatisfy(found.reason.contains))
        }
        var worker = WorkerHandshake(token: token, hello: hello())
        var lenient = coordinator(comparesFingerprints: false)
        _ = try lenient.receive(proof(&worker, &lenient).0)
        var ready = ready
        ready.fingerprint = "engine B"
        #expect(rejection(of: .ready(ready), by: &lenient) == nil)
    }

    @Test("whatever is said out of turn is refused by both sides")
    func turns() throws {
        for message in [
            Message.authentication(Authentication(proof: Self.digest)), .ready(ready),
            .heartbeat(Heartbeat()), .offer(offer),
        ] {
            var coordinator = coordinator()
            #expect(rejection(of: message, by: &coordinator)?.code == .protocolViolation)
        }
        var waiting = coordinator()
        #expect(rejection(of: .hello(hello()), by: &waiting) == nil)
        #expect(rejection(of: .hello(hello()), by: &waiting)?.code == .protocolViolation)
        for message in [
            Message.offer(offer), .heartbeat(Heartbeat()), .hello(hello()), .statusRequest,
        ] {
            var worker = WorkerHandshake(token: token, hello: hello())
            #expect(throws: HandshakeError.unexpected(message.type)) {
                try worker.receive(message)
            }
        }
        var worker = WorkerHandshake(token: token, hello: hello())
        let challenge = Message.challenge(
            Challenge(minor: ProtocolVersion.minors.upperBound, nonce: Self.digest))
        _ = try worker.receive(challenge)
        #expect(throws: HandshakeError.unexpected(.challenge)) { try worker.receive(challenge) }
    }
}
