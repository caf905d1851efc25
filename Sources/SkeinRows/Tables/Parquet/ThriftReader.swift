/// Reads Thrift's compact protocol, in which Parquet's metadata is written: never past the end, and
/// with a bound on depth.
///
/// Source: the specification of the compact protocol, in apache/thrift.
struct ThriftReader {
    /// A field of a struct: what its value is, and its number.
    struct Field {
        let kind: Kind
        let number: Int
    }

    enum Kind: UInt8 {
        case yes = 1
        case no, byte, int16, int32, int64, double, binary, list, set, map, structure, uuid
    }

    private let bytes: UnsafeRawBufferPointer
    /// What is read, and its place in the file: for problems.
    private let part: String
    private let fileOffset: Int
    /// The place of the next byte, in `bytes`.
    private(set) var place = 0
    private var depth = 0

    init(_ bytes: UnsafeRawBufferPointer, part: String, fileOffset: Int) {
        self.bytes = bytes
        self.part = part
        self.fileOffset = fileOffset
    }

    func damaged(_ problem: String) -> TableProblem {
        .damaged(part: part, offset: fileOffset + place, problem: problem)
    }

    /// Reads a struct; `field` reads or skips the value of each of its fields.
    mutating func structure(
        _ field: (inout ThriftReader, Field) throws(TableProblem) -> Void
    ) throws(TableProblem) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Limits.thriftDepth else { throw damaged("has too many levels") }
        var number = 0
        while true {
            let head = try byte()
            if head == 0 { return }
            guard let kind = Kind(rawValue: head & 15) else { throw damaged("has no such type") }
            let delta = Int(head >> 4)
            number = delta == 0 ? Int(try zigzag()) : number &+ delta
            guard (0...Int(Int16.max)).contains(number) else { throw damaged("has no such field") }
            try field(&self, Field(kind: kind, number: number))
        }
    }

    /// Reads a list of structs.
    ///
    /// - Parameters:
    ///   - field: whose value it is.
    ///   - limit: of its elements; there are never more than bytes.
    ///   - element: reads one.
    /// - Throws: `TableProblem.damaged`, `.tooLarge`; what `element` throws.
    mutating func structures(
        _ field: Field, limit: Int,
        _ element: (inout ThriftReader) throws(TableProblem) -> Void
    ) throws(TableProblem) {
        let (kind, count) = try listHead(field)
        guard kind == .structure || count == 0 else { throw damaged("is no list of structs") }
        guard count <= limit else { throw .tooLarge(part: part, limit: limit, found: count) }
        for _ in 0..<count { try element(&self) }
    }

    /// Reads a list of 32-bit integers; calls `element` for each.
    mutating func integers(_ field: Field, _ element: (Int32) -> Void) throws(TableProblem) {
        let (kind, count) = try listHead(field)
        guard kind == .int32 || count == 0 else { throw damaged("is no list of integers") }
        for _ in 0..<count { element(try int32()) }
    }

    mutating func int32(_ field: Field) throws(TableProblem) -> Int32 {
        guard field.kind == .int32 else { throw wrongKind(field) }
        return try int32()
    }

    mutating func int64(_ field: Field) throws(TableProblem) -> Int64 {
        guard field.kind == .int64 else { throw wrongKind(field) }
        return try zigzag()
    }

    /// A number of bytes or values, not negative.
    mutating func count(_ field: Field) throws(TableProblem) -> Int {
        let value = field.kind == .int64 ? try zigzag() : Int64(try int32(field))
        guard value >= 0 else { throw damaged("has a negative size") }
        return Int(value)
    }

    func flag(_ field: Field) throws(TableProblem) -> Bool {
        guard field.kind == .yes || field.kind == .no else { throw wrongKind(field) }
        return field.kind == .yes
    }

    mutating func byte(_ field: Field) throws(TableProblem) -> UInt8 {
        guard field.kind == .byte else { throw wrongKind(field) }
        return try byte()
    }

    /// UTF-8 text of at most `limit` bytes.
    mutating func text(_ field: Field, limit: Int) throws(TableProblem) -> String {
        guard field.kind == .binary else { throw wrongKind(field) }
        let length = try length()
        guard length <= limit else { throw .tooLarge(part: part, limit: limit, found: length) }
        let slice = UnsafeRawBufferPointer(rebasing: bytes[place..<(place + length)])
        guard let text = String(validating: slice.bindMemory(to: UInt8.self), as: UTF8.self) else {
            throw damaged("is not UTF-8")
        }
        place += length
        return text
    }

    /// Passes a value without keeping it.
    mutating func skip(_ field: Field) throws(TableProblem) {
        // A flag's value stands in its field's type.
        if field.kind != .yes, field.kind != .no { try skip(field.kind) }
    }

    private mutating func skip(_ kind: Kind) throws(TableProblem) {
        switch kind {
        case .yes, .no, .byte: try advance(1)
        case .int16, .int32, .int64: _ = try varint()
        case .double: try advance(8)
        case .uuid: try advance(16)
        case .binary: try advance(try length())
        case .structure:
            try structure { (reader, field) throws(TableProblem) in try reader.skip(field) }
        case .list, .set:
            let (kind, count) = try listHead(Field(kind: .list, number: 0))
            try skip(count, of: [kind])
        case .map:
            let claimed = try varint()
            let count = try size(of: claimed)
            guard count > 0 else { return }
            let kinds = try byte()
            guard let key = Kind(rawValue: kinds >> 4), let value = Kind(rawValue: kinds & 15)
            else { throw damaged("has no such type") }
            try skip(count, of: [key, value])
        }
    }

    private mutating func skip(_ count: Int, of kinds: [Kind]) throws(TableProblem) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Limits.thriftDepth else { throw damaged("has too many levels") }
        for _ in 0..<count {
            for kind in kinds { try skip(kind) }
        }
    }

    private func wrongKind(_ field: Field) -> TableProblem {
        damaged("has another type of field \(field.number)")
    }

    private mutating func listHead(
        _ field: Field
    ) throws(TableProblem) -> (kind: Kind, count: Int) {
        guard field.kind == .list || field.kind == .set else { throw wrongKind(field) }
        let head = try byte()
        // fastparquet says of an empty list that its elements have type 0, which no type has.
        if head == 0 { return (.structure, 0) }
        guard let kind = Kind(rawValue: head & 15) else { throw damaged("has no such type") }
        let short = UInt64(head >> 4)
        let claimed = short == 15 ? try varint() : short
        return (kind, try size(of: claimed))
    }

    /// A number of elements: each has at least one byte.
    private func size(of count: UInt64) throws(TableProblem) -> Int {
        guard count <= UInt64(bytes.count - place) else { throw damaged("has too long a list") }
        return Int(count)
    }

    private mutating func length() throws(TableProblem) -> Int {
        let length = try varint()
        guard length <= UInt64(bytes.count - place) else { throw damaged("is cut off") }
        return Int(length)
    }

    private mutating func advance(_ count: Int) throws(TableProblem) {
        guard count <= bytes.count - place else { throw damaged("ends too early") }
        place += count
    }

    private mutating func byte() throws(TableProblem) -> UInt8 {
        guard place < bytes.count else { throw damaged("ends too early") }
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func int32() throws(TableProblem) -> Int32 {
        guard let value = Int32(exactly: try zigzag()) else { throw damaged("is out of range") }
        return value
    }

    private mutating func zigzag() throws(TableProblem) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    private mutating func varint() throws(TableProblem) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte < 2 else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw damaged("has too large an integer")
    }
}
