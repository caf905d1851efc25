/// What the data report says about a file's lines besides their tokens.
package struct LineFacts: Sendable, Equatable {
    /// Rows, whether they can be trained on or not.
    package var rowCount = 0
    /// Lines that were skipped because they are malformed.
    package var badLineCount = 0
    /// The first of these.
    package var firstBadLine: BadLine?
    /// Pairs whose completion is empty.
    package var emptyCompletions = 0
    /// Pairs whose completion starts with white space.
    package var leadingSpaces = 0
    /// Pairs with no white space between prompt and completion.
    package var adjoining = 0

    /// A malformed line and where its bytes are.
    package struct BadLine: Sendable, Equatable {
        /// Counted from 1.
        package var number: Int
        /// Where it is in the file, without the line end.
        package var bytes: Range<Int>
        /// What is wrong with it.
        package var error: TrainingError
    }
}

extension PairFile {
    /// What the data report says about these lines.
    package var facts: LineFacts {
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
