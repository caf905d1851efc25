import Testing

@testable import SkeinLab

/// What is read from the facts of a run; no test asks how fast a cluster is.
@Suite struct RecoveryTests {
    private func opened(_ seconds: Double, round: Int = 1, pieces: Int) -> ClusterFact {
        var fact = ClusterFact(.opened, seconds: seconds, round: round)
        fact.pieces = pieces
        return fact
    }

    private func fact(
        _ kind: ClusterFact.Kind, _ seconds: Double, _ worker: String, _ microBatch: Int = 0,
        round: Int = 1
    ) -> ClusterFact {
        ClusterFact(kind, seconds: seconds, worker: worker, round: round, microBatch: microBatch)
    }

    private func isClose(_ found: [Double], _ expected: [Double]) -> Bool {
        found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) < 1e-9 }
    }

    @Test("a killed worker's leases are timed until the last is with another worker")
    func kill() {
        let facts = [
            fact(.joined, 0, "w1"), fact(.joined, 0, "w2"), opened(1, pieces: 4),
            fact(.leased, 1, "w1", 0), fact(.leased, 1, "w2", 1), fact(.leased, 1, "w1", 2),
            fact(.leased, 1, "w2", 3), fact(.lost, 2.25, "w1"), fact(.leased, 2.25, "w2", 0),
            fact(.arrived, 2.5, "w2", 1), fact(.leased, 2.5, "w2", 2),
            fact(.accepted, 2.75, "w2", 1), fact(.joined, 4, "w1"), fact(.cancelled, 4, "w2", 2),
            fact(.leased, 4, "w1", 2), fact(.arrived, 5, "w1", 2), fact(.accepted, 5.5, "w1", 2),
        ]
        let record = RecoveryRecord(facts, [Blow(kind: .kill, worker: "w1", seconds: 2)])
        #expect(isClose(record.leasedAgain, [0.5]))
        #expect(isClose(record.killNoticed, [0.25]))
        #expect(isClose(record.firstAccepted, [1.5]))
        #expect(record.stopNoticed.isEmpty)
        #expect(isClose(record.idle, [0]))
    }

    @Test("a piece that another worker already has, or has handed in, takes no time")
    func nothingLost() {
        let facts = [
            fact(.joined, 0, "w1"), fact(.joined, 0, "w2"), opened(1, pieces: 2),
            fact(.leased, 1, "w1", 0), fact(.leased, 1, "w2", 1), fact(.leased, 1, "w2", 0),
            fact(.lost, 2.25, "w1"),
        ]
        let record = RecoveryRecord(facts, [Blow(kind: .kill, worker: "w1", seconds: 2)])
        #expect(isClose(record.leasedAgain, [0]))
        let idle = RecoveryRecord(
            [fact(.joined, 0, "w1"), fact(.lost, 2.25, "w1")],
            [Blow(kind: .kill, worker: "w1", seconds: 2)])
        #expect(idle.leasedAgain.isEmpty)
        #expect(isClose(idle.killNoticed, [0.25]))
    }

    @Test("a survivor is idle while a stopped worker has the only piece left")
    func stop() {
        let facts = [
            fact(.joined, 0, "w1"), fact(.joined, 0, "w2"), opened(1, pieces: 2),
            fact(.leased, 1, "w1", 0), fact(.leased, 1, "w2", 1), fact(.arrived, 3, "w2", 1),
            fact(.accepted, 3, "w2", 1), fact(.leased, 3.75, "w2", 0), fact(.lost, 4.5, "w1"),
            fact(.joined, 6, "w1"), fact(.accepted, 7, "w1", 0),
        ]
        let blow = Blow(kind: .stop, worker: "w1", seconds: 2, continued: 5)
        let record = RecoveryRecord(facts, [blow])
        #expect(isClose(record.stopNoticed, [2.5]))
        #expect(isClose(record.idle, [0.75]))
        #expect(record.leasedAgain.isEmpty && record.firstAccepted.isEmpty)
    }

    @Test("a survivor without work is not idle when live workers have all of it")
    func busyOthers() {
        let facts = [
            fact(.joined, 0, "w1"), fact(.joined, 0, "w2"), fact(.joined, 0, "w3"),
            opened(1, pieces: 1), fact(.leased, 1, "w2", 0), fact(.lost, 2.1, "w1"),
            fact(.arrived, 9, "w2", 0), ClusterFact(.closed, seconds: 9, round: 1),
        ]
        let record = RecoveryRecord(facts, [Blow(kind: .kill, worker: "w1", seconds: 2)])
        #expect(isClose(record.idle, [0]))
    }

    @Test("figures are nearest ranks, and one without a value misses its bar")
    func figures() {
        var figure = RecoveryResult.Figure(
            name: "x", text: "x", seconds: (1...50).map { Double($0) / 10 }, bar: 5.1)
        #expect(figure.percentile(0.5) == 2.5)
        #expect(figure.percentile(0.99) == 5)
        #expect(figure.isMet)
        figure.bar = 5
        #expect(!figure.isMet)
        figure.seconds = []
        #expect(!figure.isMet && figure.percentile(0.5) == nil)
        figure.bar = nil
        #expect(figure.isMet)
    }

    @Test("a line that is not a fact is skipped")
    func lines() {
        let line = #"{"level":"info","message":"leased","event":"leased","seconds":1.5,"#
        let rest = #""worker":"w1","round":3,"micro_batch":2,"attempt":1,"reason":"next"}"#
        #expect(
            ClusterFact(line: line + rest) == fact(.leased, 1.5, "w1", 2, round: 3))
        for bad in [line, "", "{}", #"{"event":"leased"}"#, #"{"event":"x","seconds":1}"#] {
            #expect(ClusterFact(line: bad) == nil)
        }
    }

    @Test("every third blow is a stop, and there are as many kills as asked for")
    func plan() {
        for kills in [1, 2, 3, 50] {
            let plan = RecoveryBench.Plan(kills: kills, steps: 1, seed: 0)
            let kinds = (0..<plan.blows).map(plan.kind(ofBlow:))
            #expect(kinds.count { $0 == .kill } == kills, "\(kills)")
        }
    }
}
