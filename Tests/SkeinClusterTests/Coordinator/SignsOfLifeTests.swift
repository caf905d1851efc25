import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCluster
@testable import SkeinNetwork

@Suite("signs of life", .ownThreads)
struct SignsOfLifeTests {
    private func wait(_ what: String, until isSo: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while !isSo() {
            try #require(ContinuousClock.now < deadline, "\(what)")
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    @Test("a worker lives as long as its bytes come, even without heartbeats")
    func trickle() throws {
        let loop = try EventLoop(name: "test-shell")
        defer { loop.stop() }
        var settings = CoordinatorSettings()
        settings.heartbeat = .milliseconds(50)
        settings.suspectAfter = .seconds(1)
        settings.lostAfter = .seconds(2)
        let nothing = [UInt8](repeating: 0, count: 32)
        let identity = try RunIdentity(
            offer: Offer(
                proof: [], term: 1, start: [UInt8](repeating: 0, count: 16), modelDigest: nothing,
                dataDigest: nothing,
                configurationDigest: nothing, recipeDigest: nothing, answerDigest: nothing,
                fingerprint: "none",
                configuration: [],
                longestRow: 1, modelFiles: []),
            parameterCount: 10, codec: .fp32)
        let counts = ShellCounts()
        let shell = try Confined(to: loop) { [settings] in
            CoordinatorShell(
                loop: loop, inbox: RunInbox(), identity: identity,
                options: CoordinatorOptions(listen: "127.0.0.1:0", token: nil),
                settings: settings, counts: counts, log: Log(isQuiet: true))
        }
        let name = try NetworkAddress(parsing: "127.0.0.1:0")
        let port = try shell.call {
            try $0.listen(on: name.resolved(for: .listening), name: name).port
        }
        let client = try Station.make("test-client")
        defer { client.loop.stop() }
        try client.call {
            $0.join()
            try $0.dial(port)
        }
        try wait("no worker joined") { counts.members == 1 }

        // The beginning of a frame, a byte at a time, for twice as long as silence may last. If
        // this thread itself cannot send for that long, losing the worker is right.
        let header: [UInt8] = [0x53, 0x4b, 0x4e, 0x46, 2, 0] + [UInt8](repeating: 0, count: 33)
        var (spoke, longestPause) = (ContinuousClock.now, Duration.zero)
        for byte in header {
            try client.call { client in
                let link = client.connections.first?.link as? SocketLink
                _ = [byte].withUnsafeBytes { link?.socket.write($0) }
            }
            longestPause = max(longestPause, ContinuousClock.now - spoke)
            spoke = .now
            Thread.sleep(forTimeInterval: 0.1)
        }
        longestPause = max(longestPause, ContinuousClock.now - spoke)
        #expect(counts.members == 1 || longestPause > .seconds(1.5), "\(longestPause)")
        try wait("silence was not noticed") { counts.members == 0 }
    }
}

extension Station {
    /// Makes the next connection join as a worker, which then sends nothing more.
    fileprivate func join() {
        var handshake = WorkerHandshake(
            token: [],
            hello: Hello(
                minor: ProtocolVersion.minors, role: .worker, name: "w",
                incarnation: [UInt8](repeating: 1, count: 16),
                nonce: [UInt8](repeating: 2, count: 32), software: "test"))
        prepare = { $0.send(handshake.greeting) }
        react = { connection, message in
            switch try? handshake.receive(message) {
            case .answered(let reply, let keys):
                connection.send(reply)
                connection.authenticate(
                    receiving: keys.coordinatorToWorker, sending: keys.workerToCoordinator)
            case .offered(let offer):
                connection.term = offer.term
                connection.send(
                    .ready(
                        Ready(
                            modelDigest: offer.modelDigest, dataDigest: offer.dataDigest,
                            configurationDigest: offer.configurationDigest,
                            recipeDigest: offer.recipeDigest, answerDigest: offer.answerDigest,
                            fingerprint: offer.fingerprint, threads: 1, held: [])))
            case .nothing, nil: break
            }
        }
    }
}
