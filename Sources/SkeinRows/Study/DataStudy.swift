import SkeinBasics

/// What there is to know of data before anything is trained: how long the rows are, and which of
/// them would silently hurt.
package struct DataStudy: Sendable {
    /// Where a row is in its file.
    package struct Place: Sendable, Equatable {
        package let path: String
        /// Counted from 1; of Parquet and JSON lists, the row.
        package let line: Int

        package var text: String { "\(path):\(line)" }
    }

    /// A row that can be trained on or held out.
    package struct Row: Sendable, Equatable {
        package let place: Place
        /// Before the cut, without tokens after the last one that carries loss; of several sequences the
        /// longest. 0 for a row without any token to learn.
        package let tokens: Int
        /// Sequences as they will be trained, of which each has a token with loss; none for a row that
        /// is skipped.
        package let sequences: [TokenizedRow]
        /// Whether its last token with loss ends a turn or the text, apart from white space, so that the
        /// model learns to stop; true for a piece of a long text that goes on in the next row.
        package let endsATurn: Bool
        /// What may be wrong with it.
        package let remarks: RowRemarks
    }

    package let rows: [Row]
    package let lines: LineFacts
    package let format: PromptFormat
    package let maximumLength: Int
    /// Rows of which an earlier one is the same, and that one.
    package let duplicates: [(row: Place, first: Place)]
    /// Rows that are held out and trained on, too, and where.
    package let leaks: [(validation: Place, training: Place)]
    package let validationRows: Int
    /// Rows of an epoch, each as often as the weights of files say.
    package let epochRows: Int
    package let warnings: [DataWarning]

    /// Reads and encodes data files as `skein train` does.
    ///
    /// - Parameters:
    ///   - files: of which all are read; of validation and test rows only what is trained on, too, is told.
    ///   - encoder: with the maximum length of the run.
    ///   - fields: which keys hold the parts of a row.
    ///   - skippingBadLines: pass over malformed rows.
    ///   - validationShare: held out if there are no validation files.
    ///   - splitUnit: what is held out as a whole.
    ///   - seed: of the run.
    /// - Throws: as `PairFile` and `RowEncoder.encode`; `CancellationError` does not come from here.
    package init(
        _ files: DataFiles, encoder: RowEncoder, fields: RowFields, skippingBadLines: Bool,
        validationShare: Double, splitUnit: SplitUnit = .row, seed: UInt64
    ) throws {
        let whole = try RowEncoder(
            encoder: encoder.encoder, format: encoder.format, trainedTurns: encoder.trainedTurns,
            maximumLength: RowLimits.tokens, comparesAnswers: encoder.comparesAnswers,
            chunkLength: encoder.chunkLength)
        let reader = Reader(
            encoder: whole, maximumLength: encoder.maximumLength, fields: fields,
            skippingBadLines: skippingBadLines)
        let training = try reader.read(files.train)
        let held = try files.validation.map { try reader.read($0, allowingNone: true) }
        let tested = try files.test.map { try reader.read($0, allowingNone: true) }
        rows = training.rows
        lines = training.joined.lines
        format = encoder.format
        maximumLength = encoder.maximumLength
        let usable = rows.filter { !$0.sequences.isEmpty }
        guard !usable.isEmpty else {
            throw RowError.noLossTokens(
                path: files.train[0].path, rows: rows.count, maximumLength: maximumLength)
        }
        let split =
            held == nil
            ? Split(
                rows: usable.map { $0.sequences[...] }, share: validationShare, by: splitUnit,
                seed: seed)
            : Split(allOf: usable.count)
        let heldOut =
            held.map { $0.rows.filter { !$0.sequences.isEmpty } }
            ?? split.validation.map { usable[$0] }
        validationRows = heldOut.count

        var first: [[Int32]: Place] = [:]
        var repeated: [(row: Place, first: Place)] = []
        for row in usable {
            if let earlier = first.updateValue(first[row.ids] ?? row.place, forKey: row.ids) {
                repeated.append((row.place, earlier))
            }
        }
        duplicates = repeated
        var trained: [[Int32]: Place] = [:]
        for index in split.training.reversed() { trained[usable[index].ids] = usable[index].place }
        leaks = heldOut.compactMap { row in trained[row.ids].map { (row.place, $0) } }
        let drawn = try DataShares(shares: training.shares).applied(
            to: split.training.flatMap { usable[$0].sequences })
        epochRows = drawn.draw?.rowCount ?? TokenizedRow.groups(of: drawn.rows).count
        warnings =
            DataWarning.ofRows(
                lines: lines, encoded: Self.cut(training, to: maximumLength), split: split,
                validation: held.map { Self.cut($0, to: encoder.maximumLength) },
                test: tested.map { Self.cut($0, to: encoder.maximumLength) },
                maximumLength: maximumLength, format: format)
            + (files.unread.isEmpty ? [] : [.unread(files.unread)])
    }

    /// Rows without a token to learn.
    package var withoutLoss: [Row] { rows.filter(\.sequences.isEmpty) }
    /// Rows after which the model does not learn to stop.
    package var withoutEnd: [Row] { rows.filter { !$0.sequences.isEmpty && !$0.endsATurn } }
    /// Rows that lose their end.
    package var cut: [Row] { rows.filter { $0.tokens > maximumLength } }
    /// The `count` longest, the longest first.
    package func longest(_ count: Int) -> [Row] {
        rows.indices.sorted { (-rows[$0].tokens, $0) < (-rows[$1].tokens, $1) }.prefix(count).map {
            rows[$0]
        }
    }
    package var tokenCount: Int {
        rows.reduce(0) { $0 + $1.sequences.reduce(0) { $0 + $1.ids.count } }
    }
    package var lossTokenCount: Int {
        rows.reduce(0) { $0 + $1.sequences.reduce(0) { $0 + $1.lossTokenCount } }
    }

    /// The rows as they stand in a run.
    private static func cut(_ files: Files, to maximumLength: Int) -> EncodedRows {
        let skipped = files.rows.filter(\.sequences.isEmpty)
        return EncodedRows(
            rows: files.rows.flatMap(\.sequences),
            cutCount: files.rows.count { $0.tokens > maximumLength }, skippedCount: skipped.count,
            skippedLines: skipped.prefix(Limits.keptBadLines).map(\.place.line),
            skippedPath: files.count > 1 ? skipped.first?.place.path : nil,
            longest: files.rows.reduce(0) { max($0, $1.tokens) })
    }

    fileprivate struct Files {
        let rows: [Row]
        let joined: EncodedFile
        let count: Int
        let shares: [DataShares.Share]
    }

    fileprivate struct Reader {
        let encoder: RowEncoder
        let maximumLength: Int
        let fields: RowFields
        let skippingBadLines: Bool

        func read(_ files: [WeightedFile], allowingNone: Bool = false) throws -> Files {
            var rows: [Row] = []
            var parts: [EncodedFile] = []
            for file in files {
                let pairs = try PairFile(
                    path: file.path, fields: fields, skippingBadLines: skippingBadLines,
                    allowingNone: allowingNone)
                // What is trained of a row is bounded and checked below, once it is cut.
                let encoded: EncodedPairs
                do {
                    encoded = try encoder.encodeWithRemarks(
                        pairs, rowTokens: .max, checksTokens: false)
                } catch RowError.noLossTokens(let path, let count, _) {
                    // The run's length, which may not be the cause.
                    throw RowError.noLossTokens(
                        path: path, rows: count, maximumLength: maximumLength)
                }
                let base = parts.reduce(0) { $0 + $1.lines.rowCount }
                rows += try self.rows(pairs.path, encoded, base: base)
                parts.append(EncodedFile(pairs, encoded))
            }
            return Files(
                rows: rows, joined: try EncodedFile(joining: parts, of: files), count: files.count,
                shares: zip(files, parts).map {
                    DataShares.Share(file: $0, rowCount: $1.lines.rowCount)
                })
        }

        private func rows(
            _ path: String, _ pairs: EncodedPairs, base: Int
        ) throws -> [Row] {
            let encoded = pairs.rows
            let lines = pairs.lines
            let ends = encoder.encoder.endOfTurnIDs.union(
                [encoder.encoder.endID].compactMap(\.self))
            var groups = encoded.groups.makeIterator()
            var group = groups.next()
            return try pairs.lines.indices.map { number in
                var sequences: [TokenizedRow] = []
                if let found = group, encoded.rows[found.lowerBound].number == number {
                    sequences = Array(encoded.rows[found])
                    group = groups.next()
                }
                var kept = sequences.map {
                    TokenizedRow(
                        number: base + number, ids: $0.ids, targets: $0.targets,
                        maximumLength: maximumLength)
                }.filter { $0.lossTokenCount > 0 }
                if encoder.comparesAnswers, kept.count < 2 || kept[0] == kept[1] { kept = [] }
                if kept.count > 1, kept.reduce(0, { $0 + $1.ids.count }) > RowLimits.tokens {
                    throw RowError.rewrittenTooLong(
                        path: path, line: pairs.lines[number],
                        limit: "\(RowLimits.tokens) tokens")
                }
                try encoder.check(kept, path: path, line: pairs.lines[number])
                return Row(
                    place: Place(path: path, line: pairs.lines[number]),
                    tokens: sequences.reduce(0) { max($0, $1.ids.count) }, sequences: kept,
                    endsATurn: goesOn(lines, number)
                        || kept.allSatisfy { endsATurn($0.ids, ends) },
                    remarks: pairs.remarks[number])
            }
        }
    }
}

extension DataStudy.Reader {
    /// Whether a row is a piece of a text of which the next row is another one.
    fileprivate func goesOn(_ lines: [Int], _ number: Int) -> Bool {
        encoder.chunkLength != nil && number + 1 < lines.count && lines[number] == lines[number + 1]
    }

    /// Whether the last token that is no white space is an end. What a template marks as the answer may go
    /// on beyond the end of the turn.
    fileprivate func endsATurn(_ ids: [Int32], _ ends: Set<Int32>) -> Bool {
        for id in ids.suffix(4).reversed() {
            if ends.contains(id) { return true }
            guard encoder.encoder.decode([id]).allSatisfy(\.isWhitespace) else { return false }
        }
        return false
    }
}

extension DataStudy.Row {
    /// The tokens of all sequences: equal ones are equal rows.
    fileprivate var ids: [Int32] {
        sequences.count == 1 ? sequences[0].ids : sequences.flatMap(\.ids)
    }

    /// Each sequence as text, in parts that carry loss and parts that do not; none for a row that is
    /// skipped.
    package func parts(decode: @Sendable ([Int32]) -> String, limit: Int) -> [[DataReport.Part]] {
        sequences.map { DataReport.parts($0, decode: decode, limit: limit) }
    }
}
