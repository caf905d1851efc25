import Foundation
import SkeinBasics
import SkeinCluster
import SkeinNetwork
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinLab

/// The benchmark's two halves in one process; no test asks how fast they are.
@Suite("a load of workers that do not compute", .ownThreads)
struct WireLoadTests {
    /// Runs both halves and gives the steps and the parameters' hash.
    private func run(
        _ load: WireLoad, steps: Int
    ) throws -> (steps: [WireBench.Step], digest: SHA256.Digest) {
        let bench = try WireBench(load, log: Log(isQuiet: true))
        let ended = Promise<String>()
        let thread = Thread {
            do {
                try load.run(at: bench.address)
                ended.keep("")
            } catch {
                ended.keep("\(error)")
            }
        }
        thread.start()
        var seen: [WireBench.Step] = []
        let digest = try bench.run(steps: steps) { seen.append($0) }
        #expect(ended.value(within: 300) == "")
        return (seen, digest)
    }

    @Test("three workers give three steps", arguments: GradientCodec.allCases)
    func steps(codec: GradientCodec) throws {
        // More than one frame, so that messages have chunks.
        let load = WireLoad(workers: 3, codec: codec, parameterCount: 400_000)
        let (steps, digest) = try run(load, steps: 3)
        #expect(steps.count == 3)
        for step in steps {
            #expect(step.payloadBytes > 0)
            #expect(step.payloadBytes < 3 * codec.mostPackedBytes(count: load.parameterCount))
            #expect(step.receivedBytes > 0 && step.sentBytes > 0 && step.processorSeconds > 0)
        }
        let received = steps.reduce(0) { $0 + $1.receivedBytes }
        #expect(received >= steps.reduce(0) { $0 + $1.payloadBytes })
        #expect(try run(load, steps: 3).digest == digest)
        #expect(try run(load, steps: 2).digest != digest)
    }

    @Test("slow lines lose no worker, though every version of the parameters waits for them")
    func slowLines() throws {
        var load = WireLoad(workers: 3, codec: .fp32, parameterCount: 400_000)
        let digest = try run(load, steps: 3).digest
        // A version takes about three times as long as a heartbeat's interval.
        load.lineRate = 1_000_000
        let (steps, slow) = try run(load, steps: 3)
        #expect(slow == digest)
        #expect(steps.count == 3)
    }

    @Test("a load without a coordinator ends with an error")
    func alone() throws {
        let load = WireLoad(workers: 2, codec: .fp32, parameterCount: 10)
        // Nothing listens on port 1 unless this machine's owner wants it.
        #expect(throws: SocketError.self) { try load.run(at: "127.0.0.1:1") }
    }

    @Test("loopback carries bytes")
    func loopback() throws {
        #expect(try LoopbackRate.measure(bytes: 3 << 20) > 0)
    }
}
