import SkeinBasics
import SkeinCoordination
import SkeinRows
import SkeinTraining
import Testing

@testable import SkeinCluster

@Suite("checks of results")
struct ResultCheckTests {
    private static let count = 1000
    private static let recipe = WorkRecipe(model: [], TrainingConfiguration.fixed)
    private static let round = RoundWork(
        number: 7, label: .step(3), work: .gradient(nil), step: 3,
        rows: (0..<4).map { index in
            [TokenizedRow(number: index, ids: [1, 2, 3, 4], targets: [1..<4])]
        },
        publication: ParameterPublication(
            version: 1, digest: [UInt8](repeating: 4, count: 32), bases: [], differences: [],
            snapshot: nil))
    private let check = ResultCheck(
        round: round, recipe: recipe, codec: .fp32, parameterCount: count)

    private func candidate(
        _ index: Int, numbers: [Float]? = nil, digest: [UInt8]? = nil, tokens: UInt32 = 4
    ) -> ReceivedResult {
        var gradient =
            numbers ?? (0..<Self.count).map { (i: Int) -> Float in Float(i * (index + 1)) / 64 }
        let payload = GradientCodec.fp32.pack(&gradient, seed: 0, step: 3, microBatch: index)
        return ReceivedResult(
            peer: PeerID(1), worker: "w\(index)",
            result: WorkResult(
                key: WorkKey(round: 7, index: UInt32(index)), attempt: 1, kind: .gradient,
                tokens: tokens, lossTokens: 3, correct: 0, lossSum: 2.5,
                digest: digest ?? GradientCodec.digest(of: gradient).bytes,
                inputs: index < 4 ? Self.round.inputs(index, Self.recipe).digest.bytes : [],
                payload: payload))
    }

    /// A verdict as text, with the gradient to be summed.
    private func text(_ verdict: ResultCheck.Verdict) -> String {
        switch verdict {
        case .accepted(let result, let isRecorded):
            "accepted \(result.index) \(result.worker) \(result.sum.gradient)"
                + (isRecorded ? " as recorded" : "")
        case .doubtful(let result, let detail): "\(result.index) \(result.sum.gradient) \(detail)"
        case .refused(let detail): detail
        }
    }

    @Test("two results checked at once get the verdicts that each gets alone")
    func pairs() {
        let candidates = [
            candidate(0), candidate(1), candidate(2, tokens: 5),
            candidate(3, digest: [UInt8](repeating: 1, count: 32)),
            candidate(1, numbers: [Float](repeating: .nan, count: Self.count)),
            candidate(0, numbers: [1, 2]), candidate(9),
        ]
        for first in candidates {
            for second in candidates {
                #expect(
                    check(first, second).map(text) == [text(check(first)), text(check(second))])
            }
        }
        #expect(text(check(candidates[0])).hasPrefix("accepted 0 w0"))
        #expect(text(check(candidates[3])) == "its SHA-256 is not that of its gradient")
    }

    @Test("a result of other parameters, rows, options or another step or place is refused")
    func inputs() {
        func digest(
            _ recipe: WorkRecipe, parameters: UInt8 = 4, step: Int = 3, row: Int = 0,
            ids: [Int32] = [1, 2, 3, 4], work: RoundWork.Work = .gradient(nil)
        ) -> [UInt8] {
            RoundWork(
                number: 9, label: .step(step), work: work, step: step,
                rows: [[TokenizedRow(number: row, ids: ids, targets: [1..<4])]],
                publication: ParameterPublication(
                    version: 2, digest: [UInt8](repeating: parameters, count: 32), bases: [],
                    differences: [], snapshot: nil)
            ).inputs(0, recipe).digest.bytes
        }
        var options = TrainingConfiguration.fixed
        options.seed = 1
        let good = candidate(0).result.inputs
        #expect(digest(Self.recipe) == good, "the round's number and the version do not matter")
        let others = [
            digest(WorkRecipe(model: [1], TrainingConfiguration.fixed)),
            digest(WorkRecipe(model: [], options)), digest(Self.recipe, parameters: 5),
            digest(Self.recipe, step: 4), digest(Self.recipe, row: 1),
            digest(Self.recipe, ids: [1, 2, 3, 5]), digest(Self.recipe, work: .evaluation(nil)),
            digest(Self.recipe, work: .logProbabilities(recorded: [nil])),
            Self.round.inputs(1, Self.recipe).digest.bytes,
        ]
        #expect(Set(others + [good]).count == others.count + 1)
        for other in others {
            var wrong = candidate(0)
            wrong = ReceivedResult(
                peer: wrong.peer, worker: wrong.worker,
                result: {
                    var result = wrong.result
                    result.inputs = other
                    return result
                }())
            #expect(text(check(wrong)).hasPrefix("it was computed from other parameters"))
        }
    }

    @Test("log-probabilities that the run has recorded otherwise are doubtful")
    func recorded() {
        let values = [-2.5]
        let payload = LogProbabilityPayload.bytes(of: values)
        func verdict(recorded: String?) -> String {
            let entry = GroupEntry(
                .reference(of: .training), step: 0, group: 0, worker: "first", attempt: 1,
                tokens: 4, lossTokens: 3, lossSum: 2.5, valuesDigest: recorded, inputsDigest: "")
            let round = RoundWork(
                number: 7, label: .references,
                work: .logProbabilities(recorded: recorded == nil ? [nil] : [entry]), step: 0,
                rows: [Self.round.rows[0]], publication: Self.round.publication)
            let check = ResultCheck(
                round: round, recipe: Self.recipe, codec: .fp32, parameterCount: Self.count)
            return text(
                check(
                    ReceivedResult(
                        peer: PeerID(1), worker: "w1",
                        result: WorkResult(
                            key: WorkKey(round: 7, index: 0), attempt: 1, kind: .logProbabilities,
                            tokens: 4, lossTokens: 3, correct: 0, lossSum: 2.5,
                            digest: SHA256.digest(of: payload).bytes,
                            inputs: round.inputs(0, Self.recipe).digest.bytes, payload: payload))))
        }
        let good = "accepted 0 w1 []"
        #expect(verdict(recorded: nil) == good)
        #expect(verdict(recorded: "\(SHA256.digest(of: payload))") == good + " as recorded")
        let other = LogProbabilityPayload.bytes(of: [-1])
        #expect(
            verdict(recorded: "\(SHA256.digest(of: other))")
                == "0 [] the ledger has other log-probabilities, computed by first")
    }

    @Test("the second of a pair is the next item, if that is a result of the same round")
    func next() {
        let inbox = RunInbox()
        #expect(inbox.takeCheck(round: 7)?.worker == nil)
        inbox.put(.check(candidate(0)))
        inbox.put(.settled(round: 7))
        inbox.put(.check(candidate(1)))
        #expect(inbox.takeCheck(round: 8)?.worker == nil)
        #expect(inbox.takeCheck(round: 7)?.worker == "w0")
        #expect(inbox.takeCheck(round: 7)?.worker == nil)
        guard case .settled(7)? = inbox.takeNow() else {
            Issue.record("the order was changed")
            return
        }
        #expect(inbox.takeCheck(round: 7)?.worker == "w1")
    }
}
