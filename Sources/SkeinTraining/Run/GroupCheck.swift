import SkeinBasics

/// The part of a ledger's check that is about groups of rows: validations, test rows, and
/// log-probabilities under the base model.
///
/// A run that an older version began has no such lines at first. So a validation must have lines once
/// another one before it has some, and references if run.json names them.
struct GroupCheck {
    /// By the step that they follow.
    private let validations: [Int: ValidationMetrics]
    /// After some steps, as checkpoints have them.
    private let parameters: [Int: String]
    /// As run.json names them.
    private let references: String?
    /// The last step of the metrics.
    private let lastStep: Int

    /// Lines of one evaluation, or of the references of one kind of rows.
    private var open: [GroupEntry] = []
    private var found = References.Digest()
    /// Steps whose validation has lines.
    private var validated: Set<Int> = []
    /// The parameters of the last validation.
    private(set) var judged: (step: Int, parameters: String)?

    /// - Parameters:
    ///   - validations: of the metrics, by the step that they follow.
    ///   - parameters: after some steps, as checkpoints have them.
    ///   - references: as run.json names them; nil: it names none.
    ///   - lastStep: of the metrics.
    init(
        validations: [Int: ValidationMetrics], parameters: [Int: String], references: String?,
        lastStep: Int
    ) {
        self.validations = validations
        self.parameters = parameters
        self.references = references
        self.lastStep = lastStep
    }

    mutating func take(_ entry: GroupEntry, _ report: inout LedgerReport) {
        if let first = open.first, first.subject != entry.subject || first.step != entry.step {
            close(&report)
        }
        open.append(entry)
    }

    /// Checks the lines of an evaluation; none are open afterwards.
    mutating func close(_ report: inout LedgerReport) {
        guard let first = open.first else { return }
        defer { open.removeAll(keepingCapacity: true) }
        report.groups += open.count
        let rows =
            switch first.subject {
            case .reference(let rows): "references of the \(rows.rawValue) rows"
            case .validation: "validation rows"
            case .test: "test rows"
            }
        for (place, entry) in open.enumerated() where entry.group != place {
            report.note(
                .groupUnexpected(
                    rows: rows, step: first.step, expected: place, found: entry.group))
            break
        }
        if case .reference = first.subject {
            for entry in open { found.append(entry) }
            return
        }
        let named = first.parametersDigest ?? ""
        if let other = open.first(where: { $0.parametersDigest != first.parametersDigest }) {
            report.note(
                .groupParametersDiffer(
                    rows: rows, step: first.step, first: named,
                    found: other.parametersDigest ?? ""))
        }
        guard first.subject == .validation else { return }
        judged = (first.step, named)
        if let expected = parameters[first.step], expected != named {
            report.note(
                .validationParametersUnknown(step: first.step, expected: expected, found: named))
        }
        compare(first.step, &report)
    }

    private mutating func compare(_ step: Int, _ report: inout LedgerReport) {
        validated.insert(step)
        guard let metrics = validations[step] else {
            // A kill may have come between the lines of both files.
            if step < lastStep { report.note(.validationUnknown(step: step)) }
            return
        }
        var sum = RowEvaluation()
        for entry in open {
            sum.lossSum += entry.lossSum ?? .nan
            sum.lossTokens &+= entry.lossTokens
            sum.correct &+= entry.correct ?? 0
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
        if let first = validated.min() {
            for (step, metrics) in validations.sorted(by: { $0.key < $1.key })
            where step > first && metrics.tokens > 0 && !validated.contains(step) {
                report.note(.validationMissing(step: step))
            }
        }
        guard let references else { return }
        let digest = found.finish().description
        if digest != references {
            report.note(.referencesDiffer(recorded: references, ledger: digest))
        }
    }
}
