/// One step: a part of the prompts, then the answers.
extension BatchDecoder {
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
        let began = clock()
        try readAnswers(&step, check: check, each)
        pace.noteAnswers(seconds: clock() - began)
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
            let began = clock()
            let read = try readPrompt(of: id, most: left, check: check, each)
            pace.noteBlock(read, seconds: clock() - began)
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
