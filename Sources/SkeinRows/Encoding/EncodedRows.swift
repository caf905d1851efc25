import SkeinBasics
import SkeinText

/// The rows of a file that can be trained on, encoded, and counts of the others.
package struct EncodedRows: Sendable, Equatable {
    /// In file order. A row whose template rewrites earlier turns has several sequences here, one
    /// after the other, with the same number.
    package let rows: [TokenizedRow]
    /// Rows that were longer than the maximum length and lost their end, skipped ones included.
    /// Tokens after the last one with loss are not counted.
    package let cutCount: Int
    /// Rows without any token that carries loss.
    package let skippedCount: Int
    /// Lines of the first few skipped rows.
    package let skippedLines: [Int]
    /// The file that they are in, where there are several.
    package var skippedPath: String?
    /// Length of the longest row before the cut.
    package let longest: Int

    /// The sequences of each row.
    package var groups: [Range<Int>] { TokenizedRow.groups(of: rows) }

    /// The same as sequences.
    package var rowGroups: [ArraySlice<TokenizedRow>] { groups.map { rows[$0] } }

    package var tokenCount: Int { rows.reduce(0) { $0 + $1.ids.count } }
    package var lossTokenCount: Int { rows.reduce(0) { $0 + $1.lossTokenCount } }
}

/// The rows of a file, encoded, with where each was and what there is to remark on it.
struct EncodedPairs {
    let rows: EncodedRows
    /// For each row, whether it can be trained on or not, its line as `PairFile.lines` has it.
    let lines: [Int]
    let remarks: [RowRemarks]
}

extension RowEncoder.Draft {
    /// A text, all of which carries loss, as pieces of about equal length.
    ///
    /// Each piece begins with the last token of the one before: so each token but the text's first is
    /// predicted once. What stands at the text's begin and end (begin token, end token) stands in the
    /// first and the last piece alone.
    ///
    /// - Parameter length: tokens of a piece at most, at least 2.
    /// - Returns: the draft itself if it is no longer.
    func chunks(of length: Int) -> [RowEncoder.Draft] {
        guard ids.count > length else { return [self] }
        let predicted = ids.count - 1
        let count = (predicted - 1) / (length - 1) + 1
        return (0..<count).map { index in
            let (start, end) = (predicted * index / count, predicted * (index + 1) / count)
            var piece = self
            piece.ids = Array(ids[start...end])
            piece.targets = [0..<piece.ids.count]
            return piece
        }
    }
}

extension RowEncoder {
    /// Encodes the rows of data files, one after the other, without a token cache.
    ///
    /// - Parameters:
    ///   - files: at least one; their weights do not count.
    ///   - fields: which keys hold the parts of a row.
    ///   - skippingBadLines: pass over malformed rows.
    /// - Returns: the rows of all files, numbered through.
    /// - Throws: as `PairFile` and `encode`.
    package func encode(
        files: [WeightedFile], fields: RowFields, skippingBadLines: Bool
    ) throws -> EncodedRows {
        let parts = try files.map { file in
            let rows = try PairFile(
                path: file.path, fields: fields, skippingBadLines: skippingBadLines)
            return EncodedFile(rows, try encodeWithRemarks(rows))
        }
        return try EncodedFile(joining: parts, of: files).encoded
    }

    /// Encodes all rows of a file, in file order.
    ///
    /// - Throws: `RowError.noLossTokens` if there are rows and none can be used;
    ///   `.conversationWithoutTemplate`, `.badConversation`, `.noEndOfTurn`, `.rewrittenTooLong`;
    ///   `TokenizerError.textTooSlow`, `.noEmbedding`.
    package func encode(_ file: PairFile) throws -> EncodedRows {
        try encode(file, rowTokens: RowLimits.tokens)
    }

    func encode(_ file: PairFile, rowTokens: Int) throws -> EncodedRows {
        try encodeWithRemarks(file, rowTokens: rowTokens).rows
    }

