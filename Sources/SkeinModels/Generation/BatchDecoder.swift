import SkeinTensors

/// Reads many sequences over one copy of the weights: different lengths, different adapters, joining
/// and leaving between any two tokens.
///
/// A step reads a part of the prompts that wait and the next tokens of all answers, whose rows share
/// one read of the weights. What a sequence gets never depends on who else is there, on how its
/// prompt was cut or on the number of threads: it is what `DecoderSession` gives it alone. Whoever
/// steps picks the tokens, from the logits, and feeds them. Not Sendable: one thread owns it; others
/// give it what they want through that thread. `BatchPlan` bounds and states its memory.
package final class BatchDecoder {
    /// A sequence from its admission until it leaves.
    package struct SequenceID: Hashable, Sendable {
        let number: Int
    }

    /// The answer to somebody who wants to join.
    package enum Admission: Equatable, Sendable {
        case admitted(SequenceID)
        /// Not now: when others have left there is room.
        case full(neededBytes: Int, freeBytes: Int, freeSequences: Int)
        /// Never: the row is longer than the plan's context.
        case tooLong(tokens: Int, limit: Int)
        /// Never: it alone needs more than all keys and values may take.
        case tooLarge(neededBytes: Int, limit: Int)
        /// Never: the adapter's rank is above the plan's.
        case rankTooLarge(rank: Int, limit: Int)
        /// A prompt has at least one token.
        case emptyPrompt
        /// Never: the model has no such token.
        case unknownToken(Int32, limit: Int)
    }

    /// What a sequence gets for the last token of its prompt, or for a token that it was fed.
    package struct Logits {
        package let id: SequenceID
        /// Of the fed tokens the one that this is for; nil: the prompt's last.
        package let index: Int?
        /// [V], valid only while the closure runs that gets it.
        package let values: UnsafeBufferPointer<Float>
    }

    /// What a step did.
    package struct Step: Equatable, Sendable {
        package var promptTokens = 0
        package var answerTokens = 0
    }

    struct Member {
        let sequence: CachedSequence
        let bytes: Int
        /// The prompt from its first token, until reading begins.
        var unread: [Int32]?
        /// What is still to be read as a prompt, and in `answer` the token that its logits are for.
        var prompt: ArraySlice<Int32> = []
        var promptIndex: Int?
        /// What was fed and is still to be read.
        var answer: ArraySlice<Int32> = []
        var wantsEach = false
        var cachedTokens = 0

        var isPrompting: Bool { unread != nil || !prompt.isEmpty }
        var isIdle: Bool { !isPrompting && answer.isEmpty }
    }

    package let plan: BatchPlan
    package let prefixes: PrefixCache?
    let pass: GenerationPass
    private let rotations: [Rotation]
    var members: [SequenceID: Member] = [:]
    /// In the order in which prompts get their parts; those without a prompt are skipped.
    var order: [SequenceID] = []
    private var admitted = 0
    var pace = PromptPace()
    /// Seconds since some moment.
    let clock: () -> Double

    /// Bytes of keys and values of the members.
    package private(set) var cacheBytesInUse = 0

    /// - Parameters:
    ///   - weights: the one copy.
    ///   - plan: what may be held; memory for activations is taken now, for keys and values when
    ///     sequences join.
    ///   - team: the threads that compute; nobody else may use them at the same time.
    ///   - prefixes: of the same model.
    ///   - clock: seconds since some moment, for the pace of prompts; no result depends on it.
    package init(
        weights: GenerationWeights, plan: BatchPlan, team: ComputeTeam,
        prefixes: PrefixCache? = nil, clock: @escaping () -> Double = BatchDecoder.seconds
    ) {
        self.clock = clock
        self.plan = plan
        self.prefixes = prefixes
        pass = GenerationPass(
            weights: weights, compute: plan.compute, cacheType: plan.cacheType, team: team,
            rows: plan.rows, capacity: plan.context, rank: plan.rank)
        rotations = Rotation.ofLayers(weights.configuration, positions: plan.context)
    }

    /// Seconds since the process first asked.
    package static func seconds() -> Double { (ContinuousClock.now - began) / .seconds(1) }
    private static let began = ContinuousClock.now

    package var count: Int { members.count }
    /// Whether a step has something to read.
    package var isIdle: Bool {
        members.values.allSatisfy(\.isIdle)
    }
    /// Tokens computed so far, those that were read again included.
    package var tokensComputed: Int { pass.tokensComputed }

    /// Lets a sequence join, if it fits until its last token.
    ///
    /// - Parameters:
    ///   - prompt: read by the steps that follow.
    ///   - maximumTokens: of the answer, forced tokens and guesses included.
    ///   - adapter: of these weights.
    /// - Returns: its name, or why it does not fit.
    package func admit(
        prompt: [Int32], maximumTokens: Int, adapter: GenerationProjections
    ) -> Admission {
        precondition(adapter.weights === pass.weights, "one copy of the weights")
        let (tokens, overflows) = prompt.count.addingReportingOverflow(max(0, maximumTokens))
        if prompt.isEmpty { return .emptyPrompt }
        let vocabulary = pass.model.vocabularySize
        if let unknown = prompt.first(where: { $0 < 0 || Int($0) >= vocabulary }) {
            return .unknownToken(unknown, limit: vocabulary)
        }
        if overflows || tokens > plan.context {
            return .tooLong(tokens: overflows ? .max : tokens, limit: plan.context)
        }
        if adapter.rank > plan.rank {
            return .rankTooLarge(rank: adapter.rank, limit: plan.rank)
        }
        let bytes = plan.sequenceBytes(tokens, of: pass.model)
        if bytes > plan.cacheBytes { return .tooLarge(neededBytes: bytes, limit: plan.cacheBytes) }
        let free = plan.cacheBytes - cacheBytesInUse
        if bytes > free || members.count >= plan.sequences {
            return .full(
                neededBytes: bytes, freeBytes: free, freeSequences: plan.sequences - members.count)
        }
        let id = SequenceID(number: admitted)
        admitted += 1
        let sequence = CachedSequence(
            pass.model, adapter, rotations: rotations, type: plan.cacheType, capacity: tokens,
            appended: pass.blockTokens)
        members[id] = Member(sequence: sequence, bytes: bytes, unread: prompt)
        order.append(id)
        cacheBytesInUse += bytes
        return .admitted(id)
    }

    /// Gives a sequence's memory back. Not for a sequence that is not there; in a step only from the
    /// closure that gets logits.
    package func leave(_ id: SequenceID) {
        guard let member = members.removeValue(forKey: id) else { return }
        order.removeAll { $0 == id }
        cacheBytesInUse -= member.bytes
    }

    /// The next tokens of a sequence whose logits were given, at least one, with room for them.
    ///
    /// - Parameters:
    ///   - id: a member.
    ///   - tokens: more than one are a forced run, or a guess.
    ///   - wantsEach: whether the logits of each are wanted, and not only of the last.
    package func feed(_ id: SequenceID, _ tokens: [Int32], wantsEach: Bool = false) {
        guard var member = members[id] else { return }
        precondition(
            member.isIdle && !tokens.isEmpty && tokens.count <= member.sequence.room,
            "a sequence is fed what fits, once what it was fed has been read")
        member.answer = tokens[...]
        member.wantsEach = wantsEach
        members[id] = member
    }

    /// Tokens of a guess that a member may be fed so that `truncate` leaves no trace of them.
    package func guessRoom(of id: SequenceID) -> Int { members[id]?.sequence.guessRoom ?? 0 }

    /// Forgets a sequence's last tokens, for example a guess that was wrong, once they were read.
    ///
    /// - Returns: whether it could; always within `guessRoom`.
    package func truncate(_ id: SequenceID, to tokens: Int) -> Bool {
        guard let member = members[id], member.sequence.canTruncate(to: tokens) else {
            return false
        }
        member.sequence.truncate(to: tokens)
        return true
    }

    /// Tokens of a member that were read: of its prompt, and what it was fed.
    package func tokenCount(of id: SequenceID) -> Int { members[id]?.sequence.count ?? 0 }
    /// Tokens of a member's prompt that were not computed, once reading has begun.
    package func cachedTokens(of id: SequenceID) -> Int { members[id]?.cachedTokens ?? 0 }
}
