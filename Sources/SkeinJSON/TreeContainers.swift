/// The fields of an object.
struct TreeFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let fields: [JSONField]
    private let place: TreePlace
    private let places: NameTable

    var codingPath: [any CodingKey] { place.keys }

    init(_ fields: [JSONField], at place: TreePlace) {
        self.fields = fields
        self.place = place
        places = NameTable(fields)
    }

    /// In the order of the text, each once.
    var allKeys: [Key] {
        var fields = fields
        if !places.areDistinct(in: fields) {
            fields = fields.indices.filter { places.place(of: fields[$0].name, in: fields) == $0 }
                .map { fields[$0] }
        }
        return fields.compactMap { Key(stringValue: $0.name) }
    }

    func contains(_ key: Key) -> Bool { places.place(of: key.stringValue, in: fields) != nil }

    private func tree(_ key: Key) throws -> JSONTree {
        guard let found = places.place(of: key.stringValue, in: fields) else {
            throw DecodingError.keyNotFound(
                key, place.context("there is no \"\(key.stringValue)\""))
        }
        return JSONTree(fields[found].value, at: .under(key, in: place))
    }

    func decodeNil(forKey key: Key) throws -> Bool { try tree(key).decodeNil() }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try tree(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try tree(key).decode(type)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try tree(key).decode(type)
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try tree(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try tree(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try tree(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try tree(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try tree(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try tree(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try tree(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try tree(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try tree(key).decode(type)
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try tree(key).decode(type)
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try tree(key).decode(type)
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try tree(key).decode(type)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try tree(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try tree(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { superTree(TreeKey.super) }

    func superDecoder(forKey key: Key) -> any Decoder { superTree(key) }

    /// What is not there is null, as in Foundation.
    private func superTree(_ key: some CodingKey) -> JSONTree {
        let found = places.place(of: key.stringValue, in: fields)
        return JSONTree(found.map { fields[$0].value } ?? .null, at: .under(key, in: place))
    }
}

/// The items of a list.
struct TreeItems: UnkeyedDecodingContainer {
    private let items: [JSONValue]
    private let place: TreePlace
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { place.keys }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    init(_ items: [JSONValue], at place: TreePlace) {
        self.items = items
        self.place = place
    }

    /// Reads the next item; one that cannot be read stays the next.
    private mutating func next<Value>(
        _ type: Any.Type, _ body: (JSONTree) throws -> Value
    ) throws -> Value {
        let inner = TreePlace.under(TreeKey.index(currentIndex), in: place)
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(type, inner.context("the list has ended"))
        }
        let value = try body(JSONTree(items[currentIndex], at: inner))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { return try next(Never.self) { _ in false } }
        guard case .null = items[currentIndex] else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: String.Type) throws -> String {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: Int.Type) throws -> Int { try next(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: UInt.Type) throws -> UInt {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        try next(type) { try $0.decode(type) }
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next(type) { try $0.decode(type) }
    }

    mutating func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type
    ) throws -> KeyedDecodingContainer<Inner> {
        try next(KeyedDecodingContainer<Inner>.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next((any Decoder).self) { $0 }
    }
}
