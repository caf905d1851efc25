import Basics
import Foundation

/// OUT/term: how often a coordinator was started on a run directory.
///
/// What an earlier coordinator gave out carries an earlier term and is recognized by it. So the
/// number is on disk before anybody hears it.
struct TermFile {
    static let name = "term"

    let path: String

    /// Writes the next term and returns it.
    ///
    /// - Throws: `TrainingError.damagedRecord`: a guess could give a term out twice. `FileError`.
    func raise() throws -> UInt32 {
        let (next, isOver) = try last().addingReportingOverflow(1)
        guard !isOver else { throw damaged("no term is left") }
        try AtomicFile.write("\(next)\n", to: path)
        return next
    }

    private func last() throws -> UInt32 {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        let bytes = try RecordFile.bytes(of: path)
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
