import SkeinBasics
import SkeinModels

/// What a run that is resumed has recorded of its references: the lines of its ledger.
///
/// What is computed again is compared with them before it is kept, so the ledger goes on naming who
/// computed what the run has used.
package struct RecordedReferences: Sendable {
    private struct Place: Hashable {
        let rows: GroupEntry.RowKind
        let group: Int
    }

    /// The lines, in order; none if they are not those that run.json names.
    let entries: [GroupEntry]
    /// What run.json names; nil: nothing.
    let digest: String?
    private let places: [Place: Int]
    /// The ledger of a run that an older version began, which recorded no references.
    private let olderLedger: (path: String, store: any Store)?

    /// A run that begins.
    package static let none = RecordedReferences([])

    init(
        _ entries: [GroupEntry], digest: String? = nil,
        olderLedger: (path: String, store: any Store)? = nil
    ) {
        self.olderLedger = olderLedger
        self.entries = entries
        self.digest = digest
        var places: [Place: Int] = [:]
        for (index, entry) in entries.enumerated() {
            guard case .reference(let rows) = entry.subject else { continue }
            places[Place(rows: rows, group: entry.group)] = index
        }
        self.places = places
    }

    /// Reads the lines of the run in a directory.
    ///
    /// - Parameters:
    ///   - directory: of the run.
    ///   - run: its run.json; nil: the run begins.
    /// - Throws: `FileError`. Damaged lines say nothing here; the ledger's check reports them.
    package init(_ directory: RunDirectory, _ run: RunFile?) throws {
        guard let run else {
            self = .none
            return
        }
        guard let expected = run.referencesDigest else {
            let isThere = directory.store.exists(directory.ledger)
            self.init(
                [], olderLedger: isThere ? (directory.ledger, directory.store) : nil)
            return
        }
        guard directory.store.exists(directory.ledger) else {
            // A kill may have come before the ledger: run.json still says what there was.
            self.init([], digest: expected)
            return
        }
        /// All lines are read.
        struct Enough: Error {}
        var entries: [GroupEntry] = []
        do {
            // They are the first lines.
            try Ledger.read(path: directory.ledger, in: directory.store) { record in
                guard case .group(let entry) = record, case .reference = entry.subject else {
                    throw Enough()
                }
                entries.append(entry)
            }
        } catch is Enough {
            // What follows is of steps.
        } catch is TrainingError {
            // A line is damaged: the digest decides.
        }
        // A kill may have torn them, or they were changed.
        self.init(References.Digest.of(entries) == expected ? entries : [], digest: expected)
    }

    /// What was recorded of a group; nil: nothing.
    func entry(_ rows: GroupEntry.RowKind, _ group: Int) -> GroupEntry? {
        guard let index = places[Place(rows: rows, group: group)] else { return nil }
        var entry = entries[index]
        // The digest does not cover names, and people read them in errors.
        if !WorkerName.isValid(entry.worker) { entry.worker = "(a name that none can have)" }
        return entry
    }

    /// Whether what is computed can be compared only when all of it is here: no usable line is left
    /// of what run.json names, or an older version began the run.
    var isWithoutLines: Bool { entries.isEmpty && (digest != nil || olderLedger != nil) }

    /// Refuses other references than those that the steps of an older version's run have read: their
    /// lines name all that they were computed from. Lines of versions before 2026-11-27 do not, and
    /// nothing says what these steps have read.
    ///
    /// - Parameters:
    ///   - job: with references.
    ///   - workers: who has computed them.
    ///   - folder: where they are kept.
    /// - Throws: `TrainingError.referencesOfOtherSteps`, `FileError`.
    func compareWithSteps(of job: TrainingJob, _ workers: [String], folder: String?) throws {
        guard let olderLedger else { return }
        let recipe = job.workRecipe
        var steps = job.plan.steps()
        var current: (step: Int, microBatches: [MicroBatch]) = (0, [])
        do {
            try Ledger.read(path: olderLedger.path, in: olderLedger.store) { record in
                guard case .microBatch(let entry) = record, let inputs = entry.inputsDigest,
                    let parameters = entry.parametersDigest.flatMap({ SHA256.Digest($0) })
                else { return }
                while current.step < entry.step, let next = steps.next() {
                    let microBatches =
                        next.step == entry.step
                        ? next.microBatches(
                            of: job.training, groups: job.trainingGroups,
                            comparesAnswers: job.comparesAnswers) : []
                    current = (next.step, microBatches)
                }
                guard current.step == entry.step,
                    current.microBatches.indices.contains(entry.microBatch)
                else { return }
                let found = WorkInputs(
                    recipe, parameters: parameters,
                    gradientOf: current.microBatches[entry.microBatch])
                if found.digest.description != inputs {
                    throw TrainingError.referencesOfOtherSteps(
                        path: olderLedger.path, step: entry.step, microBatch: entry.microBatch,
                        workers: workers, folder: folder)
                }
            }
        } catch TrainingError.damagedRecord {
            // What follows cannot be compared; the ledger's check names the line.
        }
    }

    /// Whether a piece is not the one that the run was computed with.
    func refutes(_ piece: ReferencePiece, _ rows: GroupEntry.RowKind, _ group: Int) -> Bool {
        entry(rows, group).map { $0.valuesDigest != piece.digest.description } ?? false
    }
}
