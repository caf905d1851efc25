import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork
import SkeinTraining

/// The workers' half of the wire benchmark: many workers that do not compute.
///
/// Each does the handshake, takes parameters and leases, and answers every lease at once with a
/// prepared gradient. All of them live on one loop's thread; another thread hashes what they send,
/// as compute threads would, so that heartbeats go out meanwhile.
package struct WireLoad: Sendable {
    package var workers: Int
    package var codec: GradientCodec
    /// Numbers in a gradient.
    package var parameterCount: Int
    /// Bytes that each worker reads in a second at most; nil: as they come.
    package var lineRate: Int?

    /// Tokens of the only row of each micro-batch: a mean row of the demo.
    package static let rowTokens = 182

    /// What their coordinator may need for their gradients.
    package var coordinatorMemory: CoordinatorMemory {
        CoordinatorMemory(
            parameterCount: parameterCount, codec: codec, microBatches: workers)
    }

    package init(
        workers: Int, codec: GradientCodec, parameterCount: Int, lineRate: Int? = nil
    ) {
        precondition(workers > 0 && parameterCount > 0)
        self.workers = workers
        self.codec = codec
        self.parameterCount = parameterCount
        self.lineRate = lineRate
    }

    /// Works for the benchmark's coordinator until it says that the run is complete; blocks.
    ///
    /// - Parameter address: `HOST:PORT`.
    /// - Throws: `NodeError` when it cannot be reached; the error of the first worker that failed.
    package func run(at address: String) throws {
        ProcessFigures.raiseFileLimit()
        let name = try NetworkAddress(parsing: address)
        let addresses = try name.resolved(for: .dialling)
        // All are held at once, so there is only one if they are large.
        let gradients = PreparedGradients(
            codec: codec, count: parameterCount, kinds: parameterCount > 10_000_000 ? 1 : 4)
        let ended = Promise<(any Error)?>()
        let loop = try EventLoop(name: "skein-load")
        defer { loop.stop() }
        let fleet = try Confined(to: loop) { [workers, lineRate] in
            try WireFleet(
                workers, lineRate: lineRate, name: name, addresses: addresses, gradients: gradients,
                loop: loop, ended: ended)
        }
        fleet.post { $0.begin(fleet) }
        while true {
            guard let ending = ended.value(within: 1) else { continue }
            if let ending { throw ending }
            return
        }
    }
}

/// All workers of a load. Lives on the loop's thread.
final class WireFleet {
    private let loop: EventLoop
    private let name: NetworkAddress
    private let addresses: [SocketAddress]
    private let gradients: PreparedGradients
    private var clients: [WireClient] = []
    private typealias Asked = (client: Int, lease: LeaseGrant)
    /// nil: the system has refused the thread.
    private var answers: WorkQueue<Asked>?
    private var perform: (@Sendable (Asked) -> Void)?
    private var left: Int
    private let ended: Promise<(any Error)?>

    init(
        _ count: Int, lineRate: Int?, name: NetworkAddress, addresses: [SocketAddress],
        gradients: PreparedGradients, loop: EventLoop, ended: Promise<(any Error)?>
    ) throws {
        self.loop = loop
        self.name = name
        self.addresses = addresses
        self.gradients = gradients
        self.ended = ended
        left = count
        clients = try (0..<count).map { number in
            try WireClient(
                number, gradients: gradients, lineRate: lineRate, loop: loop,
                answer: { [weak self] in self?.answer((number, $0)) },
                ended: { [weak self] in self?.ended($0) })
        }
    }

    deinit { answers?.close(droppingWaiting: true) }

    /// Dials.
    ///
    /// - Parameter desk: this fleet, for the thread that makes the answers.
    func begin(_ desk: Confined<WireFleet>) {
        let perform: @Sendable (Asked) -> Void = { [gradients] next in
            let answer = EncodedMessage(.result(gradients.result(of: next.lease)))
            desk.post { $0.clients[next.client].send(answer) }
        }
        self.perform = perform
        answers = WorkQueue("skein-answers", perform: perform)
        for client in clients { client.dial(addresses, name: name) }
        beat()
    }

    private func answer(_ asked: Asked) {
        if let answers { answers.give(asked) } else { perform?(asked) }
    }

    /// Sends the heartbeats of all workers.
    private func beat() {
        for client in clients { client.beat() }
        loop.setAlarm(at: .now + .milliseconds(500)) { [weak self] in self?.beat() }
    }

    private func ended(_ problem: (any Error)?) {
        left -= 1
        if let problem { ended.keep(problem) } else if left == 0 { ended.keep(nil) }
    }
}
