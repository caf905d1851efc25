import SkeinBasics

extension TokenCacheFile {
    /// Reads a file of the cache and trusts nothing in it.
    ///
    /// Sizes are checked first, so that no memory is allocated by a count that the file's length
    /// does not confirm; then the checksum, so that a flipped bit is reported as damage; then every
    /// row, so that not even a crafted file gives the model an id or a position that it lacks.
    struct Reader {
        let key: TokenCacheKey
        let data: DataFile
        let vocabularySize: Int
        let maximumLength: Int

        func read(_ bytes: UnsafeRawBufferPointer) throws -> EncodedFile {
            let header = try header(bytes)
            let end = bytes.count - TokenCacheFile.digestBytes
            let digest = SHA256.digest(of: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
            guard bytes[end...].elementsEqual(digest.bytes) else { throw TokenCacheFlaw.damaged }
            let encoded = EncodedRows(
                rows: try rows(bytes, header), cutCount: header.cutCount,
                skippedCount: header.skippedCount, skippedLines: header.skippedLines,
                longest: header.longest)
            let lines = LineFacts(
                rowCount: header.rowCount, badLineCount: header.badLineCount,
                firstBadLine: try badLine(header),
                remarks: RemarkCounts(
                    counts: header.remarkCounts, lines: header.remarkLines, path: data.path))
            return EncodedFile(digest: data.digest, lines: lines, encoded: encoded)
        }

        private func header(_ bytes: UnsafeRawBufferPointer) throws -> Header {
            let least = TokenCacheFile.headerBytes + TokenCacheFile.digestBytes
            guard bytes.starts(with: TokenCacheFile.magic) else { throw TokenCacheFlaw.notOurs }
            guard bytes.count >= least else {
                throw TokenCacheFlaw.wrongSize(expected: least, found: bytes.count)
            }
            var offset = TokenCacheFile.magic.count + 32
            func number(_ field: String, limit: Int = 1 << 40) throws -> Int {
                let word = UInt64(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
                guard word <= UInt64(limit) else { throw TokenCacheFlaw.badNumber(field: field) }
                return Int(word)
            }
            var header = Header()
            let version = try number("version")
            guard version == Int(TokenCacheFile.version) else {
                throw TokenCacheFlaw.otherVersion(found: version)
            }
            guard bytes[TokenCacheFile.magic.count...].starts(with: key.digest.bytes) else {
                throw TokenCacheFlaw.otherKey
            }
            header.rowCount = try number("row count", limit: RowLimits.rows)
            header.badLineCount = try number("count of bad lines")
            header.badLineNumber = try number("bad line")
            header.badLineStart = try number("bad line's start", limit: data.mapped.count)
            header.badLineEnd = try number("bad line's end", limit: data.mapped.count)
            header.longest = try number("longest row")
            header.cutCount = try number("cut rows", limit: header.rowCount)
            header.skippedCount = try number("skipped rows", limit: header.rowCount)
            for _ in RowRemark.allCases {
                header.remarkCounts.append(
                    try number("rows with a remark", limit: header.rowCount))
            }
            for count in header.remarkCounts {
                let line = try number("first row with a remark")
                guard (line > 0) == (count > 0) else {
                    throw TokenCacheFlaw.badNumber(field: "first row with a remark")
                }
                header.remarkLines.append(line)
            }
            let kept = min(header.skippedCount, Limits.keptBadLines)
            for index in 0..<Limits.keptBadLines {
                let line = try number("skipped line")
                guard (line > 0) == (index < kept) else {
                    throw TokenCacheFlaw.badNumber(field: "skipped line")
                }
                if index < kept { header.skippedLines.append(line) }
            }
            header.rows = try number("rows")
            header.targets = try number("targets")
            header.ids = try number("ids")
            guard header.rows > 0 else { throw TokenCacheFlaw.badNumber(field: "rows") }
            guard header.fileBytes == bytes.count else {
                throw TokenCacheFlaw.wrongSize(expected: header.fileBytes, found: bytes.count)
            }
            return header
        }

        /// The first bad line is read again, so that its error need not be stored.
        private func badLine(_ header: Header) throws -> LineFacts.BadLine? {
            guard header.badLineCount > 0 else { return nil }
            guard header.badLineStart < header.badLineEnd else {
                throw TokenCacheFlaw.badNumber(field: "bad line")
            }
            let range = header.badLineStart..<header.badLineEnd
            let problem: LineProblem? = data.mapped.withBytes { bytes in
                do throws(LineProblem) {
                    _ = try PairRow(
                        line: UnsafeRawBufferPointer(rebasing: bytes[range]), fields: key.fields)
                    return nil
                } catch {
                    return error
                }
            }
            guard let problem else { throw TokenCacheFlaw.badNumber(field: "bad line") }
            return LineFacts.BadLine(
                number: header.badLineNumber, bytes: range,
                error: .badLine(path: data.path, line: header.badLineNumber, problem: problem))
        }

        private func rows(
            _ bytes: UnsafeRawBufferPointer, _ header: Header
        ) throws -> [TokenizedRow] {
            let table = Words(bytes, from: TokenCacheFile.headerBytes, count: 3 * header.rows)
            let bounds = Words(bytes, from: table.end, count: 2 * header.targets)
            let ids = Words(bytes, from: bounds.end, count: header.ids)
            var rows: [TokenizedRow] = []
            rows.reserveCapacity(header.rows)
            var (target, id, previous, distinct) = (0, 0, -1, 0)
            for index in 0..<header.rows {
                let number = table[3 * index]
                let (idCount, targetCount) = (table[3 * index + 1], table[3 * index + 2])
                guard number >= previous, number < header.rowCount, idCount <= maximumLength,
                    idCount <= header.ids - id, targetCount <= header.targets - target
                else { throw TokenCacheFlaw.badRow(index: index) }
                if number > previous { distinct += 1 }
                previous = number
                guard
                    let targets = Self.targets(
                        bounds, target..<(target + targetCount), length: idCount),
                    let values = values(ids, id..<(id + idCount))
                else { throw TokenCacheFlaw.badRow(index: index) }
                rows.append(TokenizedRow(number: number, ids: values, targets: targets))
                target += targetCount
                id += idCount
            }
            // A row can have several sequences, but every row has one or was skipped.
            guard distinct + header.skippedCount == header.rowCount else {
                throw TokenCacheFlaw.badNumber(field: "rows")
            }
            guard target == header.targets, id == header.ids else {
                throw TokenCacheFlaw.badRow(index: header.rows)
            }
            return rows
        }

        /// Targets as `TokenizedRow` has them: ascending, not adjacent, up to the row's end.
        private static func targets(
            _ bounds: Words, _ range: Range<Int>, length: Int
        ) -> [Range<Int>]? {
            var targets: [Range<Int>] = []
            var previous = 0
            for index in range {
                let (lower, upper) = (bounds[2 * index], bounds[2 * index + 1])
                guard lower > previous, lower < upper, upper <= length else { return nil }
                targets.append(lower..<upper)
                previous = upper
            }
            return previous == length && length > 0 ? targets : nil
        }

        private func values(_ ids: Words, _ range: Range<Int>) -> [Int32]? {
            let values = range.map { Int32(truncatingIfNeeded: ids[$0]) }
            return values.allSatisfy { $0 >= 0 && Int($0) < vocabularySize } ? values : nil
        }
    }

    /// 32-bit numbers of a file whose length has been checked.
    private struct Words {
        private let bytes: UnsafeRawBufferPointer
        private let start: Int
        private let count: Int

        var end: Int { start + 4 * count }

        init(_ bytes: UnsafeRawBufferPointer, from start: Int, count: Int) {
            self.bytes = bytes
            self.start = start
            self.count = count
        }

        subscript(_ index: Int) -> Int {
            Int(
                UInt32(
                    littleEndian: bytes.loadUnaligned(
                        fromByteOffset: start + 4 * index, as: UInt32.self)))
        }
    }
}
