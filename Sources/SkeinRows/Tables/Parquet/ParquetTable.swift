/// A Parquet file: its columns, and its rows as JSON objects.
///
/// Rows are read row group by row group and page by page; of each wanted leaf one page and one dictionary
/// are in memory. What pyarrow writes by default is read, with pages of either version: values as they are
/// or in dictionaries, not compressed or with Snappy or zstd. Source: apache/parquet-format 2.11.
package struct ParquetTable {
    /// Names of the columns, in the file's order; a column may be a struct or a list.
    package let columns: [String]
    package let rowCount: Int
    private let bytes: UnsafeRawBufferPointer
    private let schema: Schema
    private let footer: Range<Int>
    /// Where each row group's metadata starts in the footer.
    private let groups: [Int]

    /// Whether a file starts like a Parquet file, also an encrypted one.
    package static func isParquet(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: Self.magic) || bytes.starts(with: Self.encryptedMagic)
    }

    private static let magic = Array("PAR1".utf8)
    private static let encryptedMagic = Array("PARE".utf8)

    /// Reads the footer and checks it: sizes, offsets and counts. It reads no page.
    ///
    /// - Parameter bytes: the whole file; it must stay where it is as long as the table is used.
    /// - Throws: `TableProblem`.
    package init(_ bytes: UnsafeRawBufferPointer) throws(TableProblem) {
        let end = bytes.suffix(4)
        if bytes.starts(with: Self.encryptedMagic) || end.elementsEqual(Self.encryptedMagic) {
            throw .encrypted
        }
        guard bytes.count >= 12, bytes.starts(with: Self.magic), end.elementsEqual(Self.magic)
        else { throw .notParquet }
        let lengthPlace = bytes.count - 8
        let length = Int(
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: lengthPlace, as: UInt32.self)))
        guard length <= lengthPlace - 4 else {
            throw .damaged(
                part: "the footer", offset: lengthPlace, problem: "claims \(length) bytes")
        }
        guard length <= Limits.footerBytes else {
            throw .tooLarge(part: "the footer", limit: Limits.footerBytes, found: length)
        }
        let footer = (lengthPlace - length)..<lengthPlace
        var reader = Self.reader(bytes, footer)
        let metadata = try FileMetadata(&reader, fileBytes: footer.lowerBound)
        self.bytes = bytes
        self.footer = footer
        schema = metadata.schema
        groups = metadata.groups
        rowCount = metadata.rowCount
        columns = schema.columns.map(\.name)
    }

    private static func reader(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> ThriftReader {
        ThriftReader(
            UnsafeRawBufferPointer(rebasing: bytes[range]), part: "the footer",
            fileOffset: range.lowerBound)
    }

    /// Whether a column holds booleans or whole numbers.
    package func isWhole(_ column: String) -> Bool {
        schema.columns.contains { node in
            guard node.name == column else { return false }
            return switch node.kind {
            case .leaf(.boolean), .leaf(.int32), .leaf(.int64): true
            default: false
            }
        }
    }

    /// Gives each row to `body`, in the file's order, with the wanted columns alone.
    ///
    /// A row with NaN, infinity or bytes that are not UTF-8, or of more than 16 MiB, is a `BadRow`.
    ///
    /// - Parameters:
    ///   - wanted: names of columns, whether the file has them or not; nil for all of the file.
    ///   - lists: names of columns whose values become a part of the row if the file says that they are
    ///     JSON and they are arrays; of any other column they are texts.
    ///   - body: is called for each row; its errors end the reading.
    /// - Throws: `TableProblem`; what `body` throws.
    package func forEachRow(
        columns wanted: Set<String>?, lists: Set<String> = [], _ body: (RowResult) throws -> Void
    ) throws {
        try forEachRow(
            columns: wanted, lists: lists, budget: PageBudget(),
            mostBytes: Limits.rowsBytes(of: bytes.count), body)
    }

    /// The same, with a budget that the caller can look at, and a bound on all rows together.
    func forEachRow(
        columns wanted: Set<String>?, lists: Set<String> = [], budget: PageBudget,
        mostBytes: Int = .max, _ body: (RowResult) throws -> Void
    ) throws {
        let nodes = schema.columns.filter { wanted?.contains($0.name) ?? true }
        guard !nodes.isEmpty else { throw TableProblem.noWantedColumn(found: columns) }
        try check(nodes)
        var number = 0
        var given = 0
        for index in groups.indices {
            let group = try group(index)
            if group.rowCount == 0 { continue }
            var cursors = [ColumnCursor?](repeating: nil, count: schema.leaves.count)
            for node in nodes {
                let isList = lists.contains(node.name)
                try open(node, of: node.name, isList: isList, group, budget, &cursors)
            }
            var assembler = RowAssembler(nodes, cursors)
            for _ in 0..<group.rowCount {
                number += 1
                let row = try assembler.row(number)
                switch row {
                case .success(let row): given += row.json.count
                // How much of it was made is not known: at most a row.
                case .failure: given += Limits.rowBytes / 256
                }
                // Values of a dictionary take no bytes of their own, so a small file can be endless.
                guard given <= mostBytes else {
                    throw TableProblem.tooLarge(
                        part: "bytes of all rows", limit: mostBytes, found: given)
                }
                try body(row)
            }
            try assembler.finish()
        }
    }

    private func group(_ index: Int) throws(TableProblem) -> RowGroup {
        var reader = Self.reader(
            bytes, (footer.lowerBound + groups[index])..<footer.upperBound)
        return try RowGroup(&reader, leaves: schema.leaves, fileBytes: footer.lowerBound)
    }

    /// Refuses types, codecs and encodings before the first row is given.
    private func check(_ nodes: [SchemaNode]) throws(TableProblem) {
        for node in nodes {
            if let name = node.refusal {
                throw .unsupported(column: node.name, feature: .type(name))
            }
        }
        var values = 0
        let most = Limits.values(of: bytes.count)
        for index in groups.indices {
            let group = try group(index)
            for node in nodes {
                for chunk in group.chunks[node.leaves] {
                    // Each chunk has at most 2^31, and there are at most 2^20 groups: no overflow.
                    values += chunk.valueCount
                    guard values <= most else {
                        throw .tooLarge(part: "values", limit: most, found: values)
                    }
                    guard PageCodec(rawValue: chunk.codec) != nil else {
                        let name = PageCodec.name(chunk.codec)
                        throw .unsupported(column: node.name, feature: .codec(name))
                    }
                    if let encoding = chunk.foreignEncoding {
                        let name = PageEncoding.name(encoding)
                        throw .unsupported(column: node.name, feature: .encoding(name))
                    }
                }
            }
        }
    }

    /// Makes a cursor for each leaf beneath `node`; `isList`: JSON of a list becomes one.
    private func open(
        _ node: SchemaNode, of column: String, isList: Bool = false, _ group: RowGroup,
        _ budget: PageBudget, _ cursors: inout [ColumnCursor?]
    ) throws(TableProblem) {
        switch node.kind {
        case .leaf(.json) where !isList:
            try open(node, as: .text, of: column, group, budget, &cursors)
        case .leaf(let kind):
            try open(node, as: kind, of: column, group, budget, &cursors)
        case .structure(let fields):
            for field in fields { try open(field, of: column, group, budget, &cursors) }
        case .list(let element, _, _): try open(element, of: column, group, budget, &cursors)
        case .refused: preconditionFailure("wanted columns have no type that is refused")
        }
    }

    private func open(
        _ node: SchemaNode, as kind: SchemaNode.LeafKind, of column: String, _ group: RowGroup,
        _ budget: PageBudget, _ cursors: inout [ColumnCursor?]
    ) throws(TableProblem) {
        let leaf = node.leaves.lowerBound
        let chunk = group.chunks[leaf]
        let pages = try PageReader(bytes, column: column, chunk: chunk, budget: budget)
        cursors[leaf] = try ColumnCursor(
            pages, column: column, leaf: schema.leaves[leaf], kind: kind,
            valueCount: chunk.valueCount)
    }
}
