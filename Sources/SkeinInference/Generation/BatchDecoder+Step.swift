/// One step: a part of the prompts, then one pass of answers.
extension BatchDecoder {
    /// Reads a part of the prompts, then the next tokens of answers: at most `plan.rows` of them.
    ///
    /// Each sequence that waits gets a row before any gets a second one; those who had rows longest
    /// ago come first, and long runs share what is left. The next step reads the rest; logits come
    /// when their token is read.
    ///
    /// `each` may feed the sequence, cut it, let it leave and admit others; what is fed before the
    /// answers are read is read with them. `check` is called before each layer, and before each block
    /// that the prefix cache gives; what it throws ends the step, and what was not read is read by the
    /// next one. What `each` throws ends it, too; logits that were not given then are lost. A step
    /// within a step does nothing.
    @discardableResult
    package func step(
        check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows -> Step {
        var step = Step()
        if isStepping { return step }
        isStepping = true
        defer { isStepping = false }
        try readPrompts(&step, check: check, each)
        let began = clock()
        try readAnswers(&step, check: check, each)
        // A step without answers says nothing of what they take.
        if step.answerTokens > 0 { pace.noteAnswers(seconds: clock() - began) }
        return step
    }

    // MARK: Prompts

    private func readPrompts(
        _ step: inout Step, check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows {
        let othersWait = members.values.contains { !$0.answer.isEmpty }
        var left = othersWait ? plan.promptTokens ?? pace.tokens : plan.promptTokens ?? .max
        // Without others one block is enough: a sequence that joins does not wait for more.
        left = min(left, pass.blockTokens)
        while left > 0, let id = order.first(where: { members[$0]?.isPrompting ?? false }) {
            let part = try readPrompt(of: id, most: left, check: check, each)
            step.promptTokens += part.tokens
            left -= PromptPace.charge(part.tokens)
            // The others' turn.
            if let place = order.firstIndex(of: id) { order.append(order.remove(at: place)) }
            if part.hasLogits {
                try each(Logits(id: id, index: part.index, values: pass.logits(0)))
            }
            // A sequence that was fed now waits for its next token: the rest of a block's time is
            // not for others.
            if !othersWait, members.values.contains(where: { !$0.answer.isEmpty }) { return }
            // Copying so much out of the cache was enough of a delay for others.
            if othersWait, part.restored >= Self.manyRestored { return }
        }
    }

    /// Tokens out of the prefix cache that take some ten milliseconds.
    private static let manyRestored = 1024

    /// A part of a prompt that was read.
    private struct PromptPart {
        var tokens = 0
        /// Tokens before it that the prefix cache had.
        var restored = 0
        /// Whether its last token's logits are wanted, and which of the fed tokens that is.
        var hasLogits = false
        var index: Int?
    }

    /// Reads one block of a sequence's prompt; holds nothing of it afterwards, so that it can leave.
    private func readPrompt(
        of id: SequenceID, most: Int, check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows -> PromptPart {
        var restored = 0
        if let prompt = members[id]?.unread {
            let cached = try members[id]?.sequence.reuse(
                for: prompt, from: members[id]?.tellsPrompt == true ? nil : prefixes,
                compute: plan.compute, check: check)
            members[id]?.cachedTokens = cached ?? 0
            members[id]?.prompt = prompt[(cached ?? 0)...]
            members[id]?.unread = nil
            restored = cached ?? 0
        }
        guard let member = members[id] else { return PromptPart() }
        let sequence = member.sequence
        let block = member.prompt.prefix(min(most, pass.blockTokens(after: sequence.count)))
        let isLast = block.count == member.prompt.count
        if member.tellsPrompt {
            return try tellPrompt(block, of: id, member, isLast: isLast, check: check, each)
        }
        let wantsLogits = isLast && (member.wantsEach || member.answer.isEmpty)
        let began = clock()
        try reading {
            try pass.readPrompt(block, of: sequence, wantsLogits: wantsLogits, check: check)
        }
        // What the cache had, and what a told prompt's logits take, says nothing of other prompts.
        pace.noteBlock(block.count, seconds: clock() - began)
        if let prefixes { sequence.store(in: prefixes) }
        // `check` may have let it leave.
        members[id]?.prompt = isLast ? [] : member.prompt[block.endIndex...]
        if isLast { members[id]?.promptIndex = nil }
        return PromptPart(
            tokens: block.count, restored: restored,
            hasLogits: wantsLogits && members[id] != nil,
            index: member.promptIndex)
    }

    /// Reads one block of a prompt all of whose logits are wanted, and gives them.
    private func tellPrompt(
        _ block: ArraySlice<Int32>, of id: SequenceID, _ member: Member, isLast: Bool,
        check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows -> PromptPart {
        let before = member.sequence.count
        // The caller may let the sequence leave, or feed it after the last.
        members[id]?.prompt = isLast ? [] : member.prompt[block.endIndex...]
        if isLast { members[id]?.tellsPrompt = false }
        let end = before + block.count
        members[id]?.owed = before..<end
        defer { members[id]?.owed = 0..<0 }
        do {
            try reading {
                try pass.readPrompt(block, of: member.sequence, check: check) { position, values in
                    guard members[id] != nil else { return }
                    members[id]?.owed = position + 1..<end
                    try each(
                        Logits(id: id, index: nil, promptPosition: position, values: values))
                }
            }
        } catch {
            // Where nothing was read, the next step reads it.
            if member.sequence.count == before {
                members[id]?.prompt = member.prompt
                members[id]?.tellsPrompt = true
            }
            throw error
        }
        return PromptPart(tokens: block.count)
    }

    /// Runs `body` while no sequence may be cut.
    private func reading(_ body: () throws -> Void) rethrows {
        isReading = true
        defer { isReading = false }
        try body()
    }

    // MARK: Answers

    /// Tokens of one sequence that are read in this step, as a slice of what it was fed.
    private typealias Rows = (id: SequenceID, tokens: ArraySlice<Int32>)

    private func readAnswers(
        _ step: inout Step, check: () throws -> Void, _ each: (Logits) throws -> Void
    ) rethrows {
        let rows = nextRows()
        if rows.isEmpty { return }
        let wanted = try read(rows, check: check)
        step.answerTokens += rows.reduce(0) { $0 + $1.tokens.count }
        defer { for row in rows { members[row.id]?.owed = 0..<0 } }
        for (place, row) in wanted.enumerated() {
            // One that left, or was cut before this token, does not get it.
            guard let owed = members[row.id]?.owed, owed.contains(row.position) else { continue }
            members[row.id]?.owed = row.position + 1..<owed.upperBound
            try each(Logits(id: row.id, index: row.index, values: pass.logits(place)))
        }
    }

    /// The rows of this step.
    private func nextRows() -> [Rows] {
        // Those that are read again as prompts take no row from others.
        for id in order {
            guard let member = members[id], !member.answer.isEmpty, !member.isPrompting,
                member.sequence.rowsTurnedAlike(member.answer, most: 1).isEmpty
            else { continue }
            readAgain(id)
        }
        let waiting = order.enumerated().compactMap { place, id in
            members[id].flatMap { member in
                member.answer.isEmpty || member.isPrompting
                    ? nil : (turn: (member.lastTurn, place), id: id, count: member.answer.count)
            }
        }.sorted { $0.turn < $1.turn }.prefix(plan.rows)
        let shares = Self.shares(of: plan.rows, among: waiting.map(\.count))
        var rows: [Rows] = []
        for (one, most) in zip(waiting, shares) {
            guard let member = members[one.id] else { continue }
            rows.append((one.id, member.sequence.rowsTurnedAlike(member.answer, most: most)))
        }
        return rows
    }

    /// One row for each, then one more for each that wants more, until none are left; `counts`: how
    /// many each wants, of at most `rows` sequences.
    static func shares(of rows: Int, among counts: [Int]) -> [Int] {
        var shares = counts.map { _ in 0 }
        var left = rows
        while left > 0 {
            let before = left
            for place in counts.indices where left > 0 && shares[place] < counts[place] {
                shares[place] += 1
                left -= 1
            }
            if left == before { break }
        }
        return shares
    }

    /// Reads some rows; those whose logits are wanted, in the order of `pass.logits`. Holds nothing
    /// of the sequences afterwards, so that they can leave.
    private func read(
        _ rows: [Rows], check: () throws -> Void
    ) rethrows -> [(id: SequenceID, index: Int, position: Int)] {
        let items = rows.compactMap { row in
            members[row.id].map { (sequence: $0.sequence, tokens: row.tokens) }
        }
        for item in items { item.sequence.plan(item.tokens.count) }
        let batch = RowBatch(items)
        let places = batch.rows.indices.filter { place in
            let row = batch.rows[place]
            guard let member = members[rows[row.item].id] else { return false }
            return member.wantsEach
                || rows[row.item].tokens.startIndex + row.index + 1 == member.answer.endIndex
        }
        try reading { try pass.readRows(batch, wanted: places, check: check) }
        for row in rows {
            guard let answer = members[row.id]?.answer else { continue }
            let rest = answer[row.tokens.endIndex...]
            members[row.id]?.answer = rest.isEmpty ? [] : rest
            turns += 1
            members[row.id]?.lastTurn = turns
        }
        return places.map { place in
            let row = batch.rows[place]
            let (id, tokens) = rows[row.item]
            let owed = members[id]?.owed ?? 0..<0
            let first = owed.isEmpty ? row.position : owed.lowerBound
            members[id]?.owed = first..<(row.position + 1)
            return (id, tokens.startIndex + row.index, row.position)
        }
    }

    /// From its next token on the row is turned otherwise: all of it is read again, as a prompt.
    private func readAgain(_ id: SequenceID) {
        guard let member = members[id], let next = member.answer.first else { return }
        let all = member.sequence.restart() + [next]
        member.sequence.plan(all.count)
        members[id]?.promptIndex = member.answer.startIndex
        members[id]?.prompt = all[...]
        let rest = member.answer.dropFirst()
        members[id]?.answer = rest.isEmpty ? [] : rest
    }
}
