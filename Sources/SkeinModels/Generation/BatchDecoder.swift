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

    fileprivate struct Member {
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
    }

    package let plan: BatchPlan
    package let prefixes: PrefixCache?
    private let pass: GenerationPass
    private let rotations: [Rotation]
    private var members: [SequenceID: Member] = [:]
    /// In the order in which prompts get their parts; those without a prompt are skipped.
    private var order: [SequenceID] = []
    private var admitted = 0
    private var pace = PromptPace()
    private let clock = ContinuousClock()

    /// Bytes of keys and values of the members.
    package private(set) var cacheBytesInUse = 0

    /// - Parameters:
    ///   - weights: the one copy.
    ///   - plan: what may be held; memory for activations is taken now, for keys and values when
    ///     sequences join.
    ///   - team: the threads that compute; nobody else may use them at the same time.
    ///   - prefixes: of the same model.
    package init(
        weights: GenerationWeights, plan: BatchPlan, team: ComputeTeam,
        prefixes: PrefixCache? = nil
    ) {
        self.plan = plan
        self.prefixes = prefixes
        pass = GenerationPass(
            weights: weights, compute: plan.compute, cacheType: plan.cacheType, team: team,
            rows: plan.rows, capacity: plan.context, rank: plan.rank)
        rotations = Rotation.ofLayers(weights.configuration, positions: plan.context)
    }

    package var count: Int { members.count }
    /// Whether a step has something to read.
    package var isIdle: Bool {
        members.values.allSatisfy { $0.unread == nil && $0.prompt.isEmpty && $0.answer.isEmpty }
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
            member.unread == nil && member.prompt.isEmpty && member.answer.isEmpty
                && !tokens.isEmpty && tokens.count <= member.sequence.room,
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

    /// Reads a part of the prompts, then the next tokens of all answers.
    ///
    /// `each` may feed the sequence, let it leave and admit others; what it is fed before the answers
    /// are read is read with them. `check` is called before each layer; what it throws ends the step,
    /// and what was not read is read by the next one. What `each` throws ends it, too; logits that
    /// were not given then are lost.
    @discardableResult
    package func step(
        check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows -> Step {
        var step = Step()
        try readPrompts(&step, check: check, each)
        let began = clock.now
        try readAnswers(&step, check: check, each)
        pace.noteAnswers(seconds: (clock.now - began) / .seconds(1))
        return step
    }

    private func readPrompts(
        _ step: inout Step, check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows {
        let othersWait = members.values.contains { !$0.answer.isEmpty }
        var left = othersWait ? plan.promptTokens ?? pace.tokens : plan.promptTokens ?? .max
        // Without others one block is enough: whoever wants to join does not wait for more.
        left = min(left, pass.blockTokens)
        while left > 0, let id = order.first(where: { members[$0]?.isPrompting ?? false }) {
            let began = clock.now
            let read = try readPrompt(of: id, most: left, check: check, each)
            pace.noteBlock(read, seconds: (clock.now - began) / .seconds(1))
            step.promptTokens += read
            left -= read
            // The others' turn.
            if let place = order.firstIndex(of: id) { order.append(order.remove(at: place)) }
        }
    }

    /// Reads one block of a sequence's prompt; the tokens read.
    private func readPrompt(
        of id: SequenceID, most: Int, check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows -> Int {
        guard var member = members[id] else { return 0 }
        let sequence = member.sequence
        if let prompt = member.unread {
            member.cachedTokens = sequence.reuse(
                for: prompt, from: prefixes, compute: plan.compute)
            member.prompt = prompt[member.cachedTokens...]
            member.unread = nil
            members[id] = member
        }
        let block = member.prompt.prefix(min(most, pass.blockTokens(after: sequence.count)))
        let isLast = block.count == member.prompt.count
        let wantsLogits = isLast && (member.wantsEach || member.answer.isEmpty)
        try pass.readPrompt(block, of: sequence, wantsLogits: wantsLogits, check: check)
        if let prefixes { sequence.store(in: prefixes) }
        let index = member.promptIndex
        member.prompt.removeFirst(block.count)
        if isLast { member.promptIndex = nil }
        members[id] = member
        if wantsLogits { try each(Logits(id: id, index: index, values: pass.logits(0))) }
        return block.count
    }

    /// Reads what was fed: all of it, in as many passes as there are rows.
    private func readAnswers(
        _ step: inout Step, check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows {
        // What is fed meanwhile is for the next step.
        var waiting = order.filter { !(members[$0]?.answer.isEmpty ?? true) }
        while !waiting.isEmpty {
            var some: [(id: SequenceID, tokens: ArraySlice<Int32>)] = []
            var left = plan.rows
            var rest: [SequenceID] = []
            for id in waiting {
                guard let member = members[id], member.prompt.isEmpty else { continue }
                let tokens = member.sequence.rowsTurnedAlike(
                    member.answer, most: min(left, plan.rows))
                if tokens.isEmpty && left > 0 {
                    readAgain(id)
                    continue
                }
                left -= tokens.count
                if !tokens.isEmpty { some.append((id, tokens)) }
                if tokens.count < member.answer.count { rest.append(id) }
            }
            waiting = rest
            if some.isEmpty { continue }
            try readRows(some, &step, check: check, each)
        }
    }

    private func readRows(
        _ some: [(id: SequenceID, tokens: ArraySlice<Int32>)], _ step: inout Step,
        check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows {
        let items = some.compactMap { item in
            members[item.id].map { (sequence: $0.sequence, tokens: item.tokens) }
        }
        for item in items { item.sequence.plan(item.tokens.count) }
        let batch = RowBatch(items)
        let wanted = batch.rows.indices.filter { index in
            let row = batch.rows[index]
            guard let member = members[some[row.item].id] else { return false }
            return member.wantsEach
                || some[row.item].tokens.startIndex + row.index + 1 == member.answer.endIndex
        }
        try pass.readRows(batch, wanted: wanted, check: check)
        step.answerTokens += batch.rows.count
        for item in some { members[item.id]?.answer.removeFirst(item.tokens.count) }
        for (place, index) in wanted.enumerated() {
            let row = batch.rows[index]
            let item = some[row.item]
            // One that left after its first row gets no others.
            guard members[item.id] != nil else { continue }
            try each(
                Logits(
                    id: item.id, index: item.tokens.startIndex + row.index,
                    values: pass.logits(place)))
        }
    }

    /// From its next token on the row is turned otherwise: all of it is read again, as a prompt.
    private func readAgain(_ id: SequenceID) {
        guard var member = members[id], let next = member.answer.first else { return }
        let all = member.sequence.restart() + [next]
        member.sequence.plan(all.count)
        member.promptIndex = member.answer.startIndex
        member.prompt = all[...]
        member.answer.removeFirst()
        members[id] = member
    }
}

extension BatchDecoder.Member {
    fileprivate var isPrompting: Bool { unread != nil || !prompt.isEmpty }
}
