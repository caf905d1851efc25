/// A value of Thrift's compact protocol, for metadata that pyarrow does not write.
indirect enum ThriftValue: Sendable {
    case int32(Int)
    case int64(Int)
    case flag(Bool)
    case text(String)
    case structure([Int: ThriftValue])
    case structures([[Int: ThriftValue]])
    case integers([Int])

    private var kind: UInt8 {
        switch self {
        case .flag(let flag): flag ? 1 : 2
        case .int32: 5
        case .int64: 6
        case .text: 8
        case .structures, .integers: 9
        case .structure: 12
        }
    }

    static func varint(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }

    private static func zigzag(_ value: Int) -> [UInt8] {
        varint(UInt64(bitPattern: Int64((value << 1) ^ (value >> 63))))
    }

    static func bytes(_ fields: [Int: ThriftValue]) -> [UInt8] {
        var (out, before): ([UInt8], Int) = ([], 0)
        for (number, value) in fields.sorted(by: { $0.key < $1.key }) {
            let delta = number - before
            out += delta < 16 ? [UInt8(delta) << 4 | value.kind] : [value.kind] + zigzag(number)
            out += value.bytes
            before = number
        }
        return out + [0]
    }

    private static func head(_ count: Int, _ kind: UInt8) -> [UInt8] {
        count < 15 ? [UInt8(count) << 4 | kind] : [0xF0 | kind] + varint(UInt64(count))
    }

    private var bytes: [UInt8] {
        switch self {
        case .flag: []
        case .int32(let value), .int64(let value): Self.zigzag(value)
        case .text(let text): Self.varint(UInt64(text.utf8.count)) + Array(text.utf8)
        case .structure(let fields): Self.bytes(fields)
        case .structures(let items): Self.head(items.count, 12) + items.flatMap(Self.bytes)
        case .integers(let items): Self.head(items.count, 5) + items.flatMap(Self.zigzag)
        }
    }
}

/// A small Parquet file of one row group, put together from its parts.
struct ParquetImage: Sendable {
    typealias Fields = [Int: ThriftValue]

    /// A leaf's pages, and what the footer says of them.
    struct Column: Sendable {
        var type = 6
        var codec = 0
        var values: Int
        var pages: [UInt8]
        /// Fields of the column's metadata that are other than the pages say.
        var metadata: Fields = [:]
    }

    var elements: [Fields]
    var rows: Int
    var columns: [Column]
    /// Fields of the footer that are other than the parts say.
    var footer: Fields = [:]

    /// A group of the schema.
    static func group(
        _ name: String, _ children: Int, repetition: Int = 0, converted: Int? = nil
    ) -> Fields {
        element(name, repetition: repetition, converted: converted).merging(
            [5: .int32(children)]
        ) { $1 }
    }

    /// A leaf of the schema; type 6 is BYTE_ARRAY.
    static func leaf(
        _ name: String, type: Int = 6, repetition: Int = 0, converted: Int? = nil
    ) -> Fields {
        element(name, repetition: repetition, converted: converted).merging(
            [1: .int32(type)]
        ) { $1 }
    }

    private static func element(_ name: String, repetition: Int, converted: Int?) -> Fields {
        var fields: Fields = [3: .int32(repetition), 4: .text(name)]
        if let converted { fields[6] = .int32(converted) }
        return fields
    }

    /// Levels of at most 8 bits as runs of one, with their length.
    static func levels(_ levels: [UInt8]) -> [UInt8] {
        length(levels.count * 2) + levels.flatMap { [2, $0] }
    }

    static func length(_ count: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }

    static func texts(_ texts: [String]) -> [UInt8] {
        texts.flatMap { length($0.utf8.count) + Array($0.utf8) }
    }

    static func int32s(_ numbers: [Int]) -> [UInt8] { numbers.flatMap(length) }

    /// A page of version 1.
    ///
    /// - Parameters:
    ///   - values: how many the header claims.
    ///   - body: levels and values.
    ///   - header: fields of `PageHeader` that are other.
    ///   - data: fields of `DataPageHeader` that are other.
    /// - Returns: header and body.
    static func page(
        values: Int, _ body: [UInt8], header: Fields = [:], data: Fields = [:]
    ) -> [UInt8] {
        let inner: Fields = [1: .int32(values), 2: .int32(0), 3: .int32(3), 4: .int32(3)]
        let outer: Fields = [
            1: .int32(0), 2: .int32(body.count), 3: .int32(body.count),
            5: .structure(inner.merging(data) { $1 }),
        ]
        return ThriftValue.bytes(outer.merging(header) { $1 }) + body
    }

    static func dictionary(values: Int, _ body: [UInt8]) -> [UInt8] {
        let inner: Fields = [1: .int32(values), 2: .int32(0)]
        return ThriftValue.bytes([
            1: .int32(2), 2: .int32(body.count), 3: .int32(body.count), 7: .structure(inner),
        ]) + body
    }

    var bytes: [UInt8] {
        var out = Array("PAR1".utf8)
        var chunks: [Fields] = []
        for column in columns {
            let metadata: Fields = [
                1: .int32(column.type), 2: .integers([0, 3]), 4: .int32(column.codec),
                5: .int64(column.values), 7: .int64(column.pages.count), 9: .int64(out.count),
            ]
            chunks.append([3: .structure(metadata.merging(column.metadata) { $1 })])
            out += column.pages
        }
        let group: Fields = [1: .structures(chunks), 3: .int64(rows)]
        let metadata: Fields = [
            1: .int32(1), 2: .structures(elements), 3: .int64(rows), 4: .structures([group]),
        ]
        let footer = ThriftValue.bytes(metadata.merging(footer) { $1 })
        return out + footer + Self.length(footer.count) + Array("PAR1".utf8)
    }
}
