/// A row as the model sees it: token ids, and which of them carry loss.
package struct TokenizedRow: Sendable, Equatable {
    /// Index of the row in its data file, from 0; its random numbers are addressed by it. The
    /// sequences of one conversation have the same.
    package let number: Int
    package let ids: [Int32]
    /// Ascending, disjoint, non-empty ranges of positions `p` in 1 ..< ids.count: token `ids[p]`
    /// carries loss, predicted from the tokens before it. Position 0 is predicted from nothing and
    /// never carries loss.
    package let targets: [Range<Int>]
    /// Sum of the lengths of `targets`.
    package let lossTokenCount: Int
    /// The log-probability of its loss tokens under the reference model, of a run whose loss reads it, once it
    /// is known.
    package var reference: Double?

    /// Makes a row of at most `maximumLength` tokens, cut at the right.
    ///
    /// Tokens after the last one with loss are dropped: they change no loss and no gradient.
    ///
    /// - Parameters:
    ///   - number: index of the row in its file.
    ///   - ids: all token ids.
    ///   - targets: ascending, disjoint ranges of positions with loss; clipped here.
    ///   - maximumLength: the most tokens that the row may keep.
    package init(number: Int, ids: [Int32], targets: [Range<Int>], maximumLength: Int = .max) {
        let limit = min(ids.count, maximumLength)
        var kept: [Range<Int>] = []
        for range in targets where !range.isEmpty {
            let clipped = range.clamped(to: min(1, limit)..<limit)
            guard !clipped.isEmpty else { continue }
            if let last = kept.last, last.upperBound == clipped.lowerBound {
                kept[kept.count - 1] = last.lowerBound..<clipped.upperBound
            } else {
                kept.append(clipped)
            }
        }
        self.number = number
        self.targets = kept
        self.ids = Array(ids.prefix(kept.last?.upperBound ?? limit))
        lossTokenCount = kept.reduce(0) { $0 + $1.count }
    }

    /// Whether a model can compute this row: some token carries loss, all ids are in its
    /// vocabulary, and it has enough positions. For rows that come over a wire.
    package func fits(vocabularySize: Int, positions: Int) -> Bool {
        lossTokenCount > 0 && ids.count <= positions
            && ids.allSatisfy { $0 >= 0 && Int($0) < vocabularySize }
    }

    /// The ranges of neighbours with the same number: the sequences of each row.
    package static func groups(of rows: [TokenizedRow]) -> [Range<Int>] {
        var groups: [Range<Int>] = []
        for (index, row) in rows.enumerated() {
            if let last = groups.last, rows[last.lowerBound].number == row.number {
                groups[groups.count - 1] = last.lowerBound..<(index + 1)
            } else {
                groups.append(index..<(index + 1))
            }
        }
        return groups
    }

    /// What the model sees before the first token with loss; nil if that is at most one token, as of text.
    var prompt: ArraySlice<Int32>? {
        guard let first = targets.first, first.lowerBound > 1 else { return nil }
        return ids[..<first.lowerBound]
    }

    /// Whether the token at `position` carries loss.
    package func isTarget(_ position: Int) -> Bool {
        targets.contains { $0.contains(position) }
    }
}

extension ArraySlice<TokenizedRow> {
    /// The ids of all sequences of a row: equal ones are equal rows.
    var content: [Int32] {
        guard count > 1 else { return first?.ids ?? [] }
        return flatMap(\.ids)
    }

    /// What the model sees before the row's first token with loss.
    var prompt: ArraySlice<Int32>? { first?.prompt }
}
