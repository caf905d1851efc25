import SkeinBasics
import SkeinModels

// What the run's records say, and whether they still prove it.
extension TrainingLoop {
    /// Opens the ledger, whose first lines say who has computed what the loss reads of the base model.
    ///
    /// They are written when the run begins; when one of an older version goes on, which has not
    /// recorded it; and when all of them are gone and all that was computed again is what run.json
    /// names.
    mutating func openLedger() throws -> Ledger {
        defer { references = [] }
        let isUnknown = recorded != nil && recorded?.referencesDigest == nil
        let isHead = try step == 0 || isUnknown || !hasReferenceLines()
        let ledger = try Ledger(
            path: directory.ledger, keepingThroughStep: step == 0 ? -1 : step,
            references: isHead ? references : [], in: directory.store)
        // Until then a kill leaves lines that the next start replaces.
        if isUnknown, let digest = job.runFile.referencesDigest {
            try RunFile.mark(
                referencesDigest: digest, at: directory.runFile, in: directory.store)
            recorded?.referencesDigest = digest
        }
        return ledger
    }

    /// Lets the early warning see what earlier processes of this run have written, which it has warned of
    /// then.
    private mutating func recallWarnings() throws {
        guard step > 0, directory.store.exists(directory.metrics) else { return }
        // A damaged line is the ledger's finding.
        try Metrics.readWhatIsWhole(path: directory.metrics, in: directory.store) { record in
            switch record {
            case .step(let line): _ = warning?.note(line)
            case .validation(let line): _ = warning?.note(line)
            case .sample: break
            }
        }
    }

    /// Whether a line of the ledger is of references, or cannot be told.
    private func hasReferenceLines() throws -> Bool {
        guard !references.isEmpty, directory.store.exists(directory.ledger) else { return false }
        /// One was found.
        struct Found: Error {}
        do {
            try Ledger.read(path: directory.ledger, in: directory.store) { record in
                if case .group(let entry) = record, case .reference = entry.subject {
                    throw Found()
                }
            }
            return false
        } catch is Found {
            return true
        } catch TrainingError.damagedRecord {
            return true
        }
    }

    /// Reports at once if the records no longer prove the steps so far. The run continues: what it
    /// computes does not depend on them.
    mutating func checkLedger() throws {
        guard step > 0 else { return }
        try recallWarnings()
        let counts = job.plan.steps().prefix(step).map(\.microBatches.count)
        let beginning = GradientCodec.digest(of: stepper.published(of: job.initial.values))
        do {
            let found = try Ledger.verify(
                ledger: directory.ledger, metrics: directory.metrics, in: directory.store,
                parameters: [0: beginning.description], references: recorded?.referencesDigest,
                groupsFromBeginning: recorded?.knownAnswer != nil, doneSteps: step,
                microBatchCount: { $0 <= counts.count ? counts[$0 - 1] : 0 })
            guard let first = found.findings.first else { return }
            try report(
                .ledgerDoubted(
                    .ledgerRefuted(
                        path: first.isOfMetrics ? directory.metrics : directory.ledger,
                        findings: found.findingCount, first: first)))
        } catch let error as TrainingError {
            guard case .damagedRecord = error else { throw error }
            try report(.ledgerDoubted(error))
        }
    }
}
