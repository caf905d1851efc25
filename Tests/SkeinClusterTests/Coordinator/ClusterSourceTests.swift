import Foundation
import SkeinBasics
import SkeinRows
import SkeinTraining
import Testing

@testable import SkeinCluster
@testable import SkeinCoordination
@testable import SkeinNetwork

/// Rounds of a shell whose peers are scripted: nothing listens, and no time passes for it.
@Suite("the rounds of a cluster")
struct ClusterSourceTests {
    private struct Bench: Sendable {
        let shell: Confined<CoordinatorShell>
        let inbox: RunInbox
        let source: ClusterSource

        /// Computes a step with one micro-batch, on a thread of its own; `delivered` is called with
        /// each result.
        func compute(
            _ delivered: @escaping @Sendable (CoordinatorShell) -> Void = { _ in }
        ) -> Promise<Result<Int, any Error>> {
            let ending = Promise<Result<Int, any Error>>()
            let row = TokenizedRow(number: 0, ids: [1, 2, 3], targets: [1..<3])
            let batch = MicroBatch(step: 1, index: 0, rows: [row])
            let thread = Thread {
                ending.keep(
                    Result {
                        var deliveries = 0
                        try source.compute(.gradients([batch], parameters: [0, 0, 0, 0])) { _ in
                            deliveries += 1
                            try shell.call { delivered($0) }
                        }
                        return deliveries
                    })
            }
            thread.start()
            return ending
        }

        /// Whether `state` holds within a minute.
        func reaches(_ state: @escaping @Sendable (CoordinatorShell) -> Bool) throws -> Bool {
            let limit = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < limit {
                if try shell.call(state) { return true }
                usleep(2000)
            }
            return false
        }
    }

    private static let parameterCount = 4
    private static let recipe = WorkRecipe(model: [], TrainingConfiguration.fixed)

    private func withBench(_ body: (Bench) throws -> Void) throws {
        let loop = try EventLoop(name: "shell")
        defer { loop.stop() }
        let offer = Offer(
            proof: [], term: 7, start: [], modelDigest: [], dataDigest: [], configurationDigest: [],
            recipeDigest: [], answerDigest: [],
            fingerprint: "", configuration: [], longestRow: 3, modelFiles: [])
        let identity = try RunIdentity(
            offer: offer, parameterCount: Self.parameterCount, codec: .fp32)
        let (inbox, counts) = (RunInbox(), ShellCounts())
        let shell = try Confined(to: loop) {
            CoordinatorShell(
                loop: loop, inbox: inbox, identity: identity,
                options: CoordinatorOptions(listen: "127.0.0.1:0", token: nil),
                settings: CoordinatorSettings(), counts: counts, log: Log())
        }
        let source = ClusterSource(
            shellHandle: ShellHandle(shell: shell, counts: counts), inbox: inbox,
            recipe: Self.recipe,
            configuration: TrainingConfiguration.fixed, initial: [0, 0, 0, 0],
            shouldStop: { false })
        try body(Bench(shell: shell, inbox: inbox, source: source))
    }

    /// Worker `number` joins as peer `id`.
    private static func join(_ shell: CoordinatorShell, _ number: UInt8, as id: UInt64) {
        let incarnation = [UInt8](repeating: number, count: 16)
        let peer = Peer(
            id: PeerID(id), address: "a worker",
            handshake: CoordinatorHandshake(token: [], nonce: [], offer: shell.identity.offer),
            since: .zero)
        peer.stage = .member
        peer.hello = Hello(
            minor: 0...0, role: .worker, name: "w\(number)", incarnation: incarnation, nonce: [],
            software: "test")
        shell.peers[peer.id] = peer
        shell.handle(
            .joined(
                peer.id,
                Member(name: peer.name, address: "x", threads: 1, incarnation: incarnation)))
    }

    /// Peer `id` hands in a gradient whose numbers are all `value`.
    private static func hand(_ shell: CoordinatorShell, _ value: Float, from id: UInt64) {
        guard let peer = shell.peers[PeerID(id)] else { return }
        var gradient = [Float](repeating: value, count: parameterCount)
        let payload = GradientCodec.fp32.pack(&gradient, seed: 0, step: 1, microBatch: 0)
        let result = WorkResult(
            key: WorkKey(round: 1, index: 0), attempt: 1, kind: .gradient, tokens: 3,
            lossTokens: 2, correct: 0, lossSum: 1.5,
            digest: GradientCodec.digest(of: gradient).bytes,
            inputs: shell.round?.inputs(0, recipe).digest.bytes ?? [], payload: payload)
        shell.receive(ReceivedMessage(message: .result(result), term: 7), from: peer)
    }

    @Test("a run that fails when a step is complete keeps the step and ends with the next one")
    func failedAtTheEnd() throws {
        try withBench { bench in
            let inbox = bench.inbox
            try bench.shell.call { Self.join($0, 1, as: 1) }
            let step = bench.compute { _ in
                inbox.put(.failed(NodeError.workersMissing(sentence: "no worker is here")))
            }
            #expect(try bench.reaches { $0.state.open != nil })
            try bench.shell.call { Self.hand($0, 1, from: 1) }
            #expect(try #require(step.value(within: 60)).get() == 1)
            let next = try #require(bench.compute().value(within: 60))
            #expect(throws: SourceStopped.self) { try next.get() }
        }
    }

    @Test("a round whose last piece is disputed ends once the right result is known")
    func disputedAtTheEnd() throws {
        try withBench { bench in
            try bench.shell.call { Self.join($0, 1, as: 1) }
            // The second result comes while the first one is checked.
            let step = bench.compute { Self.hand($0, 2, from: 2) }
            #expect(try bench.reaches { $0.state.open != nil })
            try bench.shell.call { shell in
                shell.handle(.left(PeerID(1), .goodbye))
                Self.join(shell, 2, as: 2)
                Self.join(shell, 1, as: 11)
                Self.join(shell, 3, as: 3)
                #expect(shell.state.open?.pieces[0].leased == ["w1", "w2"])
                Self.hand(shell, 1, from: 11)
            }
            #expect(
                try bench.reaches {
                    $0.state.open == nil || $0.state.open?.disputes[0]?.judge == PeerID(3)
                })
            // If the round had ended by now, it would have kept the wrong result.
            try bench.shell.call { Self.hand($0, 2, from: 3) }
            let outcome = try #require(step.value(within: 60))
            #expect(throws: StepSpoiled.self) { try outcome.get() }
        }
    }
}
