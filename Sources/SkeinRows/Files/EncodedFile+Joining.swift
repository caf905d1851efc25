import SkeinBasics

extension EncodedFile {
    /// Several files as one: rows are numbered through, file after file.
    ///
    /// - Parameters:
    ///   - parts: as `files` names them, at least one.
    ///   - files: their paths and weights. The weights enter the digest alone; `DataShares` applies
    ///     them.
    /// - Throws: `RowError.tooManyRows`.
    init(joining parts: [EncodedFile], of files: [WeightedFile]) throws {
        digest = files.digest(of: parts.map(\.digest))
        guard parts.count > 1 else {
            lines = parts[0].lines
            encoded = parts[0].encoded
            return
        }
        var facts = LineFacts()
        var rows: [TokenizedRow] = []
        for (part, file) in zip(parts, files) {
            rows += part.encoded.rows.map { $0.renumbered($0.number + facts.rowCount) }
            facts.add(part.lines)
            guard facts.rowCount <= RowLimits.rows else {
                throw RowError.tooManyRows(path: file.path, limit: RowLimits.rows)
            }
        }
        lines = facts
        let skipped = zip(parts, files).first { $0.0.encoded.skippedCount > 0 }
        encoded = EncodedRows(
            rows: rows, cutCount: parts.reduce(0) { $0 + $1.encoded.cutCount },
            skippedCount: parts.reduce(0) { $0 + $1.encoded.skippedCount },
            skippedLines: skipped?.0.encoded.skippedLines ?? [], skippedPath: skipped?.1.path,
            longest: parts.reduce(0) { max($0, $1.encoded.longest) })
    }
}

extension LineFacts {
    fileprivate mutating func add(_ other: LineFacts) {
        rowCount += other.rowCount
        badLineCount += other.badLineCount
        firstBadLine = firstBadLine ?? other.firstBadLine
        remarks.add(other.remarks)
    }
}

extension TokenizedRow {
    /// The same row under another number.
    func renumbered(_ number: Int) -> TokenizedRow {
        TokenizedRow(number: number, ids: ids, targets: targets)
    }
}
