import SkeinBasics

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

    /// A run that begins, or was begun by an older version.
    package static let none = RecordedReferences([])

    init(_ entries: [GroupEntry], digest: String? = nil) {
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
        guard let expected = run?.referencesDigest else {
            self = .none
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

    /// Whether run.json names references of which no usable line is left.
    var isWithoutLines: Bool { digest != nil && entries.isEmpty }

    /// Whether a piece is not the one that the run was computed with.
    func refutes(_ piece: ReferencePiece, _ rows: GroupEntry.RowKind, _ group: Int) -> Bool {
        entry(rows, group).map { $0.valuesDigest != piece.digest.description } ?? false
    }
}
