import SkeinBasics

/// OUT/term: a number for each start of a coordinator on a run directory, one more every time.
///
/// Everything from an earlier coordinator has an earlier term and is recognized by it. So the
/// number is on disk before it is used.
struct TermFile {
    static let name = "term"

    let path: String
    let store: any Store

    /// Writes the next term and returns it: `first` in a directory that has had none.
    ///
    /// - Throws: `TrainingError.damagedRecord`, as a guess could use a term twice; `FileError`.
    func raise(first: UInt32) throws -> UInt32 {
        let (next, isOver) = try last()?.addingReportingOverflow(1) ?? (first, false)
        guard !isOver else { throw damaged("no term is left") }
        try store.write("\(next)\n", to: path)
        return next
    }

    private func last() throws -> UInt32? {
        guard store.exists(path) else { return nil }
        let bytes = try RecordFile.bytes(of: path, in: store)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasSuffix("\n"), let term = UInt32(text.dropLast()), text == "\(term)\n" else {
            throw damaged("not a term")
        }
        return term
    }

    private func damaged(_ detail: String) -> TrainingError {
        .damagedRecord(path: path, line: nil, detail: detail)
    }
}
