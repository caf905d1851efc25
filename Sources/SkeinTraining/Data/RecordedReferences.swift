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

    /// The lines, in order.
    let entries: [GroupEntry]
    private let places: [Place: Int]

    /// A run that begins, or was begun by an older version.
    package static let none = RecordedReferences([])

    init(_ entries: [GroupEntry]) {
        self.entries = entries
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
    /// - Throws: `FileError`. A damaged ledger says nothing here; its check reports it.
    package init(_ directory: RunDirectory, _ run: RunFile?) throws {
        guard let expected = run?.referencesDigest, directory.store.exists(directory.ledger) else {
            self = .none
            return
        }
        var entries: [GroupEntry] = []
        do {
            try Ledger.read(path: directory.ledger, in: directory.store) { record in
                guard case .group(let entry) = record, case .reference = entry.subject else {
                    return
                }
                entries.append(entry)
            }
        } catch is TrainingError {
            self = .none
            return
        }
        // A kill may have torn them, or somebody has changed them.
        self.init(References.Digest.of(entries) == expected ? entries : [])
    }

    func entry(_ rows: GroupEntry.RowKind, _ group: Int) -> GroupEntry? {
        places[Place(rows: rows, group: group)].map { entries[$0] }
    }

    /// Whether a piece is not the one that the run was computed with.
    func refutes(_ piece: ReferencePiece, _ rows: GroupEntry.RowKind, _ group: Int) -> Bool {
        entry(rows, group).map { $0.valuesDigest != piece.digest.description } ?? false
    }
}
