extension Transcript {
    /// The transcript without its oldest turns, so that it fits a budget.
    ///
    /// A turn is a prompt with everything up to the next one, so calls of tools stay together with
    /// their outputs. Instructions always stay, and so do the newest turns and those with a call
    /// that has no output yet.
    ///
    /// - Parameters:
    ///   - budget: what the entries may take together.
    ///   - newestTurns: how many of the newest turns stay in any case.
    ///   - count: what an entry takes: tokens, or whatever the budget counts.
    /// - Returns: the longest end of the transcript that fits, behind its instructions.
    /// - Throws: `TranscriptError.doesNotFit` if what must stay takes more; what `count` throws.
    public func trimmed(
        to budget: Int, keeping newestTurns: Int = 1, counting count: (Entry) throws -> Int
    ) throws -> Transcript {
        try trimmed(to: budget, keeping: newestTurns, counts: map(count))
    }

    /// The transcript without its oldest turns, so that it fits a budget, for counts that take time.
    /// A count that takes none needs no `await` in an asynchronous function.
    ///
    /// - Parameters:
    ///   - budget: what the entries may take together.
    ///   - newestTurns: how many of the newest turns stay in any case.
    ///   - count: what an entry takes: tokens, or whatever the budget counts.
    /// - Returns: the longest end of the transcript that fits, behind its instructions.
    /// - Throws: `TranscriptError.doesNotFit` if what must stay takes more; what `count` throws.
    @_disfavoredOverload
    nonisolated(nonsending)
        public func trimmed(
            to budget: Int, keeping newestTurns: Int = 1,
            counting count: nonisolated(nonsending) (Entry) async throws -> Int
        ) async throws -> Transcript
    {
        var counts: [Int] = []
        for entry in self { counts.append(try await count(entry)) }
        return try trimmed(to: budget, keeping: newestTurns, counts: counts)
    }

    // `counts` has one number for each entry; negative ones count as 0.
    private func trimmed(
        to budget: Int, keeping newestTurns: Int, counts: [Int]
    ) throws(TranscriptError) -> Transcript {
        let turns = turns()
        let needs = turns.map { turn in turn.range.reduce(0) { $0.adding(counts[$1]) } }
        let instructions = (turns.first?.range.lowerBound ?? count)
        var needed = needs.reduce((0..<instructions).reduce(0) { $0.adding(counts[$1]) }) {
            $0.adding($1)
        }
        // A total that was cut off at Int.max says nothing about what is left without a turn.
        guard needed < .max else { throw .doesNotFit(needed: needed, budget: budget) }
        var kept = Array(self[..<instructions])
        for (index, turn) in turns.enumerated() {
            let mustStay = turn.isOpen || index >= turns.count - Swift.max(0, newestTurns)
            if needed > budget && !mustStay {
                needed -= needs[index]
            } else {
                kept += self[turn.range]
            }
        }
        guard needed <= budget else { throw .doesNotFit(needed: needed, budget: budget) }
        return Transcript(entries: kept)
    }

    private struct Turn {
        var range: Range<Int>
        /// Whether a tool call in it has no output yet.
        var isOpen = false
    }

    /// Everything behind the instructions; what stands before the first prompt is a turn, too.
    private func turns() -> [Turn] {
        var turns: [Turn] = []
        var open = 0
        for (index, entry) in enumerated() {
            switch entry {
            case .instructions where index == 0: continue
            case .prompt: open = 0
            case .toolCalls(let calls): open += calls.count
            case .toolOutput: open = Swift.max(0, open - 1)
            default: break
            }
            var isNew = turns.isEmpty
            if case .prompt = entry { isNew = true }
            if isNew { turns.append(Turn(range: index..<index)) }
            turns[turns.count - 1].range = turns[turns.count - 1].range.lowerBound..<(index + 1)
            turns[turns.count - 1].isOpen = open > 0
        }
        return turns
    }
}

extension Int {
    /// A sum of counts that stays at the largest number instead of trapping.
    fileprivate func adding(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(Swift.max(0, other))
        return overflow ? .max : sum
    }
}
