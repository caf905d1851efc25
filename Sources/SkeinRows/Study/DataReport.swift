import SkeinBasics

/// What a run is about to train on, shown before step 1: most failed fine-tunings show here.
package struct DataReport: Sendable, Equatable {
    /// Rows that can be used, whether trained on or held out.
    package let rows: Int
    package let tokens: Int
    package let lossTokens: Int
    /// Longest row before the cut.
    package let longest: Int
    package let cut: Int
    package let skipped: Int
    package let badLines: Int
    package let trainingRows: Int
    package let validationRows: Int
    package let steps: Int
    package let epochs: Int
    /// Rows whose template rewrites earlier turns, so that they are trained as several sequences.
    package let rewrittenRows: Int
    /// Sequences of all rows.
    package let sequences: Int
    /// The prompt format in use, never `auto`.
    package let format: PromptFormat
    /// The first few training rows, decoded, in parts that carry loss and parts that do not.
    package let examples: [[Part]]
    /// The first training row, decoded, with the trained parts between `>>>` and `<<<`.
    package let example: String
    package let warnings: [DataWarning]

    /// A part of an example.
    package struct Part: Sendable, Equatable {
        package let text: String
        /// Whether it carries loss.
        package let isTrained: Bool
    }

    /// Rows that people look at before they look away.
    private static let mostExamples = 5

    /// - Parameters:
    ///   - lines: of the training file.
    ///   - encoded: its rows.
    ///   - split: of `encoded`.
    ///   - trainingRows: rows of an epoch, each as often as it stands there.
    ///   - validation: rows of the validation file, if there is one.
    ///   - test: rows of the test files, if there are some.
    ///   - unread: data files that look like held-out rows and are not read.
    ///   - steps: of the run.
    ///   - epochs: that it begins.
    ///   - warnings: of the plan, which come after those of the rows.
    ///   - encoder: that encoded the rows.
    package init(
        lines: LineFacts, encoded: EncodedRows, split: Split, trainingRows: Int,
        validation: EncodedRows?, test: EncodedRows? = nil, unread: [String] = [], steps: Int,
        epochs: Int, warnings: [DataWarning], encoder: RowEncoder
    ) {
        let groups = encoded.groups
        rows = groups.count
        rewrittenRows = encoder.comparesAnswers ? 0 : groups.count { $0.count > 1 }
        sequences = encoded.rows.count
        tokens = encoded.tokenCount
        lossTokens = encoded.lossTokenCount
        longest = encoded.longest
        cut = encoded.cutCount
        skipped = encoded.skippedCount
        badLines = lines.badLineCount
        self.trainingRows = trainingRows
        validationRows = validation?.groups.count ?? split.validation.count
        self.steps = steps
        self.epochs = epochs
        format = encoder.format
        examples = split.training.prefix(Self.mostExamples).map {
            Self.parts(encoded.rows[groups[$0].lowerBound], decode: encoder.encoder.decode)
        }
        example = examples.first.map(Self.marked) ?? ""
        self.warnings =
            DataWarning.ofRows(
                lines: lines, encoded: encoded, split: split, validation: validation, test: test,
                maximumLength: encoder.maximumLength, format: encoder.format)
            + warnings + (unread.isEmpty ? [] : [.unread(unread)])
    }

    /// The report as lines of text, without the warnings.
    package var lines: [String] {
        let share = tokens == 0 ? 0 : Double(lossTokens) / Double(tokens)
        return [
            "data: \(Figures.count(rows, "row")), \(Figures.count(tokens, "token")), "
                + "\(Figures.grouped(lossTokens)) of them trained (\(Self.percent(share))), "
                + "longest row \(Figures.count(longest, "token")), format \(format)",
            "rows: \(trainingRows) to train on, \(validationRows) for validation, \(cut) cut, "
                + "\(skipped) skipped, \(Figures.count(badLines, "bad line"))",
        ]
            + rewritten + [
                "plan: \(Figures.count(steps, "step")), \(Figures.count(epochs, "epoch"))",
                "example (trained between >>> and <<<):",
            ] + example.split(separator: "\n", omittingEmptySubsequences: false).map { "  | " + $0 }
    }

    private var rewritten: [String] {
        if rewrittenRows == 0 { return [] }
        return [
            "turns: the chat template rewrites earlier turns of "
                + "\(Figures.count(rewrittenRows, "row")); each of their turns is trained as it was said, "
                + "\(Figures.count(sequences, "sequence")) for \(Figures.count(rows, "row"))"
        ]
    }

    static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// A row as text, each part shortened in its middle.
    static func parts(
        _ row: TokenizedRow, decode: @Sendable ([Int32]) -> String, limit: Int = 400
    ) -> [Part] {
        var parts: [Part] = []
        var next = 0
        func add(_ ids: ArraySlice<Int32>, isTrained: Bool) {
            let text = shortened(decode(Array(ids)), limit)
            if isTrained || !text.isEmpty { parts.append(Part(text: text, isTrained: isTrained)) }
        }
        for target in row.targets {
            add(row.ids[next..<target.lowerBound], isTrained: false)
            add(row.ids[target], isTrained: true)
            next = target.upperBound
        }
        add(row.ids[next...], isTrained: false)
        return parts
    }

    /// Parts as one text, the trained ones between `>>>` and `<<<`.
    static func marked(_ parts: [Part]) -> String {
        parts.map { $0.isTrained ? ">>>\($0.text)<<<" : $0.text }.joined()
    }

    private static func shortened(_ text: String, _ limit: Int) -> String {
        guard text.count > limit else { return text }
        return text.prefix(limit / 2) + " [...] " + text.suffix(limit / 2)
    }
}
