/// The header of a page: what its bytes are, and how many.
struct PageHeader {
    enum Kind: Int32 {
        case data, index, dictionary, dataV2
    }

    /// Nil for kinds that came later than this reader; such pages are passed.
    var kind: Kind?
    var decodedBytes = 0
    var storedBytes = 0
    var checksum: UInt32?
    var valueCount = 0
    var encoding: Int32 = 0
    /// How levels are encoded, in a page of version 1.
    var definitionEncoding = PageEncoding.rle
    var repetitionEncoding = PageEncoding.rle
    /// Bytes of levels, in a page of version 2.
    var definitionBytes = 0
    var repetitionBytes = 0
    /// Whether the values of a page of version 2 are compressed.
    var isCompressed = true

    /// Reads `PageHeader` of parquet.thrift.
    ///
    /// - Parameter reader: of the page's bytes.
    /// - Throws: `TableProblem.damaged`.
    init(_ reader: inout ThriftReader) throws(TableProblem) {
        var header = PageHeader()
        var (kind, found): (Int32, Int) = (-1, 0)
        try reader.structure { (reader, field) throws(TableProblem) in
            switch field.number {
            case 1: kind = try reader.int32(field)
            case 2: header.decodedBytes = try reader.count(field)
            case 3: header.storedBytes = try reader.count(field)
            case 4: header.checksum = UInt32(bitPattern: try reader.int32(field))
            case 5, 7, 8:
                guard field.kind == .structure else { throw reader.damaged("has a wrong header") }
                found = field.number
                try reader.structure { (reader, inner) throws(TableProblem) in
                    try header.read(&reader, inner, of: found)
                }
            default: try reader.skip(field)
            }
        }
        header.kind = Kind(rawValue: kind)
        let expected: Int? =
            switch header.kind {
            case .data: 5
            case .dictionary: 7
            case .dataV2: 8
            case .index, nil: nil
            }
        guard expected == nil || expected == found else { throw reader.damaged("has no header") }
        self = header
    }

    private init() {}

    /// A field of `DataPageHeader` (5), `DictionaryPageHeader` (7) or `DataPageHeaderV2` (8).
    private mutating func read(
        _ reader: inout ThriftReader, _ field: ThriftReader.Field, of header: Int
    ) throws(TableProblem) {
        switch (header, field.number) {
        case (_, 1): valueCount = try reader.count(field)
        case (5, 2), (7, 2), (8, 4): encoding = try reader.int32(field)
        case (5, 3): definitionEncoding = try reader.int32(field)
        case (5, 4): repetitionEncoding = try reader.int32(field)
        case (8, 5): definitionBytes = try reader.count(field)
        case (8, 6): repetitionBytes = try reader.count(field)
        case (8, 7): isCompressed = try reader.flag(field)
        default: try reader.skip(field)
        }
    }
}

/// The numbers of Parquet's encodings and codecs.
enum PageEncoding {
    static let plain: Int32 = 0
    static let plainDictionary: Int32 = 2
    static let rle: Int32 = 3
    static let bitPacked: Int32 = 4
    static let rleDictionary: Int32 = 8

    /// Whether a column with this encoding can be read. Old writers name BIT_PACKED for levels that
    /// take no bytes; a page that has such levels is refused.
    static func isRead(_ number: Int32) -> Bool {
        [plain, plainDictionary, rle, bitPacked, rleDictionary].contains(number)
    }

    static func name(_ number: Int32) -> String {
        let names = [
            0: "PLAIN", 2: "PLAIN_DICTIONARY", 3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED",
            6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 8: "RLE_DICTIONARY",
            9: "BYTE_STREAM_SPLIT",
        ]
        return names[Int(number)] ?? "encoding \(number)"
    }
}

/// How pages are compressed.
enum PageCodec: Int32 {
    case none = 0
    case snappy = 1
    case zstd = 6

    static func name(_ number: Int32) -> String {
        let names = [
            0: "UNCOMPRESSED", 1: "SNAPPY", 2: "GZIP", 3: "LZO", 4: "BROTLI", 5: "LZ4", 6: "ZSTD",
            7: "LZ4_RAW",
        ]
        return names[Int(number)] ?? "codec \(number)"
    }
}
