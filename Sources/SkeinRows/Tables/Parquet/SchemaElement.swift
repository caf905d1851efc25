/// One element of a file's schema as it is written: a node of a tree that is flattened depth first.
struct SchemaElement {
    enum Repetition: Int32 {
        case required, optional, repeated
    }

    enum Physical: Int32 {
        case boolean, int32, int64, int96, float, double, bytes, fixedBytes
    }

    /// What an annotation makes of a physical type or a group.
    enum Meaning: Equatable {
        case none
        case text
        /// Text of JSON, which pandas and fastparquet write for lists and objects.
        case json
        case list
        case map
        case integer(signed: Bool)
        /// Always null.
        case nothing
        case other(String)
    }

    var name = ""
    var physical: Physical?
    var repetition = Repetition.required
    var children = 0
    var meaning = Meaning.none

    /// Reads `SchemaElement` of parquet.thrift.
    init(_ reader: inout ThriftReader) throws(TableProblem) {
        var element = SchemaElement()
        var converted: Meaning?
        var logical: Meaning?
        try reader.structure { (reader, field) throws(TableProblem) in
            switch field.number {
            case 1:
                let value = try reader.int32(field)
                guard let physical = Physical(rawValue: value) else {
                    throw reader.damaged("has no physical type \(value)")
                }
                element.physical = physical
            case 3:
                let value = try reader.int32(field)
                guard let repetition = Repetition(rawValue: value) else {
                    throw reader.damaged("has no repetition \(value)")
                }
                element.repetition = repetition
            case 4: element.name = try reader.text(field, limit: Limits.nameBytes)
            case 5: element.children = try reader.count(field)
            case 6: converted = Self.converted(try reader.int32(field))
            case 10: logical = try Self.logical(&reader, field)
            default: try reader.skip(field)
            }
        }
        element.meaning = logical ?? converted ?? .none
        self = element
    }

    private init() {}

    /// `ConvertedType`, the older annotation.
    private static func converted(_ value: Int32) -> Meaning {
        switch value {
        case 0, 4: .text
        case 19: .json
        case 1, 2: .map
        case 3: .list
        case 5: .other("DECIMAL")
        case 6: .other("DATE")
        case 7, 8: .other("TIME")
        case 9, 10: .other("TIMESTAMP")
        case 11...14: .integer(signed: false)
        case 15...18: .integer(signed: true)
        case 20: .other("BSON")
        case 21: .other("INTERVAL")
        default: .other("of converted type \(value)")
        }
    }

    /// `LogicalType`, a union: a struct with one field.
    private static func logical(
        _ reader: inout ThriftReader, _ field: ThriftReader.Field
    ) throws(TableProblem) -> Meaning {
        guard field.kind == .structure else { throw reader.damaged("has a wrong logical type") }
        var meaning = Meaning.none
        try reader.structure { (reader, field) throws(TableProblem) in
            switch field.number {
            case 1, 4: meaning = .text
            case 12: meaning = .json
            case 2: meaning = .map
            case 3: meaning = .list
            case 10:
                guard field.kind == .structure else {
                    throw reader.damaged("has a wrong logical type")
                }
                var isSigned = true
                try reader.structure { (reader, field) throws(TableProblem) in
                    if field.number == 2 {
                        isSigned = try reader.flag(field)
                    } else {
                        try reader.skip(field)
                    }
                }
                meaning = .integer(signed: isSigned)
                return
            case 11: meaning = .nothing
            default: meaning = .other(name(ofLogical: field.number))
            }
            try reader.skip(field)
        }
        return meaning
    }

    private static func name(ofLogical number: Int) -> String {
        let names = [
            5: "DECIMAL", 6: "DATE", 7: "TIME", 8: "TIMESTAMP", 13: "BSON", 14: "UUID",
            15: "FLOAT16", 16: "VARIANT", 17: "GEOMETRY", 18: "GEOGRAPHY",
        ]
        return names[number] ?? "of logical type \(number)"
    }
}
