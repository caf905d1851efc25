/// What the footer says of some consecutive rows: for each leaf, where its pages are.
struct RowGroup {
    /// The pages of one leaf.
    struct Chunk {
        var physical: Int32 = -1
        var codec: Int32 = -1
        /// The first of its encodings that are not read.
        var foreignEncoding: Int32?
        var valueCount = 0
        var byteCount = 0
        var dataOffset = 0
        var dictionaryOffset: Int?
        var isInAnotherFile = false
        var isEncrypted = false

        /// Where its pages start.
        var start: Int {
            if let dictionaryOffset, dictionaryOffset > 0, dictionaryOffset < dataOffset {
                return dictionaryOffset
            }
            return dataOffset
        }
    }

    private(set) var chunks: [Chunk] = []
    private(set) var rowCount = 0

    /// Reads `RowGroup` of parquet.thrift and checks it against the schema and the file.
    ///
    /// - Parameters:
    ///   - reader: of the footer.
    ///   - leaves: of the schema.
    ///   - fileBytes: where the footer starts; pages lie before it.
    /// - Throws: `TableProblem.damaged`, `.encrypted`.
    init(
        _ reader: inout ThriftReader, leaves: [Schema.Leaf], fileBytes: Int
    ) throws(TableProblem) {
        var group = RowGroup()
        try reader.structure { (reader, field) throws(TableProblem) in
            switch field.number {
            case 1:
                try reader.structures(field, limit: leaves.count) {
                    (reader) throws(TableProblem) in
                    group.chunks.append(try Chunk(&reader))
                }
            case 3: group.rowCount = try reader.count(field)
            default: try reader.skip(field)
            }
        }
        guard group.chunks.count == leaves.count else {
            throw reader.damaged("has a row group of \(group.chunks.count) columns")
        }
        guard group.rowCount <= RowLimits.rows else { throw .tooManyRows(limit: RowLimits.rows) }
        for (chunk, leaf) in zip(group.chunks, leaves) {
            if chunk.isEncrypted { throw .encrypted }
            guard !chunk.isInAnotherFile else { throw reader.damaged("has rows in another file") }
            guard chunk.physical == leaf.physical.rawValue else {
                throw reader.damaged("has a column of another type than the schema")
            }
            // A leaf outside lists has one value for each row, a leaf of a list at least one.
            guard
                leaf.mostRepetition == 0
                    ? chunk.valueCount == group.rowCount : chunk.valueCount >= group.rowCount
            else { throw reader.damaged("has a column of \(chunk.valueCount) values") }
            guard chunk.valueCount <= Limits.chunkValues else {
                throw .tooLarge(
                    part: "values of a column", limit: Limits.chunkValues, found: chunk.valueCount)
            }
            // Writers leave places at 0 where there are no pages, and no reader looks at them.
            if group.rowCount == 0 { continue }
            guard chunk.start >= 4, chunk.start <= fileBytes,
                chunk.byteCount <= fileBytes - chunk.start
            else { throw reader.damaged("has pages outside the file") }
        }
        self = group
    }

    private init() {}
}

extension RowGroup.Chunk {
    /// Reads `ColumnChunk` of parquet.thrift.
    init(_ reader: inout ThriftReader) throws(TableProblem) {
        var chunk = RowGroup.Chunk()
        try reader.structure { (reader, field) throws(TableProblem) in
            switch field.number {
            case 1:
                chunk.isInAnotherFile = true
                try reader.skip(field)
            case 3:
                guard field.kind == .structure else {
                    throw reader.damaged("has a column without metadata")
                }
                try reader.structure { (reader, field) throws(TableProblem) in
                    try chunk.readMetadata(&reader, field)
                }
            case 8, 9:
                chunk.isEncrypted = true
                try reader.skip(field)
            default: try reader.skip(field)
            }
        }
        self = chunk
    }

    /// A field of `ColumnMetaData`.
    private mutating func readMetadata(
        _ reader: inout ThriftReader, _ field: ThriftReader.Field
    ) throws(TableProblem) {
        switch field.number {
        case 1: physical = try reader.int32(field)
        case 2:
            var foreign: Int32?
            try reader.integers(field) { value in
                if foreign == nil, !PageEncoding.isRead(value) { foreign = value }
            }
            foreignEncoding = foreign
        case 4: codec = try reader.int32(field)
        case 5: valueCount = try reader.count(field)
        case 7: byteCount = try reader.count(field)
        case 9: dataOffset = try reader.count(field)
        case 11: dictionaryOffset = try reader.count(field)
        default: try reader.skip(field)
        }
    }
}
