import Foundation
import SkeinBasics
import Testing

@testable import SkeinCommands
@testable import SkeinCoordination

@Suite struct StatusTests {
    private static let snapshot: RunSnapshot = {
        var run = RunSnapshot.Progress()
        (run.output, run.term, run.step, run.stepCount, run.loss) = ("run", 2, 12, 170, 2.314)
        let waiting = Waiting(
            round: .step(13),
            reason: .computing(
                piece: 17,
                worker: Waiting.Peer(name: "w3", address: "10.0.0.7:5", lastHeardSeconds: 0.21),
                outlook: .expected(inSeconds: 1, overdueInSeconds: 9), elsewhere: .anotherWorker),
            seconds: 3.1)
        var counters = RoundCounters()
        (counters.leases, counters.again) = (31000, 2)
        return RunSnapshot(
            run: run,
            round: RunSnapshot.RoundProgress(
                label: .step(13), pieces: 9, accepted: 4, unleased: 1, unchecked: 1),
            waiting: waiting,
            workers: [
                RunSnapshot.Worker(
                    name: "w3", address: "10.0.0.7:5", state: .computing, lastHeardSeconds: 0.21,
                    work: RunSnapshot.Work(
                        threads: 2, leaseCount: 2,
                        leases: [
                            RunSnapshot.Lease(
                                round: 14, microBatch: 17, seconds: 2.8, progress: 0.61)
                        ], tokensPerSecond: 183.2, accepted: 1204, refused: 0)),
                RunSnapshot.Worker(
                    name: "w4", address: "10.0.0.8:5", state: .preparing, lastHeardSeconds: 1,
                    preparedBytes: 5 << 20),
            ], counters: counters)
    }()

    private static func show(_ report: [UInt8], _ words: String...) throws -> String {
        let process = CapturedProcess()
        let command = try StatusCommand(
            ArgumentParser.parse(
                ["--coordinator", "localhost"] + words, by: StatusCommand.table))
        try command.show(report, process.io())
        return process.output
    }

