import Foundation
import SkeinBasics
import SkeinCoordination
import Synchronization
import Testing

@testable import SkeinCluster
@testable import SkeinNetwork

/// What a worker's shell sends, and when.
@Suite("the worker's shell")
struct WorkerShellTests {
    /// A shell whose connection is the station's; both on one loop.
    private final class Bench {
        let shell: WorkerShell
        let station: Station

        init(_ loop: EventLoop, _ setup: WorkerSetup) {
            station = Station(loop)
            station.prepare = Station.authenticate
            shell = WorkerShell(loop: loop, setup: setup, log: Log(), ending: Promise())
            shell.hasToldReady = true
        }

        /// Tells only the state: nothing is dialled or loaded.
        func tell(_ events: WorkerState.Event...) {
            for event in events { _ = shell.state.handle(event, now: shell.now, jitter: 0) }
        }
    }

    @Test("where numbers say where the coordinator is, no name is asked for at first")
    func numericFirst() throws {
        let asked = Mutex(0)
        func setup(_ found: [String]) throws -> WorkerSetup {
            var options = WorkerOptions(coordinator: "head:9", token: nil, threads: 1)
            options.locate = { found }
            return try WorkerSetup(
                options, version: "test",
                resolve: { _ in
                    asked.withLock { $0 += 1 }
                    return try NetworkAddress(parsing: "127.0.0.1:9").resolved(for: .dialling)
                })
        }
        let addresses = try setup(["head:9", "127.0.0.2:9", "nonsense"]).addresses
        #expect(addresses.map(\.description) == ["127.0.0.2:9"] && asked.withLock { $0 } == 0)
        _ = try setup(["head:9"])
        #expect(asked.withLock { $0 } == 1)
    }

    private func withBench(
        _ body: (Confined<Bench>, Confined<Station>) throws -> Void
    ) throws {
        let options = WorkerOptions(coordinator: "127.0.0.1:9", token: nil, threads: 1)
        let setup = try WorkerSetup(options, version: "test")
        let loop = try EventLoop(name: "shell")
        let bench = try Confined(to: loop) { Bench(loop, setup) }
        let coordinator = try Station.make("coordinator")
        defer {
            loop.stop()
            coordinator.loop.stop()
        }
        try coordinator.call { $0.prepare = Station.authenticate }
        let port = try coordinator.call { try $0.listen() }
        try bench.call { try $0.station.dial(port) }
        let limit = ContinuousClock.now + .seconds(60)
        while try bench.call({ $0.station.connections.isEmpty }) {
            try #require(ContinuousClock.now < limit, "no coordinator was reached within a minute")
            usleep(2000)
        }
        try bench.call { $0.shell.connection = $0.station.connections[0] }
        #expect(try coordinator.reaches { !$0.connections.isEmpty })
        try body(bench, coordinator)
    }

    private static let welcome = Welcome(
        heartbeatMilliseconds: 500, silenceMilliseconds: 600_000)

    private static let offer = Offer(
        proof: [], term: 7, start: [UInt8](repeating: 4, count: 16),
        modelDigest: [UInt8](repeating: 1, count: 32),
        dataDigest: [UInt8](repeating: 2, count: 32),
        configurationDigest: [UInt8](repeating: 3, count: 32),
        recipeDigest: [UInt8](repeating: 3, count: 32),
        answerDigest: [UInt8](repeating: 3, count: 32), fingerprint: "",
        configuration: [], longestRow: 1, modelFiles: [])

    private static func request(_ version: UInt64) -> Message {
        .parameterRequest(ParameterRequest(version: version))
    }

    @Test("a worker asks for parameters that it cannot use once it is a member, not before")
    func needsParameters() throws {
        try withBench { bench, coordinator in
            try bench.call { bench in
                let shell = bench.shell
                bench.tell(.start, .connected)
                shell.needParameters(4)
                bench.tell(.offered(term: 7))
                shell.needParameters(5)
                bench.tell(.prepared)
                shell.needParameters(6)
                shell.receive(ReceivedMessage(message: .welcome(Self.welcome), term: 7))
                shell.needParameters(7)
            }
            #expect(try coordinator.reaches { $0.received.count == 2 })
            #expect(try coordinator.call { $0.received } == [Self.request(6), Self.request(7)])
        }
    }

