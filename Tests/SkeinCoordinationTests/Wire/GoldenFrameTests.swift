import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCoordination

/// The frames at the end of docs/PROTOCOL.md, which Tests/Fixtures/wire/make.py made.
@Suite("frames of docs/PROTOCOL.md")
struct GoldenFrameTests {
    private let token = Array("skein".utf8)
    private let fingerprint = "skein 0.1.0 openblas 0.3.30 Haswell f32"

    private func run(_ start: UInt8, _ count: UInt8) -> [UInt8] { Array(start..<start + count) }

    private func digest(_ text: String) -> [UInt8] { SHA256.digest(of: text).bytes }

    private var hello: Hello {
        Hello(
            minor: 4...4, role: .worker, name: "goose-1", incarnation: run(0x10, 16),
            nonce: run(0x20, 32), software: "skein 0.1.0")
    }

    private var challenge: Challenge { Challenge(minor: 4, nonce: run(0x40, 32)) }

    private var transcript: HandshakeTranscript {
        HandshakeTranscript(hello: hello, challenge: challenge)
    }

    private var offer: Offer {
        Offer(
            proof: transcript.coordinatorProof(token: token), term: 7,
            start: run(0xc0, 16), modelDigest: run(0x60, 32), dataDigest: run(0x80, 32),
            configurationDigest: run(0xa0, 32), recipeDigest: run(0xd0, 32),
            answerDigest: run(0x01, 32),
            fingerprint: fingerprint,
            configuration: Array(#"{"rank":8}"#.utf8), longestRow: 512,
            modelFiles: [
                .init(name: "model.safetensors", byteCount: 5, digest: digest("goose"))
            ])
    }

    private var ready: Ready {
        Ready(
            modelDigest: run(0x60, 32), dataDigest: run(0x80, 32),
            configurationDigest: run(0xa0, 32), recipeDigest: run(0xd0, 32),
            answerDigest: run(0x01, 32),
            fingerprint: fingerprint, threads: 2,
            parameterVersion: 3, parameterDigest: digest("old parameters"),
            held: [WorkKey(round: 4, index: 1)])
    }

    private let key = WorkKey(round: 5, index: 2)

    private var work: [(Speaker, Message)] {
        [
            (
                .coordinator,
                .parameters(
                    ParameterUpdate(
                        version: 4, base: 3, digest: digest("parameters"),
                        payload: Array("delta".utf8)))
            ),
            (.dialler, .parameterRequest(ParameterRequest(version: 4))),
            (
                .coordinator,
                .lease(
                    LeaseGrant(
                        key: key, attempt: 1, work: .gradient(nil), step: 9, parameterVersion: 3,
                        parameterDigest: digest("old parameters"),
                        rows: [.init(number: 17, ids: [1, 450, 28, 2], targets: [2..<4])]))
            ),
            (
                .dialler,
                .heartbeat(
                    Heartbeat(
                        computing: [.init(key: key, thousandths: 250)],
                        residentBytes: 123_456_789))
            ),
            (.coordinator, .cancellation(Cancellation(key: WorkKey(round: 5, index: 3)))),
            (
                .dialler,
                .result(
                    WorkResult(
                        key: key, attempt: 1, kind: .gradient, tokens: 4, lossTokens: 2,
                        correct: 0, lossSum: 5.25, digest: digest("gradient"),
                        inputs: digest("inputs"),
                        payload: Array("packed".utf8)))
            ),
            (
                .coordinator,
                .answer(ResultAnswer(key: key, verdict: .refused, detail: "a NaN at 12"))
            ),
        ] + localSteps
    }

    private var localSteps: [(Speaker, Message)] {
        let key = WorkKey(round: 6, index: 1)
        let rows: [LeaseGrant.Row] = [
            .init(number: 17, ids: [1, 450, 28, 2], targets: [2..<4]),
            .init(number: 18, ids: [1, 2], targets: [1..<2]),
        ]
        return [
            (
                .coordinator,
                .lease(
                    LeaseGrant(
                        key: key, attempt: 1,
                        work: .local(
                            LocalLease(
                                state: digest("state"), wantsState: true, scheduledSteps: 40,
                                steps: [[1], [1]])),
                        step: 10, parameterVersion: 4, parameterDigest: digest("parameters"),
                        rows: rows))
            ),
            (.dialler, .stateRequest(StateRequest(key: key))),
            (
                .coordinator,
                .stateReplay(
                    StateReplay(
                        key: key, round: 8, stepsDone: 16, scheduledSteps: 40,
                        state: Array("saved".utf8), outer: Array("outer".utf8),
                        rounds: [
                            .init(rows: rows, steps: [[2]], average: Array("average".utf8))
                        ]))
            ),
            (
                .coordinator,
                .lease(
                    LeaseGrant(
                        key: WorkKey(round: 7, index: 0), attempt: 1,
                        work: .gradient(PairLease(tokenShare: 0.5, references: [-3.25, -7.5])),
                        step: 11, parameterVersion: 5, parameterDigest: digest("new parameters"),
                        rows: rows))
            ),
        ]
    }

    private var conversation: [(Speaker, Message)] {
        [
            (.dialler, .hello(hello)), (.coordinator, .challenge(challenge)),
            (
                .dialler,
                .authentication(Authentication(proof: transcript.workerProof(token: token)))
            ),
            (.coordinator, .offer(offer)),
            (.dialler, .modelRequest(ModelRequest(file: 0, offset: 0))),
            (
                .coordinator,
                .modelChunk(
                    ModelChunk(file: 0, offset: 0, bytes: Array("goose".utf8)))
            ),
            (.dialler, .ready(ready)),
            (
                .coordinator,
                .welcome(Welcome(heartbeatMilliseconds: 500, silenceMilliseconds: 2500))
            ),
        ] + work + [
            (.dialler, .leave(Leave(reason: .draining, detail: "SIGTERM"))),
            (.dialler, .statusRequest),
            (.coordinator, .status(StatusReport(json: Array("{}".utf8)))),
            (
                .coordinator,
                .rejection(
                    Rejection(
                        code: .quarantined, reason: "3 failures", retryMilliseconds: 30000))
            ),
        ]
    }

    private var document: String {
        get throws {
            let root = URL(fileURLWithPath: TestPaths.fixture("")).deletingLastPathComponent()
                .deletingLastPathComponent()
            return try String(
                contentsOf: root.appendingPathComponent("docs/PROTOCOL.md"), encoding: .utf8)
        }
    }

    @Test("every frame has the document's bytes, and is read as what was said")
    func frames() throws {
        let blocks = try document.components(separatedBy: "```hex\n").dropFirst().map {
            $0.components(separatedBy: "```")[0].filter { !$0.isWhitespace }
        }
        let conversation = conversation
        #expect(blocks.count == conversation.count + 1)
        #expect(Set(conversation.map { $0.1.type }) == Set(MessageType.allCases))
        let keys = transcript.sessionKeys(token: token)
        var queues: [Speaker: OutboundQueue] = [.dialler: .init(), .coordinator: .init()]
        var readers: [Speaker: InboundQueue] = [:]
        for speaker in Speaker.allCases {
            readers[speaker] = InboundQueue(
                bounds: MessageBounds(
                    allowed: Set(MessageType.allCases), gradientPayloadBytes: 100,
                    parameterPayloadBytes: 100, replayBytes: 500))
        }
        for ((speaker, message), block) in zip(conversation, blocks) {
            let term: UInt32 = message.type.rawValue <= 3 ? 0 : 7
            queues[speaker]?.add(message, term: term)
            let frame = try (queues[speaker]?.nextFrame()).found()
            #expect(Hex.text(frame.bytes) == block, "\(message.type.name)")
            let key =
                speaker == .dialler ? keys.workerToCoordinator : keys.coordinatorToWorker
            frame.bytes.withUnsafeBytes { readers[speaker]?.append($0) }
            let read = try readers[speaker]?.next()
            let isTagged = message.type.rawValue > MessageType.authentication.rawValue
            #expect(
                read == ReceivedMessage(message: message, term: term, isTagged: isTagged))
            if message.type == .challenge || message.type == .authentication {
                queues[speaker]?.authenticate(with: key)
                readers[speaker]?.authenticate(with: key)
            }
        }
    }