    @Test("status prints a table by default")
    func table() throws {
        #expect(
            try Self.show(Self.snapshot.json()) == """
                run  step 12/170  step 13: 4 of 9 done  loss 2.3140  term 2
                w3 computes micro-batch 17 of step 13 (3.1 s)

                worker  state      address     computes                         threads  tokens/s       heard  accepted  refused
                w3      computing  10.0.0.7:5  mb 17 (61 %, 2.80 s) and 1 more        2       183  210 ms ago     1,204        0
                w4      preparing  10.0.0.8:5  5 MiB                                  -         -  1.00 s ago         -        -

                leases 31,000  releases 2  speculative 0  duplicates 0  refused 0

                """)
    }

    @Test("status of one process has neither workers nor leases")
    func alone() throws {
        var run = RunSnapshot.Progress()
        (run.output, run.step, run.stepCount, run.loss) = ("run", 12, 170, 2.314)
        let snapshot = RunSnapshot(
            run: run, waiting: Waiting(round: .step(13), reason: .computingHere, seconds: 2.4))
        #expect(
            try Self.show(snapshot.json()) == """
                run  step 12/170  training  loss 2.3140
                computes step 13 (2.4 s)

                """)
    }

    @Test("status says that the one hash was given up")
    func otherEngines() throws {
        var snapshot = Self.snapshot
        snapshot.run.otherEnginesFromStep = 9
        let json = try snapshot.json()
        #expect(try RunSnapshot(json: json) == snapshot)
        #expect(
            try Self.show(json).contains(
                "\nworkers with other engines were admitted from step 9 on: the result depends on who "
                    + "computed what, and another run need not have the same hash\n\nworker"))
        #expect(String(decoding: json, as: UTF8.self).contains("\"other_engines_from_step\":9"))
    }

    @Test("status says that the best adapter so far is no better than the beginning")
    func noImprovement() throws {
        var snapshot = Self.snapshot
        (snapshot.run.startValidationLoss, snapshot.run.isImprovement) = (5.46, true)
        (snapshot.run.bestValidationLoss, snapshot.run.bestStep) = (18.35, 2)
        #expect(try !Self.show(snapshot.json()).contains("no better"))
        snapshot.run.isImprovement = false
        let json = try snapshot.json()
        #expect(try RunSnapshot(json: json) == snapshot)
        #expect(
            try Self.show(json).contains(
                "\nthe best adapter so far is no better than the model before the first step: "
                    + "validation loss 18.3500 after step 2, 5.4600 before\n\nworker"))
        #expect(String(decoding: json, as: UTF8.self).contains("\"start_validation_loss\":5.46"))
    }

    @Test("--why prints the sentence, --json the report as received")
    func others() throws {
        let json = try Self.snapshot.json()
        #expect(
            try Self.show(json, "--why") == Self.snapshot.waiting.sentence + "\n")
        #expect(try Self.show(json, "--json") == String(decoding: json, as: UTF8.self) + "\n")
    }

    @Test("a report that lacks a field or has it in another type is an error")
    func lacks() throws {
        let text = String(decoding: try Self.snapshot.json(), as: UTF8.self)
        let good = try #require(
            JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        var reports = ["", "[]", "{", "3", "\"x\"", "{}"].map { Array($0.utf8) }
        for key in ["run", "waiting", "workers", "worker_count", "counters"] {
            for other in [nil, NSNumber(value: 1e300), "x", [7]] as [Any?] {
                var bad = good
                bad[key] = other
                reports.append(Array(try JSONSerialization.data(withJSONObject: bad)))
            }
        }
        let error = CommandError.badInput(.noStatus, place: "localhost:7534")
        for report in ["", "[]", "{", "3", "\"x\""] {
            #expect(throws: error) { try Self.show(Array(report.utf8), "--json") }
        }
        // A script also gets what another version sends.
        #expect(try Self.show(Array("{\"why\":7}".utf8), "--json") == "{\"why\":7}\n")
        for report in reports {
            #expect(throws: error, "\(String(decoding: report, as: UTF8.self))") {
                try Self.show(report, "--why")
            }
        }
    }

    @Test("absurd numbers in a report do no harm")
    func extremes() throws {
        var snapshot = Self.snapshot
        snapshot.workers[0].work?.leaseCount = .min
        snapshot.workers[0].work?.leases[0].progress = -1e300
        snapshot.workers[0].work?.leases[0].seconds = 1e300
        snapshot.workers[0].lastHeardSeconds = -1e300
        snapshot.waiting.seconds = 1e300
        snapshot.workerCount = .max
        #expect(!(try Self.show(snapshot.json())).isEmpty)
        snapshot.workerCount = .min
        #expect(!(try Self.show(snapshot.json(), "--why")).isEmpty)
        #expect(!(try Self.show(snapshot.json())).isEmpty)
        snapshot.workers[0].name = String(repeating: "n", count: 500_000)
        #expect(try Self.show(snapshot.json()).count < 20_000)
    }

    @Test("a report cannot send control characters to the terminal")
    func controls() throws {
        var snapshot = Self.snapshot
        snapshot.workers[0].name = "a\u{1b}[2Jb\u{7}\nc"
        snapshot.run.output = "\u{9b}31m"
        snapshot.waiting.reason = .checking(piece: 1, worker: "x\u{1b}", unchecked: 1)
        let text = try Self.show(snapshot.json())
        #expect(text.contains("a?[2Jb??c") && text.contains("?31m"))
        #expect(try Self.show(snapshot.json(), "--why").contains("from x?,"))
        snapshot.waiting.reason = .away(pieces: 1, worker: "x\u{1b}", rebuiltInSeconds: 1)
        #expect(try Self.show(snapshot.json()).contains("worker x?,"))
    }
}