    /// The same with the line of each row and what there is to remark on it. A text that is cut into
    /// chunks is as many rows.
    ///
    /// - Parameters:
    ///   - file: its rows are encoded.
    ///   - rowTokens: tokens of all sequences of a row together.
    ///   - checksTokens: whether a token without an embedding is an error.
    /// - Returns: the rows, whether they can be trained on or not.
    /// - Throws: as `encode`.
    func encodeWithRemarks(
        _ file: PairFile, rowTokens: Int = RowLimits.tokens, checksTokens: Bool = true
    ) throws -> EncodedPairs {
        var (remarks, lines): ([RowRemarks], [Int]) = ([], [])
        remarks.reserveCapacity(file.rows.count)
        lines.reserveCapacity(file.rows.count)
        var rows: [TokenizedRow] = []
        rows.reserveCapacity(file.rows.count)
        var cut = 0
        var skippedLines: [Int] = []
        var longest = 0
        for (index, row) in file.rows.enumerated() {
            let units: [[Draft]]
            do {
                units = try self.units(row)
            } catch {
                throw Self.placed(error, path: file.path, line: file.lines[index])
            }
            guard lines.count + units.count <= RowLimits.rows else {
                throw RowError.tooManyRows(path: file.path, limit: RowLimits.rows)
            }
            for drafts in units {
                let number = lines.count
                lines.append(file.lines[index])
                remarks.append(
                    drafts.reduce(into: file.remarks[index]) { $0.formUnion($1.remarks) })
                let most = drafts.map(\.usefulCount).max() ?? 0
                longest = max(longest, most)
                if most > maximumLength { cut += 1 }
                var encoded = drafts.map {
                    TokenizedRow(
                        number: number, ids: $0.ids, targets: $0.targets,
                        maximumLength: maximumLength)
                }.filter { $0.lossTokenCount > 0 }
                // Answers that are cut to nothing, or to the same beginning, cannot be compared.
                if comparesAnswers, encoded.count < 2 || encoded[0] == encoded[1] { encoded = [] }
                // They are computed together, and must be no more than the longest row.
                if encoded.count > 1, encoded.reduce(0, { $0 + $1.ids.count }) > rowTokens {
                    throw RowError.rewrittenTooLong(
                        path: file.path, line: file.lines[index],
                        limit: Figures.count(rowTokens, "token"))
                }
                if checksTokens { try check(encoded, path: file.path, line: file.lines[index]) }
                if encoded.isEmpty { skippedLines.append(file.lines[index]) }
                rows += encoded
            }
        }
        guard !rows.isEmpty || file.rows.isEmpty else {
            throw RowError.noLossTokens(
                path: file.path, rows: file.rows.count, maximumLength: maximumLength)
        }
        let encoded = EncodedRows(
            rows: rows, cutCount: cut, skippedCount: skippedLines.count,
            skippedLines: Array(skippedLines.prefix(Limits.keptBadLines)), longest: longest)
        return EncodedPairs(rows: encoded, lines: lines, remarks: remarks)
    }

    /// The sequences of each of the rows that a row of the file becomes: one, unless it is a text that
    /// is cut into chunks.
    private func units(_ row: PairRow) throws -> [[Draft]] {
        let drafts = try self.drafts(row)
        guard let chunkLength, case .text = row else { return [drafts] }
        return drafts.flatMap { draft in
            draft.chunks(of: chunkLength).map { [$0] }
        }
    }

    /// Refuses a row with a token that the model has no embedding for.
    func check(_ sequences: [TokenizedRow], path: String, line: Int) throws {
        do {
            for sequence in sequences { try encoder.check(sequence.ids) }
        } catch {
            throw Self.placed(error, path: path, line: line)
        }
    }

    /// An error of a row with the row's place.
    private static func placed(_ error: any Error, path: String, line: Int) -> any Error {
        switch error {
        case RowError.conversationWithoutTemplate:
            RowError.conversationWithoutTemplate(path: path, line: line)
        case RowError.otherLoss(_, _, let isPreference):
            RowError.otherLoss(path: path, line: line, isPreference: isPreference)
        case RowError.answerInParts: RowError.answerInParts(path: path, line: line)
        case RowError.lostAnswer: RowError.lostAnswer(path: path, line: line)
        case RowError.noEndOfTurn(let found, _, _):
            RowError.noEndOfTurn(found: found, path: path, line: line)
        case let problem as TokenizerError: problem.at("\(path):\(line)")
        case let problem as TemplateError:
            RowError.badConversation(path: path, line: line, problem: problem)
        case let problem as ToolProblem:
            RowError.badCalls(path: path, line: line, problem: problem)
        case ChatSequenceError.textBytes(let limit):
            RowError.rewrittenTooLong(path: path, line: line, limit: "\(limit) bytes")
        default: error
        }
    }
}
