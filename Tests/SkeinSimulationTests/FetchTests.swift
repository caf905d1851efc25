import SkeinBasics
import Testing

@testable import SkeinSimulation

@Suite("workers that fetch their model, in one thread")
struct FetchTests {
    /// Two workers that fetch, and what goes wrong.
    private func run(
        _ seed: UInt64, _ faults: [Fault], of job: SimulatedJob? = nil
    ) throws -> SimulatedRun {
        let run = SimulatedRun(
            seed: seed, workers: 2, of: try job ?? SimulatedJob.narrow.get(), faults: faults,
            fetched: try FetchedModel.made.get())
        run.run(limit: .seconds(400))
        #expect(run.violations == [], "seed \(seed)")
        return run
    }

    @Test("where a coordinator and then a worker die in the middle of it, a fetch is continued")
    func interrupted() throws {
        var counts: [String: Int] = [:]
        for seed in 1...40 as ClosedRange<UInt64> {
            let run = try run(
                seed,
                [
                    Fault(at: 0.35, who: .coordinator, what: .kill, seconds: 0.4),
                    Fault(at: 1.6, who: .worker(0), what: .disk, seconds: 0.3, number: 3),
                    Fault(at: 1.8, who: .worker(1), what: .kill, seconds: 0.3),
                ])
            counts.merge(run.world.counts) { $0 + $1 }
        }
        #expect(counts["fetch interrupted", default: 0] > 10, "\(counts)")
        #expect(counts["worker died at its disk", default: 0] > 10, "\(counts)")
        #expect(counts["fetch continued", default: 0] > 20, "\(counts)")
    }

    @Test("of two workers of a host, one fetches the model and the other finds it there")
    func shared() throws {
        var waits = 0
        for seed in 0..<160 as Range<UInt64> where seed / 4 % 4 >= 2 {
            let run = try run(seed, [])
            waits += run.world.counts["fetch waits for its turn", default: 0]
            #expect(run.world.counts["file fetched"] == 2, "seed \(seed)")
        }
        #expect(waits > 20, "\(waits)")
    }

    @Test("a worker that is stopped while another one fetches the model leaves nothing behind")
    func stopped() throws {
        var counts: [String: Int] = [:]
        // Those in which two share a host and wait for 3 s.
        for seed in 0..<96 as Range<UInt64> where seed / 4 % 4 == 3 {
            let stop = Fault(at: 0.9, who: .worker(0), what: .stop, seconds: 14)
            let run = try run(seed, [stop], of: try SimulatedJob.long.get())
            counts.merge(run.world.counts) { $0 + $1 }
        }
        #expect(counts["fetch without a lock", default: 0] > 4, "\(counts)")
        #expect(counts["fetch interrupted", default: 0] > 4, "\(counts)")
    }

    @Test("a coroutine and its world take turns, and it ends with what it does")
    func turns() throws {
        var order: [String] = []
        var own: Coroutine?
        let coroutine = try #require(
            Coroutine("turns") {
                for number in 0..<3 {
                    order.append("own \(number)")
                    own?.suspend()
                }
            })
        own = coroutine
        while !coroutine.isOver {
            coroutine.resume()
            order.append("world")
        }
        #expect(
            order == ["own 0", "world", "own 1", "world", "own 2", "world", "world"], "\(order)")
    }
}
