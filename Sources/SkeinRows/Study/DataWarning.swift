import SkeinBasics

/// Something in the data or the plan that usually means a disappointing adapter.
package enum DataWarning: Sendable, Equatable {
    case badLines(count: Int, first: RowError?)
    /// More than 5 % of the rows lose their end, and with it the end-of-turn token.
    case manyCut(count: Int, rows: Int, longest: Int, maximumLength: Int)
    case skipped(count: Int, lines: [Int], path: String?)
    /// Less than 5 % of the tokens are trained.
    case littleLoss(lossTokens: Int, tokens: Int)
    case noValidation
    case repeatedRows(count: Int, rows: Int)
    /// Validation rows that are trained on, too: validation will look too good.
    case leaked(count: Int, validationRows: Int)
    /// Test rows that are trained on, too.
    case leakedTest(count: Int, testRows: Int)
    /// Held-out rows whose prompt is trained on, with another answer; `isTest`: test rows.
    case samePrompt(count: Int, rows: Int, isTest: Bool)
    /// Rows that may train other text than was meant; `first` is where the first one is.
    case remark(RowRemark, count: Int, first: String)
    /// Data files in the folder that look like held-out rows, and that are not read.
    case unread([String])
    /// `isGiven`: by --iterations, which --epochs does not change.
    case fewSteps(count: Int, isGiven: Bool = false)
    case allWarmup(warmupSteps: Int, steps: Int)
    /// DPO compares with the base model, not with the adapter that the run starts from.
    case referenceWithoutAdapter
    /// Rounds of local steps, too few for the outer momentum that is meant for hundreds; `rate` fits
    /// better, without a momentum.
    case fewRounds(count: Int, rate: Double)

    /// What there is to say of the data, whatever the plan.
    ///
    /// - Parameters:
    ///   - lines: of the training files.
    ///   - encoded: their rows, cut at `maximumLength`.
    ///   - split: of `encoded`.
    ///   - validation: rows of the validation files, if there are some.
    ///   - test: those of the test files, if there are some.
    ///   - maximumLength: tokens of a row.
    ///   - format: in use.
    /// - Returns: warnings in a fixed order.
    static func ofRows(
        lines: LineFacts, encoded: EncodedRows, split: Split, validation: EncodedRows?,
        test: EncodedRows? = nil, maximumLength: Int, format: PromptFormat
    ) -> [DataWarning] {
        let rows = lines.rowCount
        var warnings: [DataWarning] = []
        if lines.badLineCount > 0 {
            warnings.append(
                .badLines(count: lines.badLineCount, first: lines.firstBadLine?.error))
        }
        if encoded.cutCount * 20 > rows {
            warnings.append(
                .manyCut(
                    count: encoded.cutCount, rows: rows, longest: encoded.longest,
                    maximumLength: maximumLength))
        }
        if encoded.skippedCount > 0 {
            warnings.append(
                .skipped(
                    count: encoded.skippedCount, lines: encoded.skippedLines,
                    path: encoded.skippedPath))
        }
        if encoded.lossTokenCount * 20 < encoded.tokenCount {
            warnings.append(
                .littleLoss(lossTokens: encoded.lossTokenCount, tokens: encoded.tokenCount))
        }
        warnings += repetitions(encoded, split, validation, test)
        return warnings + remarks(lines, format)
    }

    private static func repetitions(
        _ encoded: EncodedRows, _ split: Split, _ validation: EncodedRows?, _ test: EncodedRows?
    ) -> [DataWarning] {
        let groups = encoded.groups
        func rows(_ indices: [Int]) -> [ArraySlice<TokenizedRow>] {
            indices.map { encoded.rows[groups[$0]] }
        }
        let trained = TrainedRows(rows(split.training))
        let held = validation?.rowGroups ?? rows(split.validation)
        var warnings: [DataWarning] = []
        if held.isEmpty { warnings.append(.noValidation) }
        let repeated = split.training.count - trained.distinctCount
        if repeated * 100 > split.training.count {
            warnings.append(.repeatedRows(count: repeated, rows: split.training.count))
        }
        return warnings + trained.warnings(of: held, isTest: false)
            + trained.warnings(of: test?.rowGroups ?? [], isTest: true)
    }

    /// Whether a remark on the rows of a file is worth a warning.
    static func matters(_ remark: RowRemark, _ lines: LineFacts, _ format: PromptFormat) -> Bool {
        let count = lines.remarks[remark]
        return switch remark {
        // In a chat, completions that start with white space teach the model to start like that.
        case .leadingSpace: format == .chat && count * 20 > lines.rowCount
        // In raw text, nothing separates prompt and completion.
        case .adjoining: format == .raw && count * 20 > lines.rowCount
        // Where most lines are texts by themselves, some may well look otherwise.
        case .wrappedLine: count * 10 > lines.rowCount
        default: count > 0
        }
    }

    private static func remarks(_ lines: LineFacts, _ format: PromptFormat) -> [DataWarning] {
        RowRemark.allCases.filter { matters($0, lines, format) }.map {
            .remark($0, count: lines.remarks[$0], first: lines.remarks.place($0))
        }
    }

    /// The warning as one sentence that says what to do.
    package var text: String {
        switch self {
        case .badLines(let count, let first):
            "malformed lines skipped: \(count)"
                + (first.map { ", the first at \($0.explanation.place)" } ?? "")
        case .manyCut(let count, let rows, let longest, let maximumLength):
            "\(count) of \(rows) rows \(count == 1 ? "is" : "are") longer than --max-length "
                + "\(maximumLength) and \(count == 1 ? "loses its" : "lose their") end; the longest has "
                + Figures.count(longest, "token")
        case .skipped(let count, let lines, let path):
            "rows skipped because they have no token to learn within --max-length: \(count), the "
                + "first at line \(lines.first ?? 0)" + (path.map { " of \($0)" } ?? "")
        case .littleLoss(let lossTokens, let tokens):
            "only \(lossTokens) of \(tokens) tokens are trained: prompts are long compared with "
                + "their completions"
        case .noValidation:
            "no rows are held out, so nothing will show when the adapter gets worse; set "
                + "--validation-split or --valid-data"
        case .repeatedRows(let count, let rows):
            "\(count) of \(rows) training rows \(count == 1 ? "repeats" : "repeat") another one"
        case .leaked(let count, let validationRows):
            "\(count) of \(validationRows) validation rows \(count == 1 ? "is" : "are") trained on, too; "
                + "validation will look too good"
        case .leakedTest(let count, let testRows):
            "\(count) of \(testRows) test rows \(count == 1 ? "is" : "are") trained on, too; the test will "
                + "look too good"
        case .samePrompt(let count, let rows, let isTest):
            "\(count) of \(rows) \(isTest ? "test" : "validation") rows "
                + "\(count == 1 ? "has" : "have") the prompt of a training row with another answer; \(isTest ? "the test" : "validation") may look too good"
        case .remark(let remark, let count, let first):
            "\(remark.text(count)); the first is \(first)"
        case .unread(let paths):
            "not read, though its name says held-out rows: "
                + paths.prefix(4).map { ForeignText.shown($0) }.joined(separator: ", ")
                + "; give it with --valid-data or --test-data"
        case .fewSteps(let count, let isGiven):
            "the run has only \(Figures.count(count, "step")); raise "
                + (isGiven ? "--iterations" : "--epochs or lower --batch-size")
        case .allWarmup(let warmupSteps, let steps):
            "a warm-up of \(Figures.count(warmupSteps, "step")) is not below the run's "
                + "\(Figures.count(steps, "step")), so the learning rate never reaches its value"
        case .referenceWithoutAdapter:
            "the reference of --loss dpo is the base model without --init-adapter, which the run will be "
                + "pulled back to; to compare with that adapter, give --reference init"
        case .fewRounds(let count, let rate):
            "\(Figures.count(count, "round")) \(count == 1 ? "is" : "are") few for the outer momentum: "
                + "--outer-learning-rate \(rate) --outer-momentum 0 may come further (docs/SLOW-LINKS.md)"
        }
    }
}
