import SkeinModels
import SkeinTensors

/// Reads many sequences over one copy of the weights: different lengths, different adapters, joining
/// and leaving between any two tokens.
///
/// A step reads a part of the prompts that wait and the next tokens of answers, whose rows share one
/// read of the weights. What a sequence gets never depends on who else is there, on how its prompt
/// was cut or on the number of threads: it is what `DecoderSession` gives it alone. The caller
/// picks the tokens, from the logits, and feeds them. No order of calls traps: what cannot be done
/// is refused, with a reason. Not Sendable: one thread owns it; others give it what they want
/// through that thread. `BatchPlan` bounds and states its memory.
package final class BatchDecoder {
    /// A sequence from its admission until it leaves.
    package struct SequenceID: Hashable, Sendable {
        let number: Int
    }

    /// The answer to a sequence that wants to join.
    package enum Admission: Equatable, Sendable {
        case admitted(SequenceID)
        /// Not now: when others have left there is room.
        case full(neededBytes: Int, freeBytes: Int, freeSequences: Int)
        /// Never: the row is longer than the plan's context.
        case tooLong(tokens: Int, limit: Int)
        /// Never: it alone needs more than all sequences may take.
        case tooLarge(neededBytes: Int, limit: Int)
        /// Never: the adapter's rank is above the plan's.
        case rankTooLarge(rank: Int, limit: Int)
        /// A prompt has at least one token.
        case emptyPrompt
        /// Never: the model has no such token.
        case unknownToken(Int32, limit: Int)
    }

    /// Whether a sequence takes the tokens that it is fed; if not, nothing has changed.
    package enum Feeding: Equatable, Sendable {
        case fed
        /// It has left, or never joined.
        case unknownSequence
        /// What it has been given before is still to be read, or logits of it are still to be given.
        case busy
        /// Nothing was fed.
        case noTokens
        /// More tokens than it was admitted for.
        case tooLong(tokens: Int, room: Int)
        /// The model has no such token.
        case unknownToken(Int32, limit: Int)
    }

    /// What a sequence gets for the last token of its prompt, or for a token that it was fed.
    package struct Logits {
        package let id: SequenceID
        /// Which of the fed tokens this is for; nil: the prompt's last.
        package let index: Int?
        /// The token's position in a prompt all of whose logits are wanted; nil: it is no such token.
        package var promptPosition: Int? = nil
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
        /// What is still to be read as a prompt.
        var prompt: ArraySlice<Int32> = []
        /// Which fed token ends `prompt`, when a row is read again because of it; nil: none.
        var promptIndex: Int?
        /// What was fed and is still to be read; an index is that of the token among those fed.
        var answer: ArraySlice<Int32> = []
        var wantsEach = false
        /// Whether the logits of all tokens of the prompt are wanted, which is still being read.
        var tellsPrompt = false
        var cachedTokens = 0
        /// Positions that were read and whose logits this step still has to give.
        var owed = 0..<0
        /// When it last had rows: of all turns so far, the number of its last.
        var lastTurn = 0

        var isPrompting: Bool { unread != nil || !prompt.isEmpty }
        var isIdle: Bool { !isPrompting && answer.isEmpty }
    }

    package let plan: BatchPlan
    package let prefixes: PrefixCache?
    let pass: GenerationPass
    let rotations: [Rotation]
    var members: [SequenceID: Member] = [:]
    /// In the order in which prompts get their parts; those without a prompt are skipped.
    var order: [SequenceID] = []
    private var admitted = 0
    /// Turns of all members so far.
    var turns = 0
    /// A step within a step would read into the logits that the outer one gives.
    var isStepping = false
    /// Between `willRead` and `didRead` no sequence may change.
    var isReading = false
    var pace = PromptPace()
    /// Seconds since some moment.
    let clock: () -> Double

    /// Bytes that the plan counts for the members.
    package private(set) var cacheBytesInUse = 0

    /// - Parameters:
    ///   - weights: the one copy.
    ///   - plan: what may be held; memory for activations is taken now, for keys and values when
    ///     sequences join.
    ///   - team: the threads that compute; no other work may use them at the same time.
    ///   - prefixes: of the same model.
    ///   - clock: seconds since some moment, for the pace of prompts; no result depends on it.
    package init(
        weights: GenerationWeights, plan: BatchPlan, team: ComputeTeam,
        prefixes: PrefixCache? = nil, clock: @escaping () -> Double = BatchDecoder.seconds
    ) {
        self.clock = clock
        self.plan = plan.bounded
        self.prefixes = prefixes
        pass = GenerationPass(
            weights: weights, compute: self.plan.compute, cacheType: self.plan.cacheType,
            team: team, rows: self.plan.rows, capacity: self.plan.context, rank: self.plan.rank)
        rotations = Rotation.ofLayers(weights.configuration, positions: self.plan.context)
    }

    /// Seconds since the process first asked.
    package static func seconds() -> Double { (ContinuousClock.now - began) / .seconds(1) }
    private static let began = ContinuousClock.now

    package var count: Int { members.count }
    /// Whether a step has nothing to read.
    package var isIdle: Bool {
        members.values.allSatisfy(\.isIdle)
    }
    /// Tokens computed so far, those that were read again included.
    package var tokensComputed: Int { pass.tokensComputed }

    /// What is held at most, adapters apart.
    package var memory: MemoryStatement {
        plan.memory(
            of: pass.model, threads: pass.team.threadCount, weights: pass.weights,
            prefixBytes: prefixes?.byteLimit ?? 0)
    }

    /// What is held now, counted and not planned, by the same kinds.
    var heldMemory: MemoryStatement {
        let token = MemoryLayout<Int32>.stride
        return MemoryStatement(
            weightBytes: pass.weights.byteCount, activationBytes: pass.memory.byteCount,
            tableBytes: Rotation.heldBytes(rotations),
            cacheBytes: members.values.reduce(0) { sum, member in
                // A slice holds the whole array.
                let prompt = member.unread?.count ?? member.prompt.endIndex
                return sum + member.sequence.heldBytes
                    + (prompt + member.answer.endIndex) * token
            }, prefixBytes: prefixes?.usage.bytes ?? 0)
    }

    /// Lets a sequence join, if it fits until its last token.
    ///
    /// - Parameters:
    ///   - prompt: read by the steps that follow.
    ///   - maximumTokens: of the answer, forced tokens and guesses included.
    ///   - adapter: of these weights.
    ///   - tellsPrompt: whether the logits of all tokens of the prompt are wanted, and not only of the
    ///     last; then all of them are computed, whatever the prefix cache has.
    ///   - keepsRoom: whether one sequence more must fit beside it: with a whole context, or half of the
    ///     memory if that is less.
    /// - Returns: its name, or why it does not fit.
    package func admit(
        prompt: [Int32], maximumTokens: Int, adapter: GenerationProjections,
        tellsPrompt: Bool = false, keepsRoom: Bool = false
    ) -> Admission {
        precondition(adapter.weights === pass.weights, "one copy of the weights")
        let (tokens, overflows) = prompt.count.addingReportingOverflow(max(0, maximumTokens))
        if prompt.isEmpty { return .emptyPrompt }
        if let unknown = unknownToken(in: prompt) {
            return .unknownToken(unknown, limit: pass.model.vocabularySize)
        }
        if overflows || tokens > plan.context {
            return .tooLong(tokens: overflows ? .max : tokens, limit: plan.context)
        }
        if adapter.rank > plan.rank {
            return .rankTooLarge(rank: adapter.rank, limit: plan.rank)
        }
        let bytes = plan.sequenceBytes(tokens, of: pass.model)
        if bytes > plan.cacheBytes { return .tooLarge(neededBytes: bytes, limit: plan.cacheBytes) }
        var free = plan.cacheBytes - cacheBytesInUse
        if keepsRoom {
            free -= min(plan.sequenceBytes(plan.context, of: pass.model), plan.cacheBytes / 2)
        }
        if bytes > free || members.count >= plan.sequences - (keepsRoom ? 1 : 0) {
            return .full(
                neededBytes: bytes, freeBytes: free, freeSequences: plan.sequences - members.count)
        }
        let id = SequenceID(number: admitted)
        admitted += 1
        let sequence = CachedSequence(
            pass.model, adapter, rotations: rotations, type: plan.cacheType, capacity: tokens,
            appended: pass.blockTokens)
        members[id] = Member(
            sequence: sequence, bytes: bytes, unread: prompt, tellsPrompt: tellsPrompt)
        order.append(id)
        cacheBytesInUse += bytes
        return .admitted(id)
    }

    /// Gives a sequence's memory back, at once if nothing of it is being read: one that joins in
    /// the same closure takes its place and not more. What of it was unread is dropped, and it gets
    /// no further logits. Nothing for a sequence that is not there.
    package func leave(_ id: SequenceID) {
        guard let member = members.removeValue(forKey: id) else { return }
        order.removeAll { $0 == id }
        cacheBytesInUse -= member.bytes
    }

    /// The first of `tokens` that the model does not have.
    func unknownToken(in tokens: [Int32]) -> Int32? {
        let limit = pass.model.vocabularySize
        return tokens.first { $0 < 0 || Int($0) >= limit }
    }
}
