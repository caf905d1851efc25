import Foundation
import Testing

@testable import SkeinCoordination

@Suite("the snapshot of a run")
struct RunSnapshotTests {
    private static let peer = Waiting.Peer(name: "w1", address: "10.0.0.1:5", lastHeardSeconds: 0.5)
    private static let shortage = Waiting.Shortage(
        missing: 2, present: 1, needed: 3, hasBegun: false, paused: "w9", pausedSeconds: 3,
        preparing: Waiting.Preparing(
            name: "w2", address: "10.0.0.2:5", preparedBytes: 5 << 20, progressSeconds: 1),
        othersPreparing: 1, givesUpInSeconds: 9)

    static let reasons: [(Waiting.Reason, String)] = [
        (.ended, "the run ended 2.0 s ago: it waits for nothing"),
        (
            .starting,
            "the coordinator has been preparing the run for 2.0 s; then it leases the first step"
        ),
        (
            .betweenRounds(activity: "applies AdamW"),
            "between steps: the coordinator applies AdamW (for 2.0 s); then it leases the next step"
        ),
        (.computingHere, "this process has been computing step 7 for 2.0 s"),
        (
            .closing,
            "step 7 has waited 2.0 s for the coordinator: every micro-batch is accepted; it closes "
                + "the round next"
        ),
        (
            .judging(piece: 3, worker: peer, suspects: ["a", "b"]),
            "step 7 has waited 2.0 s for worker w1 (10.0.0.1:5), last heard 0.5 s ago, to tell "
                + "whether a or b computes micro-batch 3 wrongly; then the coordinator closes the "
                + "round"
        ),
        (
            .workersMissing(shortage: shortage),
            "step 7 has waited 2.0 s for 2 more workers (1 of 3 needed is here); w9 may return in "
                + "3.0 s; w2 (10.0.0.2:5) is preparing (5 MiB of the model done, the last 1.0 s "
                + "ago), and 1 more; the run gives up in 9.0 s, counted again whenever a worker "
                + "joins or makes progress with its preparation"
        ),
        (
            .computing(
                piece: 3, worker: peer, outlook: .lost(inSeconds: 1), elsewhere: .computed(by: "w4")
            ),
            "step 7 has waited 2.0 s for micro-batch 3 on worker w1 (10.0.0.1:5), last heard 0.5 s "
                + "ago; it counts as lost in 1.0 s, then w4 computes it, too"
        ),
        (
            .computing(
                piece: 3, worker: peer, outlook: .overdue(bySeconds: 1), elsewhere: .nobody),
            "step 7 has waited 2.0 s for micro-batch 3 on worker w1 (10.0.0.1:5), last heard 0.5 s "
                + "ago; it is 1.0 s past its deadline: the next idle worker gets it, too"
        ),
        (
            .computing(
                piece: 3, worker: peer, outlook: .expected(inSeconds: 0, overdueInSeconds: 4),
                elsewhere: .anotherWorker),
            "step 7 has waited 2.0 s for micro-batch 3 on worker w1 (10.0.0.1:5), last heard 0.5 s "
                + "ago; expected any moment, overdue in 4.0 s"
        ),
        (
            .computing(
                piece: 3, worker: peer, outlook: .unknown(overdueInSeconds: 4), elsewhere: .nobody),
            "step 7 has waited 2.0 s for micro-batch 3 on worker w1 (10.0.0.1:5), last heard 0.5 s "
                + "ago; its first, so its pace is unknown; overdue in 4.0 s"
        ),
        (
            .checking(piece: 3, worker: "w1", unchecked: 2),
            "step 7 has waited 2.0 s for the coordinator: it checks the result of micro-batch 3 "
                + "from w1, 2 in all"
        ),
        (
            .untaken(pieces: 2, worker: peer, lostInSeconds: nil),
            "step 7 has waited 2.0 s for worker w1 (10.0.0.1:5), last heard 0.5 s ago, to take 2 "
                + "micro-batches that nobody computes; it gets work as soon as its results are checked"
        ),
        (
            .away(pieces: 2, worker: "w1", rebuiltInSeconds: 3),
            "step 7 has waited 2.0 s for worker w1, which is gone and has what 2 micro-batches need; "
                + "others rebuild it in 3.0 s"
        ),
    ]

