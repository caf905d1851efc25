import SkeinBasics

/// The part of a ledger's check that is about groups of rows: validations, test rows, and
/// log-probabilities under the reference model.
///
/// A run that an older version began has no such lines at first.
struct GroupCheck {
    /// By the step that they follow.
    private let validations: [Int: ValidationMetrics]
    /// After some steps, as checkpoints have them.
    private let parameters: [Int: String]
    /// As run.json names them.
    private let references: String?
    /// The last step of the metrics.
    private let lastStep: Int

    /// Whether each validation must have lines, from the first on; otherwise from the first that has some.
    private let fromBeginning: Bool

    /// Lines of one evaluation, or of the references of one kind of rows, added up.
    private struct Open {
        let first: GroupEntry
        var next = 0
        var isOutOfOrder = false
        /// The first other parameters.
        var others: String?
        var sum = RowEvaluation()
    }

    private var open: Open?
    private var found = References.Digest()
    /// Steps whose validation has lines.
    private var validated: Set<Int> = []
    /// The parameters of the last validation.
    private(set) var judged: (step: Int, parameters: String)?

    /// - Parameters:
    ///   - validations: of the metrics, by the step that they follow.
    ///   - parameters: after some steps, as checkpoints have them.
    ///   - references: as run.json names them; nil: it names none.
    ///   - fromBeginning: whether the run was begun by a version that writes these lines.
    ///   - lastStep: of the metrics.
    init(
        validations: [Int: ValidationMetrics], parameters: [Int: String], references: String?,
        fromBeginning: Bool, lastStep: Int
    ) {
        self.validations = validations
        self.parameters = parameters
        self.references = references
        self.fromBeginning = fromBeginning
        self.lastStep = lastStep
    }

    mutating func take(_ entry: GroupEntry, _ report: inout LedgerReport) {
        if let first = open?.first, first.subject != entry.subject || first.step != entry.step {
            close(&report)
        }
        var open = self.open ?? Open(first: entry)
        if entry.group != open.next, !open.isOutOfOrder {
            open.isOutOfOrder = true
            report.note(
                .groupUnexpected(
                    rows: Self.name(entry.subject), step: entry.step, expected: open.next,
                    found: entry.group))
        }
        open.next += 1
        if entry.parametersDigest != open.first.parametersDigest, open.others == nil {
            open.others = entry.parametersDigest ?? ""
        }
        open.sum.lossSum += entry.lossSum ?? .nan
        open.sum.lossTokens &+= entry.lossTokens
        open.sum.correct &+= entry.correct ?? 0
        self.open = open
        report.groups += 1
        found.append(entry)
    }

    private static func name(_ subject: GroupEntry.Subject) -> String {
        switch subject {
        case .reference(let rows): "references of the \(rows.rawValue) rows"
        case .validation: "validation rows"
        case .test: "test rows"
        }
    }

    /// Checks the lines of an evaluation; none are open afterwards.
    mutating func close(_ report: inout LedgerReport) {
        guard let open else { return }
        self.open = nil
        let (step, named) = (open.first.step, open.first.parametersDigest ?? "")
        if let others = open.others {
            report.note(
                .groupParametersDiffer(
                    rows: Self.name(open.first.subject), step: step, first: named, found: others))
        }
        guard open.first.subject == .validation else { return }
        judged = (step, named)
        if let expected = parameters[step], expected != named {
            report.note(
                .validationParametersUnknown(step: step, expected: expected, found: named))
        }
        compare(step, open.sum, &report)
    }

    private mutating func compare(
        _ step: Int, _ sum: RowEvaluation, _ report: inout LedgerReport
    ) {
        validated.insert(step)
        guard let metrics = validations[step] else {
            // A kill may have come between the lines of both files.
            if step < lastStep { report.note(.validationUnknown(step: step)) }
            return
        }
        // What is not finite is null in both files.
        let loss = sum.loss.flatMap { $0.isFinite ? $0 : nil }
        func note(_ field: String, _ ledger: String, _ metrics: String) {
            report.note(
                .validationDiffers(step: step, field: field, ledger: ledger, metrics: metrics))
        }
        func text(_ value: Double?) -> String { value.map { "\($0)" } ?? "none" }
        if sum.lossTokens != metrics.tokens {
            note("number of loss tokens", "\(sum.lossTokens)", "\(metrics.tokens)")
        } else if loss != metrics.loss {
            note("loss", text(loss), text(metrics.loss))
        } else if metrics.namesAccuracy, sum.tokenAccuracy != metrics.tokenAccuracy {
            note("accuracy", text(sum.tokenAccuracy), text(metrics.tokenAccuracy))
        }
    }

    mutating func finish(_ report: inout LedgerReport) {
        close(&report)
        if let first = fromBeginning ? -1 : validated.min() {
            for (step, metrics) in validations.sorted(by: { $0.key < $1.key })
            where step > first && metrics.tokens > 0 && !validated.contains(step) {
                report.note(.validationMissing(step: step))
            }
        }
        // Before the first step a kill may have come before their lines.
        guard let references, lastStep > 0 else { return }
        let digest = found.finish().description
        if digest != references {
            report.note(.referencesDiffer(recorded: references, ledger: digest))
        }
    }
}
