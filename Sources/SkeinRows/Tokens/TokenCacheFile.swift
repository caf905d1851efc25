import SkeinBasics

/// The layout of an encoded data file on disk. All numbers are little-endian.
///
/// ```
/// 8 bytes      "SKEINTOK"
/// 32 bytes     the key
/// 35 x 8       Header, in the order of its fields
/// rows x 12    for each row its number, its count of tokens and its count of targets
/// targets x 8  for each target its first position and the one after its last
/// ids x 4      the ids of all rows, end to end
/// 32 bytes     SHA-256 of everything before it
/// ```
enum TokenCacheFile {
    static let magic = Array("SKEINTOK".utf8)
    /// Raised when this layout changes.
    static let version: UInt64 = 3
    static let headerBytes = 8 + 32 + 8 * Header.fieldCount
    static let digestBytes = 32

    /// The numbers at the beginning.
    struct Header: Equatable {
        static let fieldCount = 12 + 2 * RowRemark.allCases.count + Limits.keptBadLines

        var version = TokenCacheFile.version
        /// Rows of the data file.
        var rowCount = 0
        var badLineCount = 0
        /// The first bad line, all 0 when there is none.
        var badLineNumber = 0
        var badLineStart = 0
        var badLineEnd = 0
        /// For each remark the rows that have it, and the line of the first.
        var remarkCounts: [Int] = []
        var remarkLines: [Int] = []
        var longest = 0
        var cutCount = 0
        var skippedCount = 0
        /// The lines that are kept; zeros fill the rest of `Limits.keptBadLines`.
        var skippedLines: [Int] = []
        /// Counts of what follows in this file.
        var rows = 0
        var targets = 0
        var ids = 0

        /// Bytes of a file with these counts.
        var fileBytes: Int {
            // Each count is at most 2^40 (`Reader.header`), so nothing overflows.
            TokenCacheFile.headerBytes + 12 * rows + 8 * targets + 4 * ids
                + TokenCacheFile.digestBytes
        }

        var words: [UInt64] {
            let lines =
                skippedLines
                + [Int](
                    repeating: 0, count: Limits.keptBadLines - skippedLines.count)
            let numbers =
                [
                    rowCount, badLineCount, badLineNumber, badLineStart, badLineEnd, longest,
                    cutCount, skippedCount,
                ] + remarkCounts + remarkLines + lines + [rows, targets, ids]
            return [version] + numbers.map { UInt64($0) }
        }
    }

    static func header(of file: EncodedFile) -> Header {
        let (lines, encoded) = (file.lines, file.encoded)
        return Header(
            rowCount: lines.rowCount, badLineCount: lines.badLineCount,
            badLineNumber: lines.firstBadLine?.number ?? 0,
            badLineStart: lines.firstBadLine?.bytes.lowerBound ?? 0,
            badLineEnd: lines.firstBadLine?.bytes.upperBound ?? 0,
            remarkCounts: lines.remarks.counts, remarkLines: lines.remarks.lines,
            longest: encoded.longest, cutCount: encoded.cutCount,
            skippedCount: encoded.skippedCount, skippedLines: encoded.skippedLines,
            rows: encoded.rows.count,
            targets: encoded.rows.reduce(0) { $0 + $1.targets.count },
            ids: encoded.tokenCount)
    }

    static func byteCount(of file: EncodedFile) -> Int { header(of: file).fileBytes }

    /// Hands the bytes of a file to `append`, piece by piece.
    static func write(
        _ file: EncodedFile, key: TokenCacheKey, append: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var hash = SHA256()
        func put(_ bytes: UnsafeRawBufferPointer) throws {
            hash.update(bytes)
            try append(bytes)
        }
        func put(_ words: [UInt32]) throws {
            try words.map { $0.littleEndian }.withUnsafeBytes { try put($0) }
        }
        try (magic + key.digest.bytes).withUnsafeBytes { try put($0) }
        try header(of: file).words.map { $0.littleEndian }.withUnsafeBytes { try put($0) }
        // Numbers, lengths and positions are below 2^31 (`RowLimits.rows`, --max-length).
        var words: [UInt32] = []
        func flush(above limit: Int) throws {
            guard words.count > limit else { return }
            try put(words)
            words.removeAll(keepingCapacity: true)
        }
        for row in file.encoded.rows {
            words += [UInt32(row.number), UInt32(row.ids.count), UInt32(row.targets.count)]
            try flush(above: 1 << 16)
        }
        for row in file.encoded.rows {
            for target in row.targets {
                words += [UInt32(target.lowerBound), UInt32(target.upperBound)]
            }
            try flush(above: 1 << 16)
        }
        for row in file.encoded.rows {
            for id in row.ids { words.append(UInt32(bitPattern: id)) }
            try flush(above: 1 << 16)
        }
        try flush(above: 0)
        try hash.finish().bytes.withUnsafeBytes { try append($0) }
    }
}
