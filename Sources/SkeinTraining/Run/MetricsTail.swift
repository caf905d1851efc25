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

    /// Of one piece: four of the longest lines.
    private static let pieceBytes = 4 * Limits.recordLineBytes

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
        let bytes = try RegularFile.bytes(of: path, from: offset, limit: Self.pieceBytes)
        try bytes.withUnsafeBytes { bytes in
            var start = 0
            while piece.records.count < most,
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
            {
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                do {
                    if !line.isEmpty {
                        piece.records.append(try Metrics.record(line, path: path, line: nil))
                    }
                } catch is TrainingError {
                    piece.damaged += 1
                }
                start = end + 1
            }
            piece.end += start
            if start == 0, bytes.count == Self.pieceBytes {
                throw TrainingError.damagedRecord(
                    path: path, line: nil, detail: "a line has more than \(bytes.count) bytes")
            }
        }
        return piece
    }
}
