import SkeinBasics

/// Something in a ledger that should not be there, or something missing that should be.
package enum LedgerFinding: Sendable, Equatable {
    case missing(step: Int, microBatch: Int)
    case repeated(step: Int, microBatch: Int, count: Int)
    /// The plan has `count` micro-batches in this step.
    case outOfRange(step: Int, microBatch: Int, count: Int)
    /// Lines are in the order of their steps, so a step cannot come back later.
    case outOfOrder(step: Int, after: Int)
    case stepMissing(step: Int)
    /// Lines of a step that has no line in the metrics: the step was not finished.
    case uncommitted(step: Int)
    /// A run that continues from step `step` has metrics only up to step `last`.
    case metricsEnd(step: Int, last: Int)
    /// The steps of the metrics are not 1, 2, 3 and so on.
    case metricsOutOfOrder(expected: Int, found: Int)
    case tokensDiffer(step: Int, ledger: Int, metrics: Int)
    case lossTokensDiffer(step: Int, ledger: Int, metrics: Int)
    case lossDiffers(step: Int, ledger: Double, metrics: Double)
    /// Lines of one step name different parameters that they were computed with.
    case parametersDiffer(step: Int, microBatch: Int, first: String, found: String)
    /// The step was not computed with the parameters that the step before it led to.
    case parametersUnknown(step: Int, checkpoint: String, found: String)

    /// Groups of rows are numbered from 0 on, each once.
    case groupUnexpected(rows: String, step: Int, expected: Int, found: Int)
    case groupParametersDiffer(rows: String, step: Int, first: String, found: String)
    /// What was validated is not what the step led to, or the next step began with.
    case validationParametersUnknown(step: Int, expected: String, found: String)
    case validationMissing(step: Int)
    /// Lines of a validation of which the metrics say nothing, though they go on.
    case validationUnknown(step: Int)
    case validationDiffers(step: Int, field: String, ledger: String, metrics: String)
    case referencesDiffer(recorded: String, ledger: String)

    /// Whether it is about metrics.jsonl alone.
    package var isOfMetrics: Bool {
        switch self {
        case .metricsEnd, .metricsOutOfOrder: true
        default: false
        }
    }
}

/// What a check of a ledger found.
package struct LedgerReport: Sendable, Equatable {
    package var steps = 0
    package var microBatches = 0
    package var tokens = 0
    package var lossTokens = 0
    /// Groups of rows: of validations, of test rows, and of references.
    package var groups = 0
    package var findingCount = 0
    /// The first findings, up to a limit.
    package var findings: [LedgerFinding] = []

    mutating func note(_ finding: LedgerFinding) {
        findingCount += 1
        if findings.count < Limits.ledgerFindings { findings.append(finding) }
    }
}

extension Ledger {
    /// Checks that every micro-batch of every committed step is in the ledger exactly once, and
    /// that the ledger's sums are those of the metrics. The same for the groups of validations; and
    /// that log-probabilities under the reference model are those that run.json names.
    ///
    /// The loss of a step is summed in the order of the reduction tree, so it must be equal to the
    /// last digit. Steps that the metrics lack are uncommitted: a run that was killed between its
    /// ledger lines and its metrics line leaves one such step at the end, which is no finding.
    ///
    /// - Parameters:
    ///   - ledger: path of ledger.jsonl.
    ///   - metrics: path of metrics.jsonl.
    ///   - store: where both are.
    ///   - parameters: SHA-256, as hexadecimal digits, of the parameters after some steps (0: before
    ///     the first), as checkpoints have them: the next step must name them.
    ///   - references: what run.json names of them; nil: it names none.
    ///   - groupsFromBeginning: whether the run was begun by a version that writes lines of groups;
    ///     otherwise they begin with the first validation that has some.
    ///   - doneSteps: how many steps are done, if the caller knows.
    ///   - microBatchCount: number of micro-batches of a step by the plan, if the caller has it;
    ///     otherwise the highest index says how many there are.
    /// - Returns: what was counted, and what is wrong.
    /// - Throws: `FileError`; `TrainingError.damagedRecord`.
    package static func verify(
        ledger: String, metrics: String, in store: any Store = DiskStore(),
        parameters: [Int: String] = [:], references: String? = nil,
        groupsFromBeginning: Bool = false, doneSteps: Int = 0,
        microBatchCount: ((Int) -> Int)? = nil
    ) throws -> LedgerReport {
        var committed: [Int: StepMetrics] = [:]
        var steps: [Int] = []
        var validations: [Int: ValidationMetrics] = [:]
        try Metrics.read(path: metrics, in: store) { record in
            switch record {
            case .step(let metrics):
                committed[metrics.step] = metrics
                steps.append(metrics.step)
            case .validation(let metrics): validations[metrics.step] = metrics
            case .sample: break
            }
        }
        var check = Check(
            committed: committed, microBatchCount: microBatchCount, parameters: parameters,
            groups: GroupCheck(
                validations: validations, parameters: parameters, references: references,
                fromBeginning: groupsFromBeginning, lastStep: steps.max() ?? 0))
        // Every step from 1 on, once and in order: a step may not be missing from both files.
        for (place, step) in steps.enumerated() where step != place + 1 {
            check.report.note(.metricsOutOfOrder(expected: place + 1, found: step))
            break
        }
        let last = steps.last ?? 0
        if last < doneSteps {
            check.report.note(.metricsEnd(step: doneSteps, last: last))
        }
        try read(path: ledger, in: store) { check.take($0) }
        check.finish()
        return check.report
    }