    @Test("every reason has its sentence, and reads back from JSON", arguments: reasons)
    func sentence(reason: Waiting.Reason, sentence: String) throws {
        let waiting = Waiting(round: .step(7), reason: reason, seconds: 2)
        #expect(waiting.sentence == sentence)
        let snapshot = RunSnapshot(run: RunSnapshot.Progress(), waiting: waiting)
        let json = try snapshot.json()
        #expect(try RunSnapshot(json: json) == snapshot)
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        #expect(object["why"] as? String == sentence)
        #expect(object["waiting_seconds"] as? Double == 2)
        #expect((object["run"] as? [String: Any])?["loss"] is NSNull)
    }

    private static func computing(_ outlook: Waiting.Outlook) -> Waiting.Reason {
        .computing(piece: 3, worker: peer, outlook: outlook, elsewhere: .anotherWorker)
    }

    /// What is said while all is well; nil: the whole sentence.
    private static let briefs: [(Waiting.Reason, String?)] = [
        (.computingHere, "computes step 7 (2.0 s)"),
        (.closing, "the coordinator closes step 7 (2.0 s)"),
        (
            .checking(piece: 3, worker: "w1", unchecked: 2),
            "the coordinator checks results of step 7 (2.0 s)"
        ),
        (
            computing(.expected(inSeconds: 0, overdueInSeconds: 4)),
            "w1 computes micro-batch 3 of step 7 (2.0 s)"
        ),
        (
            computing(.unknown(overdueInSeconds: 4)), "w1 computes micro-batch 3 of step 7 (2.0 s)"
        ),
        (
            .untaken(pieces: 2, worker: peer, lostInSeconds: nil),
            "w1 gets work of step 7 as soon as its results are checked (2.0 s)"
        ),
        (computing(.overdue(bySeconds: 1)), nil), (computing(.lost(inSeconds: 1)), nil),
        (.untaken(pieces: 2, worker: peer, lostInSeconds: 3), nil),
        (.workersMissing(shortage: shortage), nil),
        (.judging(piece: 3, worker: peer, suspects: ["a"]), nil),
        (.away(pieces: 2, worker: "w1", rebuiltInSeconds: 3), nil),
    ]

    @Test("nothing has waited as long as nothing is missing, overdue or lost", arguments: briefs)
    func brief(reason: Waiting.Reason, brief: String?) throws {
        let waiting = Waiting(round: .step(7), reason: reason, seconds: 2)
        #expect(waiting.brief == brief ?? waiting.sentence)
        #expect(waiting.isWell == (brief != nil))
        let json = try RunSnapshot(run: RunSnapshot.Progress(), waiting: waiting).json()
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        #expect(object["brief"] as? String == waiting.brief)
    }

    @Test("what is computed is named")
    func work() {
        func brief(_ round: RoundLabel?) -> String {
            Waiting(round: round, reason: .computingHere, seconds: 2).brief
        }
        #expect(brief(.validation(afterStep: 5)) == "computes the validation after step 5 (2.0 s)")
        #expect(
            brief(.references) == "computes the log-probabilities under the reference model (2.0 s)"
        )
        #expect(brief(nil) == "computes the run (2.0 s)")
    }

    @Test("numbers that JSON does not have become null")
    func notFinite() throws {
        var run = RunSnapshot.Progress()
        run.loss = .nan
        run.tokensPerSecond = .infinity
        let snapshot = RunSnapshot(run: run, waiting: Waiting(reason: .ended, seconds: 0))
        let read = try RunSnapshot(json: snapshot.json())
        #expect(read.run.loss == nil && read.run.tokensPerSecond == nil)
    }

    @Test("a status of the largest fleet fits into its message")
    func largest() throws {
        let long = String(repeating: "n", count: Limits.nameBytes)
        let lease = RunSnapshot.Lease(
            round: 1 << 40, microBatch: 1 << 40, seconds: 0.1 + 0.2, progress: 0.123)
        let work = RunSnapshot.Work(
            threads: 1024, leaseCount: 4096, leases: [lease, lease], tokensPerSecond: 1234.5678901,
            accepted: 1 << 40, refused: 1 << 40)
        let worker = RunSnapshot.Worker(
            name: long, address: "[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
            state: .computing, lastHeardSeconds: 0.1 + 0.2, work: work)
        var snapshot = RunSnapshot(
            run: RunSnapshot.Progress(), waiting: Waiting(reason: .ended, seconds: 0))
        snapshot.workers = Array(repeating: worker, count: 1500)
        let began = ContinuousClock.now
        let json = try snapshot.json()
        print("status of 1,500 workers: \(json.count) bytes, \(ContinuousClock.now - began)")
        #expect(json.count < 1 << 20)
        #expect(try RunSnapshot(json: json) == snapshot)
    }
}
