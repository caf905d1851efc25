import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTraining
import Testing

@testable import SkeinNodes

@Suite("signs of life", .timeLimit(.minutes(10)))
struct SignsOfLifeTests {
    private func wait(_ what: String, until isSo: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while !isSo() {
            try #require(ContinuousClock.now < deadline, "\(what)")
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    @Test("a worker lives as long as bytes of it come, be they no heartbeat")
    func trickle() throws {
        let loop = try EventLoop(name: "test-shell")
        defer { loop.stop() }
        var settings = CoordinatorSettings()
        settings.heartbeat = .milliseconds(50)
        settings.suspectAfter = .seconds(1)
        settings.lostAfter = .seconds(2)
        let load = WireLoad(workers: 1, codec: .fp32, parameterCount: 10)
        let counts = ShellCounts()
        let shell = try Confined(to: loop) { [settings] in
            CoordinatorShell(
                loop: loop, inbox: Inbox(), identity: RunIdentity(load),
                options: CoordinatorOptions(listen: "127.0.0.1:0", token: nil),
                settings: settings, counts: counts, log: Log(isQuiet: true))
        }
        let name = try NetworkAddress(parsing: "127.0.0.1:0")
        let address = try NetworkAddress(
            parsing: shell.call {
                try $0.listen(on: name.resolved(for: .listening), name: name).description
            })

        let clientLoop = try EventLoop(name: "test-client")
        defer { clientLoop.stop() }
        let client = try Confined(to: clientLoop) {
            try WireClient(
                0, gradients: PreparedGradients(codec: .fp32, count: 10), loop: clientLoop,
                answer: { _ in }, ended: { _ in })
        }
        let addresses = try address.resolved(for: .dialling)
        try client.call { $0.dial(addresses, name: address) }
        try wait("nobody joined") { counts.members == 1 }

        // The beginning of a frame, a byte at a time, for twice as long as silence may last. Should
        // this thread itself be kept from speaking for so long, its loss would be right.
        let header: [UInt8] = [0x53, 0x4b, 0x4e, 0x46, 2, 0] + [UInt8](repeating: 0, count: 33)
        var (spoke, longestPause) = (ContinuousClock.now, Duration.zero)
        for byte in header {
            try client.call { client in
                let link = client.connection?.link as? SocketLink
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