    private struct Check {
        let committed: [Int: StepMetrics]
        let microBatchCount: ((Int) -> Int)?
        let parameters: [Int: String]
        var groups: GroupCheck
        let lastCommitted: Int
        /// Ascending. Only these steps are visited: a damaged number may be of any size.
        let committedSteps: [Int]
        /// Index of the first of them that was not visited.
        var nextPlace = 0
        var report = LedgerReport()
        var entries: [LedgerEntry] = []
        var lastStep = 0

        init(
            committed: [Int: StepMetrics], microBatchCount: ((Int) -> Int)?,
            parameters: [Int: String], groups: GroupCheck
        ) {
            self.groups = groups
            self.committed = committed
            self.parameters = parameters
            self.microBatchCount = microBatchCount
            committedSteps = committed.keys.sorted()
            lastCommitted = committedSteps.last ?? 0
        }

        mutating func take(_ record: Record) {
            switch record {
            case .microBatch(let entry):
                groups.close(&report)
                if let open = entries.first, open.step != entry.step { closeStep() }
                entries.append(entry)
            case .group(let entry):
                // What is judged after a step comes after all lines of the step.
                closeStep()
                groups.take(entry, &report)
            }
        }

        mutating func finish() {
            closeStep()
            noteMissing { _ in true }
            groups.finish(&report)
        }

        /// Notes the committed steps after `lastStep`, as far as `isDue`.
        private mutating func noteMissing(while isDue: (Int) -> Bool) {
            while nextPlace < committedSteps.count, isDue(committedSteps[nextPlace]) {
                let step = committedSteps[nextPlace]
                if step > lastStep { report.note(.stepMissing(step: step)) }
                nextPlace += 1
            }
        }

        private mutating func closeStep() {
            guard let step = entries.first?.step else { return }
            defer { entries.removeAll(keepingCapacity: true) }
            guard step > lastStep else {
                report.note(.outOfOrder(step: step, after: lastStep))
                return
            }
            noteMissing { $0 < step }
            lastStep = step
            guard let metrics = committed[step] else {
                if step <= lastCommitted { report.note(.uncommitted(step: step)) }
                return
            }
            checkCounts(step)
            checkTotals(step, metrics)
            checkParameters(step)
        }

        /// Old lines name no parameters.
        private mutating func checkParameters(_ step: Int) {
            let named = entries.filter { $0.parametersDigest != nil }
            guard let first = named.first?.parametersDigest else { return }
            if let other = named.first(where: { $0.parametersDigest != first }) {
                report.note(
                    .parametersDiffer(
                        step: step, microBatch: other.microBatch, first: first,
                        found: other.parametersDigest ?? ""))
            }
            if let judged = groups.judged, judged.step == step - 1, judged.parameters != first {
                report.note(
                    .validationParametersUnknown(
                        step: step - 1, expected: first, found: judged.parameters))
            }
            if let expected = parameters[step - 1], expected != first {
                report.note(
                    .parametersUnknown(step: step, checkpoint: expected, found: first))
            }
        }

        private mutating func checkCounts(_ step: Int) {
            // Nearly every step is like this: each micro-batch once, in order.
            let areInOrder = entries.indices.allSatisfy { entries[$0].microBatch == $0 }
            if areInOrder, (microBatchCount?(step) ?? entries.count) == entries.count { return }
            var lines: [Int: Int] = [:]
            for entry in entries { lines[entry.microBatch, default: 0] += 1 }
            let highest = max(lines.keys.max() ?? -1, -1)
            let count = microBatchCount?(step) ?? min(highest, .max - 1) + 1
            for (microBatch, found) in lines.sorted(by: { $0.key < $1.key }) {
                if !(0..<count).contains(microBatch) {
                    report.note(.outOfRange(step: step, microBatch: microBatch, count: count))
                } else if found > 1 {
                    report.note(.repeated(step: step, microBatch: microBatch, count: found))
                }
            }
            // Bounded: a damaged index must not make this loop long.
            for microBatch in 0..<min(count, entries.count + Limits.ledgerFindings)
            where lines[microBatch] == nil {
                report.note(.missing(step: step, microBatch: microBatch))
            }
        }

        private mutating func checkTotals(_ step: Int, _ metrics: StepMetrics) {
            var tokens = 0
            var lossTokens = 0
            var tree = ReductionTree(count: max(1, entries.count))
            let inOrder = entries.sorted { $0.microBatch < $1.microBatch }
            for (place, entry) in inOrder.enumerated() {
                tokens &+= entry.tokens
                lossTokens &+= entry.lossTokens
                tree.add(
                    place,
                    GradientSum(
                        tokens: 0, lossTokens: 0, lossSum: entry.lossSum, gradient: []))
            }
            report.steps += 1
            report.microBatches += entries.count
            report.tokens &+= tokens
            report.lossTokens &+= lossTokens
            if tokens != metrics.tokens {
                report.note(.tokensDiffer(step: step, ledger: tokens, metrics: metrics.tokens))
            }
            if lossTokens != metrics.lossTokens {
                report.note(
                    .lossTokensDiffer(
                        step: step, ledger: lossTokens, metrics: metrics.lossTokens))
            }
            let loss = (tree.total?.lossSum ?? 0) / Double(lossTokens)
            if loss != metrics.loss {
                report.note(.lossDiffers(step: step, ledger: loss, metrics: metrics.loss))
            }
        }
    }
}
