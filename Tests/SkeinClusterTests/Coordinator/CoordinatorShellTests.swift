import Foundation
import SkeinBasics
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCluster
@testable import SkeinCoordination
@testable import SkeinNetwork

/// What a shell sends to a member, whatever its state directs.
@Suite("the coordinator's shell")
struct CoordinatorShellTests {
    /// A shell with one peer, whose connection the station made; both on one loop.
    private final class Bench {
        let shell: CoordinatorShell
        let station: Station
        let peer: Peer

        init(_ loop: EventLoop, _ identity: RunIdentity) {
            station = Station(loop)
            station.prepare = Station.authenticate
            shell = CoordinatorShell(
                loop: loop, inbox: RunInbox(), identity: identity,
                options: CoordinatorOptions(listen: "127.0.0.1:0", token: nil),
                settings: CoordinatorSettings(), counts: ShellCounts(), log: Log())
            peer = Peer(
                id: PeerID(1), address: "a worker",
                handshake: CoordinatorHandshake(
                    token: [], nonce: [UInt8](repeating: 1, count: 32), offer: identity.offer),
                since: .zero)
            peer.stage = .member
            shell.peers[peer.id] = peer
        }
    }

    private func withBench(
        _ body: (Confined<Bench>, Confined<Station>) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            try AtomicFile.write(
                "{\"prompt\": \"a?\", \"completion\": \"the answer\"}\n",
                to: directory + "/rows.jsonl")
            var configuration = TrainingConfiguration.fixed
            configuration.validationSplit = 0
            let job = try TrainingJob(
                configuration: configuration, modelPath: directory + "/tiny.gguf",
                dataPath: directory + "/rows.jsonl", version: "test")
            let identity = try RunIdentity(
                job: job, term: 7, start: [UInt8](repeating: 1, count: 16))
            let loop = try EventLoop(name: "shell")
            let bench = try Confined(to: loop) { Bench(loop, identity) }
            let client = try Station.make("worker")
            defer {
                loop.stop()
                client.loop.stop()
            }
            try client.call { $0.prepare = Station.authenticate }
            let port = try bench.call { try $0.station.listen() }
            try client.call { try $0.dial(port) }
            #expect(try client.reaches { !$0.connections.isEmpty })
            while try bench.call({ $0.station.connections.isEmpty }) { usleep(2000) }
            try bench.call { $0.peer.connection = $0.station.connections[0] }
            try body(bench, client)
        }
    }

    private static func key(_ index: UInt32) -> WorkKey { WorkKey(round: 1, index: index) }

    @Test("no cancellation is sent for a lease that was not sent")
    func unsentLease() throws {
        try withBench { bench, worker in
            try bench.call { bench in
                let (shell, peer) = (bench.shell, bench.peer)
                // Its parameters are not encoded yet.
                shell.publication = Self.publication(1, hasWhole: false)
                _ = shell.parameterQueue.publish(Self.publication(1, hasWhole: false).forQueue)
                _ = shell.parameterQueue.joined(peer.id, version: 0, digest: Ready.noDigest)
                _ = shell.parameterQueue.lease(peer.id, Self.key(3), attempt: 1)
                #expect(shell.parameterQueue.waiting(for: peer.id) == [Self.key(3)])
                shell.carryOut(.cancel(peer.id, Self.key(3), .roundClosed))
                #expect(shell.parameterQueue.waiting(for: peer.id).isEmpty)
                shell.carryOut(.cancel(peer.id, Self.key(4), .roundClosed))
            }
            #expect(try worker.reaches { !$0.received.isEmpty })
            #expect(
                try worker.call { $0.received } == [.cancellation(Cancellation(key: Self.key(4)))])
        }
    }

    @Test("a model loaded for an offer serves the same offer of a later term, and no other")
    func loadingServes() throws {
        try withBench { bench, _ in
            let offer = try bench.call { $0.shell.identity.offer }
            let options = WorkerOptions(coordinator: "127.0.0.1:9", token: nil, threads: 1)
            let loading = ModelLoading(
                offer: offer, setup: try WorkerSetup(options, version: "test"), log: Log())
            var other = offer
            (other.term, other.start, other.proof) = (offer.term + 1, [8], [7])
            #expect(loading.serves(other))
            other.configuration.append(0x20)
            #expect(!loading.serves(other))
        }
    }

    @Test("the state hears how far a preparing worker has come, and that it is gone")
    func preparation() throws {
        try withBench { bench, _ in
            try bench.call { bench in
                let (shell, peer) = (bench.shell, bench.peer)
                peer.stage = .preparing
                for bytes in [0, 5 << 20] as [UInt64] {
                    shell.receive(
                        ReceivedMessage(
                            message: .heartbeat(Heartbeat(preparedBytes: bytes)), term: 7),
                        from: peer)
                    #expect(shell.state.preparations[peer.id]?.bytes == bytes)
                }
                #expect(shell.snapshot().workers.map(\.preparedBytes).contains(5 << 20))
                shell.reject(peer, Rejection(code: .timeout, reason: "gone"))
                #expect(shell.state.preparations.isEmpty)
            }
        }
    }

    /// Version `version` of the parameters, with a snapshot of one byte or without any yet.
    private static func publication(
        _ version: UInt64, hasWhole: Bool = true
    ) -> ParameterPublication {
        func message(base: UInt64) -> EncodedMessage {
            EncodedMessage(
                .parameters(
                    ParameterUpdate(
                        version: version, base: base, digest: [UInt8](repeating: 0, count: 32),
                        payload: [1])))
        }
        return ParameterPublication(
            version: version, digest: [], bases: version > 1 ? [[]] : [],
            differences: version > 1 ? [message(base: version - 1)] : [],
            snapshot: hasWhole ? message(base: 0) : nil)
    }

    @Test("what the line decides is sent: a whole, a difference, and the reason to hang up")
    func parameters() throws {
        try withBench { bench, worker in
            try bench.call { bench in
                let (shell, peer) = (bench.shell, bench.peer)
                func publish(_ version: UInt64) {
                    shell.publication = Self.publication(version)
                    shell.carryOut(shell.parameterQueue.publish(Self.publication(version).forQueue))
                }
                publish(1)
                shell.carryOut(
                    shell.parameterQueue.joined(peer.id, version: 0, digest: Ready.noDigest))
                shell.drained(peer)
                publish(2)
                shell.carryOut(shell.parameterQueue.lease(peer.id, Self.key(0), attempt: 1))
                shell.drained(peer)
            }
            #expect(try worker.reaches { $0.received.count == 2 })
            try bench.call { bench in
                let (shell, peer) = (bench.shell, bench.peer)
                for _ in 0...SkeinCoordination.Limits.wholesOfVersion {
                    shell.receive(
                        ReceivedMessage(
                            message: .parameterRequest(ParameterRequest(version: 2)), term: 7),
                        from: peer)
                    shell.drained(peer)
                }
                #expect(peer.stage == .leaving)
            }
            #expect(try worker.reaches { !$0.reasons.isEmpty })
            let received = try worker.call { $0.received }
            #expect(Self.bases(Array(received.prefix(2))) == [0, 1])
            // What waits when the last message is sent is dropped.
            #expect(received.count { $0.type == .parameters } <= 2 + 4)
            #expect(received.last?.type == .rejection)
        }
    }

    /// What each update is based on.
    private static func bases(_ messages: [Message]) -> [UInt64?] {
        messages.map { if case .parameters(let update) = $0 { update.base } else { nil } }
    }

    @Test("results of a peer that is gone are freed, and a diverged one is still delivered")
    func goneWithResults() throws {
        try withBench { bench, _ in
            try bench.call { bench in
                let result = WorkResult(
                    key: Self.key(0), attempt: 1, kind: .gradient, tokens: 1, lossTokens: 1,
                    correct: 0, lossSum: .nan, digest: [UInt8](repeating: 1, count: 32),
                    inputs: [UInt8](repeating: 2, count: 32), payload: [1])
                let candidate = ReceivedResult(peer: bench.peer.id, worker: "w", result: result)
                let (shell, peer) = (bench.shell, bench.peer)
                shell.handle(
                    .joined(
                        peer.id, Member(name: "w", address: "x", threads: 1, incarnation: [1])))
                shell.handle(.opened(RoundPlan(number: 1, label: .step(1), costs: [1])))
                shell.receive(ReceivedMessage(message: .result(result), term: 7), from: peer)
                // The ledger has the digest of the gradient; two results are compared by more than
                // that.
                #expect(shell.parked[peer.id]?[Self.key(0)]?.result.digest == result.digest)
                #expect(shell.state.open?.histories[0]?.checking?.digest == result.vote)
                shell.checked(candidate, .doubtful("NaN"))
                // Computed once more: a result that is only sent again would not count.
                var again = result
                again.attempt = 2
                shell.receive(ReceivedMessage(message: .result(again), term: 7), from: peer)
                shell.reject(peer, Rejection(code: .timeout, reason: "gone"))
                #expect(shell.parked.isEmpty)
                shell.checked(candidate, .doubtful("NaN"))
                for expected in ["check", "check", "deliver"] {
                    switch try shell.inbox.take() {
                    case .check: #expect(expected == "check")
                    case .deliver: #expect(expected == "deliver")
                    default: Issue.record("not a result")
                    }
                }
            }
        }
    }
}
