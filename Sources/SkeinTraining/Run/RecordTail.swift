import SkeinBasics

/// Reads metrics.jsonl piece by piece while a run appends to it.
package struct MetricsTail: Sendable {
    /// What a piece of the file holds.
    package struct Piece: Sendable {
        package var records: [Metrics.Record] = []
        /// Lines that are none: a disk's damage, which a run that resumes leaves where it is.
        package var damaged = 0
        /// Where the next piece begins, in bytes.
        package var end: Int
    }

    private let path: String

    /// - Parameter path: the file, which need not be there yet.
    package init(path: String) {
        self.path = path
    }

    /// The whole lines from `offset` on, as many as are read at once; none at the end.
    ///
    /// - Parameters:
    ///   - offset: the end of the piece before, or 0.
    ///   - most: records of the piece.
    /// - Returns: the piece, with `end` equal to `offset` when there is nothing more.
    /// - Throws: `FileError`; `TrainingError.damagedRecord` for a line that does not end.
    package func piece(from offset: Int, most: Int) throws -> Piece {
        var piece = Piece(end: offset)
        piece.end = try LinePieces.lines(of: path, from: offset) { line in
            do {
                piece.records.append(try Metrics.record(line, path: path, line: nil))
            } catch is TrainingError {
                piece.damaged += 1
            }
            return piece.records.count < most
        }
        return piece
    }
}

extension Ledger {
    /// Calls `body` with every whole line of a ledger that may be damaged, in bounded memory.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - body: gets each of them.
    /// - Returns: how many lines are damaged.
    /// - Throws: `FileError`; `TrainingError.damagedRecord` for a line that does not end.
    package static func readWhatIsWhole(
        path: String, _ body: (Record) -> Void
    ) throws -> Int {
        var (damaged, offset) = (0, 0)
        while true {
            let end = try LinePieces.lines(of: path, from: offset) { line in
                do {
                    body(try record(line, path: path, line: nil))
                } catch is TrainingError {
                    damaged += 1
                }
                return true
            }
            guard end > offset else { return damaged }
            offset = end
        }
    }
}

/// Lines of a file that may be large, and may grow.
private enum LinePieces {
    /// Bytes of one piece: four of the longest lines.
    private static let bytes = 4 * Limits.recordLineBytes

    /// Calls `body` with the whole lines of a piece, until it returns false.
    ///
    /// - Returns: where the next piece begins; `offset` at the end.
    /// - Throws: `FileError`; `TrainingError.damagedRecord` for a line that does not end.
    static func lines(
        of path: String, from offset: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Int {
        let piece = try RegularFile.bytes(of: path, from: offset, limit: bytes)
        return try piece.withUnsafeBytes { bytes in
            var start = 0
            var wantsMore = true
            while wantsMore, let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                start = end + 1
                if !line.isEmpty { wantsMore = try body(line) }
            }
            guard start > 0 || bytes.count < Self.bytes else {
                throw TrainingError.damagedRecord(
                    path: path, line: nil, detail: "a line has more than \(bytes.count) bytes")
            }
            return offset + start
        }
    }
}
