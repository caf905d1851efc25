import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinTraining

/// Unpacks a result and compares it with what the plan says: nothing a worker sends is trusted.
struct ResultCheck: Sendable {
    enum Verdict: Sendable {
        /// `isRecorded`: an earlier start of the run has recorded the same.
        case accepted(MicroBatchResult, isRecorded: Bool = false)
        /// Well-formed, but with a NaN or an infinity, as of a broken worker or a run that diverged; or
        /// with another number than the run has recorded.
        case doubtful(MicroBatchResult, detail: String)
        case refused(detail: String)

        var result: MicroBatchResult? {
            switch self {
            case .accepted(let result, _), .doubtful(let result, _): result
            case .refused: nil
            }
        }

        var outcome: CoordinatorState.CheckOutcome {
            switch self {
            case .accepted(_, let isRecorded): isRecorded ? .confirmed : .accepted
            case .doubtful(_, let detail): .doubtful(detail)
            case .refused(let detail): .refused(detail)
            }
        }
    }

    let round: RoundWork
    let recipe: WorkRecipe
    let codec: GradientCodec
    let parameterCount: Int
    /// Set in a run with local steps.
    var local: LocalSettings?

    /// A result that agrees with the plan, as far as it has been checked.
    private struct Opened {
        let received: ReceivedResult
        let digest: SHA256.Digest
        let inputs: WorkInputs
        /// Empty for an evaluation.
        let gradient: [Float]
        /// The state that a logical worker's local steps ended with.
        var state: NamedState?
        var logProbabilities: [Double] = []
    }

    private enum Opening {
        case open(Opened)
        case refused(detail: String)
    }

    /// Checks a result; blocks for some milliseconds for a gradient of a million numbers.
    func callAsFunction(_ received: ReceivedResult) -> Verdict {
        switch open(received) {
        case .refused(let detail): .refused(detail: detail)
        case .open(let opened): verdict(on: opened, GradientCodec.digest(of: opened.gradient))
        }
    }

    /// Both verdicts, sooner than one after the other: their gradients are hashed side by side.
    func callAsFunction(_ first: ReceivedResult, _ second: ReceivedResult) -> [Verdict] {
        let openings = (open(first), open(second))
        guard case (.open(let one), .open(let two)) = openings else {
            return [openings.0, openings.1].map { opening in
                switch opening {
                case .refused(let detail): .refused(detail: detail)
                case .open(let opened):
                    verdict(on: opened, GradientCodec.digest(of: opened.gradient))
                }
            }
        }
        let digests = GradientCodec.digests(of: one.gradient, two.gradient)
        return [verdict(on: one, digests.0), verdict(on: two, digests.1)]
    }

    /// Checks everything but the hash and the numbers.
    private func open(_ received: ReceivedResult) -> Opening {
        let result = received.result
        let index = Int(result.key.index)
        guard round.expected.indices.contains(index), result.kind == round.work.kind
        else {
            return .refused(detail: "there is no such work in this round")
        }
        let expected = round.expected[index]
        guard result.tokens == expected.tokens, result.lossTokens == expected.lossTokens else {
            return .refused(
                detail:
                    "\(Figures.count(Int(result.tokens), "token")), \(result.lossTokens) of them with loss; the plan "
                    + "has \(expected.tokens) and \(expected.lossTokens)")
        }
        guard result.correct <= result.lossTokens else {
            return .refused(detail: "\(result.correct) correct of \(result.lossTokens) tokens")
        }
        guard let digest = SHA256.Digest(result.digest) else {
            return .refused(detail: "its SHA-256 is not 32 bytes long")
        }
        let inputs = round.inputs(index, recipe)
        guard result.inputs == inputs.digest.bytes else {
            return .refused(
                detail: "it was computed from other parameters, rows or options than those of its "
                    + "lease")
        }
        switch round.work {
        case .gradient:
            do {
                let gradient = try codec.unpack(result.payload, count: parameterCount)
                return .open(
                    Opened(received: received, digest: digest, inputs: inputs, gradient: gradient))
            } catch {
                let reason = (error as? any Explained)?.explanation.what ?? "\(error)"
                return .refused(detail: "its gradient cannot be unpacked: \(reason)")
            }
        case .evaluation:
            return result.payload.isEmpty
                ? .open(
                    Opened(received: received, digest: digest, inputs: inputs, gradient: []))
                : .refused(detail: "an evaluation has no gradient")
        case .local(let outer): return openLocal(received, digest, inputs, outer, index)
        case .logProbabilities:
            let count = round.rows[index].count
            guard let values = LogProbabilityPayload.values(result.payload, count: count),
                SHA256.digest(of: result.payload) == digest,
                result.lossSum.bitPattern == (-values.reduce(0, +)).bitPattern
            else {
                return .refused(detail: "its log-probabilities are not those of \(count) rows")
            }
            return .open(
                Opened(
                    received: received, digest: digest, inputs: inputs, gradient: [],
                    logProbabilities: values))
        }
    }