    @Test("what READY says about the parameters needs no request")
    func readySaysIt() throws {
        try withBench { bench, coordinator in
            try bench.call { bench in
                let shell = bench.shell
                bench.tell(.start, .connected, .offered(term: 7))
                shell.offer = Self.offer
                shell.needParameters(5)
                shell.handle(.prepared)
                shell.receive(ReceivedMessage(message: .welcome(Self.welcome), term: 7))
                shell.needParameters(7)
            }
            // All were queued in one turn, and short messages overtake READY.
            #expect(try coordinator.reaches { $0.received.last?.type == .ready })
            #expect(try coordinator.call { $0.received.dropLast() } == [Self.request(7)])
        }
    }

    @Test("a request for the model is not sent on a later connection")
    func requestAcrossConnections() throws {
        try withBench { bench, coordinator in
            try bench.call { bench in
                let shell = bench.shell
                let (before, standing) = (shell.attempt, shell.connection)
                shell.disconnected("reset")
                shell.connection = standing
                shell.ask(ModelRequest(file: 0, offset: 1), on: before)
                shell.ask(ModelRequest(file: 0, offset: 2), on: shell.attempt)
            }
            #expect(try coordinator.reaches { !$0.received.isEmpty })
            #expect(
                try coordinator.call { $0.received } == [
                    .modelRequest(ModelRequest(file: 0, offset: 2))
                ])
        }
    }

    @Test("a coordinator that sends a piece of the model that was not asked for is hung up on")
    func unrequestedPiece() throws {
        try withBench { bench, coordinator in
            try bench.call { bench in
                let shell = bench.shell
                bench.tell(.start, .connected, .offered(term: 7))
                shell.receive(
                    ReceivedMessage(
                        message: .modelChunk(ModelChunk(file: 0, offset: 0, bytes: [1])), term: 7))
                #expect(shell.connection == nil)
                #expect(
                    shell.state.sentence(coordinator: "here", preparedBytes: 0, now: shell.now)
                        .contains(
                            "sent a piece of the model that this worker did not ask for"))
            }
            #expect(try coordinator.reaches { !$0.reasons.isEmpty })
        }
    }

    /// What a coordinator answers during a handshake.
    private final class Greeter {
        private var handshake: CoordinatorHandshake
        private let last: Leave

        init(_ offer: Offer, last: Leave) {
            handshake = CoordinatorHandshake(
                token: [], nonce: [UInt8](repeating: 9, count: 32), offer: offer)
            self.last = last
        }

        func answer(_ connection: Connection, _ message: Message) {
            do {
                switch try handshake.receive(message) {
                case .challenged(_, let challenge): connection.send(challenge)
                case .authenticated(_, let keys, let offer):
                    connection.authenticate(
                        receiving: keys.workerToCoordinator, sending: keys.coordinatorToWorker)
                    connection.term = 7
                    // In one turn: the short message overtakes the long one.
                    connection.send(offer)
                    connection.send(.leave(last))
                case .ready: Issue.record("a worker has joined a run that is over")
                }
            } catch {
                Issue.record("\(error.reason)")
            }
        }
    }

    @Test("a worker that hears of the run's end before its offer ends, too")
    func endBeforeOffer() throws {
        let coordinator = try Station.make("coordinator")
        let loop = try EventLoop(name: "worker")
        defer {
            loop.stop()
            coordinator.loop.stop()
        }
        let port = try coordinator.call { station in
            let greeter = Greeter(Self.offer, last: Leave(reason: .complete))
            station.react = { greeter.answer($0, $1) }
            return try station.listen()
        }
        let options = WorkerOptions(coordinator: "127.0.0.1:\(port)", token: nil, threads: 1)
        let setup = try WorkerSetup(options, version: "test")
        let ending = Promise<Result<WorkerState.Ending, any Error>>()
        let shell = try Confined(to: loop) {
            WorkerShell(loop: loop, setup: setup, log: Log(), ending: ending)
        }
        shell.post { state in
            state.desk = shell
            state.begin()
        }
        #expect(try #require(ending.value(within: 60)).get() == .complete)
        #expect(try coordinator.call { $0.received.map(\.type) } == [.hello, .authentication])
        try shell.call { $0.end() }
    }
}
