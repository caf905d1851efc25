import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// kill -9 and SIGSTOP of any process at any moment: the same bytes at the end.
@Suite("kills in a cluster", .ownThreads)
struct ClusterKillTests {
    private let run = ["--epochs", "20", "--checkpoint-every", "5"]
    private let steps = 160

    /// What happens at one moment of a schedule.
    private enum Blow: CaseIterable {
        case killWorker, stopWorker, killCoordinator, killBoth
    }

    @Test("twenty schedules of kills, each drawn from its seed, give the bytes of a quiet run")
    func schedules() throws {
        let base =
            ProcessInfo.processInfo.environment["SKEIN_TEST_SEED"].flatMap { UInt64($0) }
            ?? UInt64(Date().timeIntervalSince1970 * 1000)
        print("cluster kills: replay with SKEIN_TEST_SEED=\(base)")
        try Workbench.with { bench in
            try bench.train("quiet", run)
            let expected = try bench.result(of: "quiet")
            for number in 0..<20 {
                let seed = base &+ UInt64(number)
                let output = "killed-\(number)"
                try schedule(bench, output, seed: seed)
                #expect(try bench.result(of: output) == expected, "seed \(seed)")
                try verifyLedger(bench, of: output, steps: steps)
            }
        }
    }

    /// Three blows at random moments on a coordinator and two workers.
    private func schedule(_ bench: Workbench, _ output: String, seed: UInt64) throws {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        let cluster = try ClusterHarness(bench, output, run)
        for number in 1...2 { try cluster.startWorker("w\(number)") }
        for number in 0..<3 {
            let words = random.block(UInt32(number))
            let victim = Int(words.x % 2)
            let blow = Blow.allCases[Int(words.y % UInt32(Blow.allCases.count))]
            try cluster.waitForSteps(cluster.steps + 1 + Int(words.z % 20))
            Thread.sleep(forTimeInterval: Double(words.w % 20) / 1000)
            guard cluster.coordinator.isRunning else { break }
            switch blow {
            case .killWorker: try cluster.restartWorker(victim)
            case .stopWorker:
                cluster.workers[victim].send(SIGSTOP)
                Thread.sleep(forTimeInterval: 0.05)
                cluster.workers[victim].send(SIGCONT)
            case .killCoordinator: try cluster.restartCoordinator()
            case .killBoth:
                cluster.workers[victim].send(SIGKILL)
                try cluster.restartCoordinator()
                try cluster.restartWorker(victim)
            }
        }
        try cluster.finish()
    }

    @Test("a worker that is stopped past its deadline loses its work and comes back")
    func stoppedWorker() throws {
        try Workbench.with { bench in
            try bench.train("quiet", run)
            let cluster = try ClusterHarness(bench, "stopped", run + ["--patience", "1h"])
            // It is alone, so that the run stalls until it is lost, and cannot end before.
            try cluster.startWorker("w1")
            try cluster.waitForSteps(5)
            cluster.workers[0].send(SIGSTOP)
            try cluster.coordinator.waitForError("lost w1")
            let done = cluster.steps
            try cluster.startWorker("w2")
            try cluster.waitForSteps(done + 10)
            cluster.workers[0].send(SIGCONT)
            try cluster.finish()
            #expect(done < steps)
            #expect(try bench.result(of: "stopped") == bench.result(of: "quiet"))
            try verifyLedger(bench, of: "stopped", steps: steps)
        }
    }

    @Test("a coordinator that is killed twice goes on, and its workers find it again")
    func killedCoordinator() throws {
        try Workbench.with { bench in
            try bench.train("quiet", run)
            let cluster = try ClusterHarness(bench, "killed", run)
            for number in 1...3 { try cluster.startWorker("w\(number)") }
            for _ in 0..<2 {
                try cluster.waitForSteps(cluster.steps + 12)
                try cluster.restartCoordinator()
            }
            try cluster.finish()
            #expect(try bench.result(of: "killed") == bench.result(of: "quiet"))
            try verifyLedger(bench, of: "killed", steps: steps)
        }
    }
}
