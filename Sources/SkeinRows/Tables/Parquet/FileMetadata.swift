import SkeinBasics

/// The footer of a Parquet file.
struct FileMetadata {
    let schema: Schema
    /// Where each row group's metadata starts in the footer.
    let groups: [Int]
    let rowCount: Int

    /// Reads `FileMetaData` of parquet.thrift. Row groups are checked and not kept: of a thousand columns
    /// they would take many times the bytes of the footer.
    ///
    /// - Parameters:
    ///   - reader: of the footer.
    ///   - fileBytes: where the footer starts.
    /// - Throws: `TableProblem`.
    init(_ reader: inout ThriftReader, fileBytes: Int) throws(TableProblem) {
        var schema: Schema?
        var groups: [Int] = []
        var (claimed, counted) = (-1, 0)
        try reader.structure { (reader, field) throws(TableProblem) in
            switch field.number {
            case 2:
                guard schema == nil else { throw reader.damaged("has two schemas") }
                var elements: [SchemaElement] = []
                try reader.structures(field, limit: Limits.schemaElements) {
                    (reader) throws(TableProblem) in
                    elements.append(try SchemaElement(&reader))
                }
                schema = try Schema(elements, reader)
            case 3: claimed = try reader.count(field)
            case 4:
                guard let schema else { throw reader.damaged("has rows before its schema") }
                try reader.structures(field, limit: Limits.rowGroups) {
                    (reader) throws(TableProblem) in
                    groups.append(reader.place)
                    let group = try RowGroup(
                        &reader, leaves: schema.leaves, fileBytes: fileBytes)
                    counted += group.rowCount
                    guard counted <= RowLimits.rows else {
                        throw .tooManyRows(limit: RowLimits.rows)
                    }
                }
            case 8: throw .encrypted
            default: try reader.skip(field)
            }
        }
        guard let schema else { throw reader.damaged("has no schema") }
        guard counted == claimed else {
            throw reader.damaged(
                "claims \(Figures.count(claimed, "row")), and its row groups have \(counted)")
        }
        self.schema = schema
        self.groups = groups
        rowCount = counted
    }
}
