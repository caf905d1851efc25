/// What the data report says about a file's lines besides their tokens.
package struct LineFacts: Sendable, Equatable {
    /// Rows, whether they can be trained on or not.
    package var rowCount = 0
    /// Lines that were skipped because they are malformed.
    package var badLineCount = 0
    /// The first of these.
    package var firstBadLine: BadLine?
    /// What may be wrong with rows.
    package var remarks = RemarkCounts()

    /// A malformed line and where its bytes are.
    package struct BadLine: Sendable, Equatable {
        /// Counted from 1.
        package var number: Int
        /// Where it is in the file, without the line end.
        package var bytes: Range<Int>
        /// What is wrong with it.
        package var error: RowError
    }
}

extension PairFile {
    /// What the data report says about these lines.
    ///
    /// - Parameter encoded: the rows that they became.
    /// - Returns: counts, and the first of what is wrong.
    func facts(_ encoded: EncodedPairs) -> LineFacts {
        var facts = LineFacts(
            rowCount: encoded.lines.count, badLineCount: badLineCount, firstBadLine: firstBadLine)
        for (line, remarks) in zip(encoded.lines, encoded.remarks) {
            facts.remarks.add(remarks, line: line, path: path)
        }
        return facts
    }
}

extension PairRow {
    /// What there is to say of a row without a template.
    var remarks: RowRemarks {
        var remarks = RowRemarks()
        switch self {
        case .text: break
        case .preference(let chosen, let rejected):
            remarks = chosen.remarks.union(rejected.remarks)
        case .pair(let prompt, let completion):
            guard let first = completion.first else {
                remarks.insert(.emptyAnswer)
                break
            }
            if first.isWhitespace {
                remarks.insert(.leadingSpace)
            } else if let last = prompt.last, !last.isWhitespace {
                remarks.insert(.adjoining)
            }
        case .conversation(let turns, _):
            if turns.contains(where: { $0.isAssistant && $0.isTrained && $0.isEmpty }) {
                remarks.insert(.emptyAnswer)
            }
        }
        return remarks
    }
}