    @Test("a worker of version 1 can read why it is refused")
    func oldWorker() throws {
        let blocks = try document.components(separatedBy: "```hex\n")
        let block = try blocks.last.found().components(separatedBy: "```")[0]
            .filter { !$0.isWhitespace }
        var queue = OutboundQueue()
        queue.speak(major: 1)
        queue.add(
            .rejection(WireError.majorVersion(found: 1).rejection), term: 0)
        let frame = try queue.nextFrame().found().bytes
        #expect(Hex.text(frame) == block)
        // As version 1 reads it: magic, its own major version, checksums, a REJECTION, no tag.
        #expect(frame[4] == 1)
        #expect(Array(frame[6..<8]) == [4, 0])
        let payload = Array(frame[FrameHeader.byteCount...])
        let checksum = withUnsafeBytes(of: CRC32C.checksum(of: payload).littleEndian) { Array($0) }
        #expect(Array(frame[32..<36]) == checksum)
        guard case .rejection(let rejection) = try Message.decode(.rejection, payload) else {
            Issue.record("not a rejection")
            return
        }
        #expect(rejection.code == .version)
    }

    @Test("the secrets are what the document says")
    func secrets() throws {
        let document = try document
        let keys = transcript.sessionKeys(token: token)
        let secrets = [
            "worker proof": transcript.workerProof(token: token),
            "coordinator proof": transcript.coordinatorProof(token: token),
            "worker to coordinator": keys.workerToCoordinator.bytes,
            "coordinator to worker": keys.coordinatorToWorker.bytes,
        ]
        for (name, bytes) in secrets {
            #expect(document.contains("| \(name) | `\(Hex.text(bytes))` |"))
        }
    }

    @Test("the document's tables of types, phases and reject codes are the code's")
    func tables() throws {
        let lines = Set(try document.components(separatedBy: "\n"))
        for type in MessageType.allCases {
            let start = "| \(type.rawValue) | \(type.name) | \(type.isUrgent ? "yes" : "no") | "
            #expect(lines.contains { $0.hasPrefix(start) }, "\(start)")
        }
        for code in RejectCode.allCases {
            let start = "| \(code.rawValue) | \(code.name) | \(code.isFinal ? "yes" : "no") | "
            #expect(lines.contains { $0.hasPrefix(start) }, "\(start)")
        }
        for phase in ConversationPhase.allCases {
            let line = try lines.first { $0.hasPrefix("| \(phase): ") }.found()
            let columns = line.components(separatedBy: " | ").dropFirst().map {
                Set($0.components(separatedBy: CharacterSet(charactersIn: ", |")))
                    .subtracting([""])
            }
            #expect(
                columns
                    == Speaker.allCases.map { Set(phase.sayable(by: $0).map(\.name)) },
                "\(phase)")
        }
    }
}