    /// The same for a logical worker's result: its change, and its state if the round wants it.
    private func openLocal(
        _ received: ReceivedResult, _ digest: SHA256.Digest, _ inputs: WorkInputs,
        _ outer: OuterRound, _ index: Int
    ) -> Opening {
        guard let local, let payload = LocalPayload(received.result.payload),
            let name = SHA256.Digest(payload.name)
        else { return .refused(detail: "its payload is not that of local steps") }
        let (work, wantsState) = (outer.work[index], outer.wantsState[index])
        guard payload.state.isEmpty != wantsState else {
            return .refused(
                detail: wantsState ? "it does not bring its state" : "nobody asked for its state")
        }
        do {
            let change = try local.codec.unpack(payload.change, count: parameterCount)
            var state: LocalState?
            if wantsState {
                let unpacked = try LocalState(
                    packed: payload.state, count: parameterCount,
                    steps: work.stepsDone + work.steps.count)
                guard unpacked.digest == name else {
                    return .refused(detail: "its state has another SHA-256 than it says")
                }
                state = unpacked
            }
            return .open(
                Opened(
                    received: received, digest: digest, inputs: inputs, gradient: change,
                    state: NamedState(digest: name, state: state)))
        } catch {
            let reason = (error as? any Explained)?.explanation.what ?? "\(error)"
            return .refused(detail: "its change or state cannot be unpacked: \(reason)")
        }
    }

    /// Checks the hash and the numbers; `digest` is SHA-256 of the unpacked gradient.
    private func verdict(on opened: Opened, _ digest: SHA256.Digest) -> Verdict {
        let (result, gradient) = (opened.received.result, opened.gradient)
        switch round.work {
        case .gradient, .local:
            guard digest == opened.digest else {
                return .refused(detail: "its SHA-256 is not that of its gradient")
            }
        case .evaluation, .logProbabilities: break
        }
        var checked = MicroBatchResult(
            index: Int(result.key.index),
            sum: GradientSum(
                tokens: Int(result.tokens), lossTokens: Int(result.lossTokens),
                lossSum: result.lossSum, gradient: gradient),
            correct: Int(result.correct), digest: opened.digest, worker: opened.received.worker,
            attempt: Int(result.attempt), state: opened.state)
        checked.inputs = opened.inputs
        checked.logProbabilities = opened.logProbabilities
        if let value = opened.logProbabilities.first(where: { !$0.isFinite || $0 > 0 }) {
            return .doubtful(checked, detail: "a log-probability is \(value)")
        }
        if case .logProbabilities(let entries) = round.work, let recorded = entries[checked.index] {
            if recorded.valuesDigest == "\(opened.digest)" {
                return .accepted(checked, isRecorded: true)
            }
            return .doubtful(
                checked,
                detail: "the ledger has other log-probabilities, computed by "
                    + recorded.worker)
        }
        guard result.lossSum.isFinite else {
            return .doubtful(checked, detail: "its loss is \(result.lossSum)")
        }
        if let place = GradientNorm.firstNotFinite(in: gradient) {
            return .doubtful(
                checked, detail: "its gradient is not finite, first at number \(place)")
        }
        return .accepted(checked)
    }
}

extension WorkResult {
    /// SHA-256 of what counts in a result: equal if and only if two results agree.
    var vote: [UInt8] {
        var hash = SHA256()
        // The digest of an evaluation means nothing.
        if kind != .evaluation { hash.update(digest) }
        if kind == .local { hash.update(Array(payload.prefix(32))) }
        // There are many NaNs; they all count as equal.
        let loss = lossSum.isNaN ? Double.nan : lossSum
        for number in [loss.bitPattern, UInt64(lossTokens), UInt64(correct), UInt64(tokens)] {
            hash.update((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
        }
        return hash.finish().bytes
    }
}
