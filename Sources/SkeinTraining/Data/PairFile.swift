import Foundation
import SkeinBasics

/// The rows of one .jsonl file, in file order.
///
/// One JSON object on each line. Blank lines, a byte order mark at the start and carriage returns
/// at line ends are ignored.
package struct PairFile: Sendable {
    package let path: String
    package let rows: [PairRow]
    /// For each row, its line in the file, counted from 1.
    package let lines: [Int]
    /// Lines that were skipped because they are malformed.
    package let badLineCount: Int
    /// The first few of these.
    package let badLines: [TrainingError]
    /// The first of these, with its place.
    let firstBadLine: LineFacts.BadLine?
    /// Of the file's bytes.
    package let digest: SHA256.Digest

    /// Reads a data file.
    ///
    /// - Parameters:
    ///   - path: a .jsonl file.
    ///   - skippingBadLines: count malformed lines and continue (`--skip-bad-lines`).
    ///   - allowingNone: an empty file is allowed (validation data).
    /// - Throws: `FileError`; `TrainingError.badLine`, `.noRows`, `.dataFileTooLarge`,
    ///   `.tooManyRows`.
    package init(
        path: String, skippingBadLines: Bool = false, allowingNone: Bool = false
    ) throws {
        try self.init(
            DataFile(path: path), skippingBadLines: skippingBadLines, allowingNone: allowingNone)
    }

    /// Reads a data file that is already mapped and hashed.
    init(_ file: DataFile, skippingBadLines: Bool, allowingNone: Bool) throws {
        let path = file.path
        var reader = Reader(path: path, skippingBadLines: skippingBadLines)
        try file.mapped.withBytes { try reader.read($0) }
        guard allowingNone || !reader.rows.isEmpty else {
            throw TrainingError.noRows(path: path, badLines: reader.badLineCount)
        }
        self.path = path
        rows = reader.rows
        lines = reader.lines
        badLineCount = reader.badLineCount
        badLines = reader.badLines
        firstBadLine = reader.firstBadLine
        digest = file.digest
    }

    private struct Reader {
        let path: String
        let skippingBadLines: Bool
        var rows: [PairRow] = []
        var lines: [Int] = []
        var badLineCount = 0
        var badLines: [TrainingError] = []
        var firstBadLine: LineFacts.BadLine?

        init(path: String, skippingBadLines: Bool) {
            self.path = path
            self.skippingBadLines = skippingBadLines
        }

        mutating func read(_ bytes: UnsafeRawBufferPointer) throws {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            let text = UnsafeRawBufferPointer(
                rebasing: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...])
            for (number, line) in ByteLines(text) where !Self.isBlank(line) {
                guard let start = line.baseAddress, let origin = bytes.baseAddress else { continue }
                try add(line, number: number, offset: start - origin)
            }
        }

        private mutating func add(
            _ line: UnsafeRawBufferPointer, number: Int, offset: Int
        ) throws {
            do throws(LineProblem) {
                rows.append(try PairRow(line: line))
                lines.append(number)
            } catch {
                let bad = TrainingError.badLine(path: path, line: number, problem: error)
                guard skippingBadLines else { throw bad }
                badLineCount += 1
                if firstBadLine == nil {
                    firstBadLine = LineFacts.BadLine(
                        number: number, bytes: offset..<(offset + line.count), error: bad)
                }
                if badLines.count < Limits.keptBadLines { badLines.append(bad) }
            }
            guard rows.count <= Limits.rows else {
                throw TrainingError.tooManyRows(path: path, limit: Limits.rows)
            }
        }

        private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
            line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        }
    }
}

/// The lines of a buffer without their line ends, numbered from 1. No bytes are copied.
struct ByteLines: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer
    private var number = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    mutating func next() -> (number: Int, line: UnsafeRawBufferPointer)? {
        guard let base = rest.baseAddress, !rest.isEmpty else { return nil }
        number += 1
        let newline = memchr(base, 0x0A, rest.count).map { UnsafeRawPointer($0) - base }
        let end = newline ?? rest.count
        var line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...])
        if line.last == 0x0D { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
        return (number, line)
    }
}
