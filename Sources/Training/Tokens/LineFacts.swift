/// What the data report tells of a file's lines besides their tokens.
public struct LineFacts: Sendable, Equatable {
    /// Rows, whether they can be trained on or not.
    public var rowCount = 0
    /// Lines that were skipped because they are malformed.
    public var badLineCount = 0
    /// The first of them.
    public var firstBadLine: BadLine?
    /// Pairs whose completion is empty.
    public var emptyCompletions = 0
    /// Pairs whose completion starts with white space.
    public var leadingSpaces = 0
    /// Pairs with no white space between prompt and completion.
    public var adjoining = 0

    /// A malformed line and where its bytes stand.
    public struct BadLine: Sendable, Equatable {
        /// Counted from 1.
        public var number: Int
        /// Of the file's bytes, without the line end.
        public var bytes: Range<Int>
        /// What is wrong with it.
        public var error: TrainingError
    }
}

extension PairFile {
    /// What the data report tells of these lines.
    public var facts: LineFacts {
        var facts = LineFacts(
            rowCount: rows.count, badLineCount: badLineCount, firstBadLine: firstBadLine)
        for case .pair(let prompt, let completion) in rows {
            guard let first = completion.first else {
                facts.emptyCompletions += 1
                continue
            }
            if first.isWhitespace {
                facts.leadingSpaces += 1
            } else if let last = prompt.last, !last.isWhitespace {
                facts.adjoining += 1
            }
        }
        return facts
    }
}
