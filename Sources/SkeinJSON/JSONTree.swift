/// Decodes types from a JSON value.
///
/// It gives what Foundation's `JSONDecoder` does, with the same kinds of errors at the same places, but
/// numbers are exact (1e-400 is not 0, and 0.99999999999999999999 is no integer), names are equal when
/// their bytes are, and all errors have a place. Date, Data, URL and Decimal are not read as there.
/// The first of equal names counts; the reader's rules may have kept another one alone.
package struct JSONTree: Decoder {
    let value: JSONValue
    let place: TreePlace

    package var codingPath: [any CodingKey] { place.keys }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: JSONValue, at place: TreePlace) {
        self.value = value
        self.place = place
    }

    /// - Throws: `DecodingError`, or what the type throws.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from value: JSONValue
    ) throws -> Value {
        try JSONTree(value, at: .root).decode(type)
    }

    /// The same of a text.
    ///
    /// - Throws: `JSONFlaw` too.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from text: some Sequence<UInt8>
    ) throws -> Value {
        try decode(type, from: try JSONReader.read(Array(text), .foundation))
    }

    package func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(TreeFields<Key>(try fields(), at: place))
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        TreeItems(try items(), at: place)
    }

    package func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func fields() throws -> [JSONField] {
        guard case .object(let fields) = value else { throw wrong([String: Any].self) }
        return fields
    }

    func items() throws -> [JSONValue] {
        guard case .list(let items) = value else { throw wrong([Any].self) }
        return items
    }

    /// That there is a value of another kind.
    private func wrong(_ type: Any.Type) -> DecodingError {
        let context = place.context("\(type) was expected, and there is \(value.kind)")
        if case .null = value { return .valueNotFound(type, context) }
        return .typeMismatch(type, context)
    }
}

/// Where a value stands in the whole.
indirect enum TreePlace: Sendable {
    case root
    case under(any CodingKey, in: TreePlace)

    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var place = self
        while case .under(let key, let outer) = place {
            keys.append(key)
            place = outer
        }
        return keys.reversed()
    }

    func context(
        _ description: String, _ underlying: (any Error)? = nil
    ) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: keys, debugDescription: description, underlyingError: underlying)
    }
}

/// A place in a list, or one that the type does not know. Long lists have one for each item, so that
/// its text is not made before it is asked for.
enum TreeKey: CodingKey {
    case index(Int)
    case name(String)

    init(stringValue: String) { self = .name(stringValue) }
    init?(intValue: Int) { self = .index(intValue) }

    var intValue: Int? {
        if case .index(let index) = self { return index }
        return nil
    }

    var stringValue: String {
        switch self {
        case .index(let index): "Index \(index)"
        case .name(let name): name
        }
    }

    static let `super` = TreeKey.name("super")
}

/// A number that its type cannot hold: what is beneath a `DecodingError` that says where it stands.
package struct JSONMisfit: Error {
    /// As it is spelled, or how a long one begins.
    package let number: String
    /// Whether the type holds whole numbers alone.
    package let isWhole: Bool
}

/// Values that are neither lists nor objects.
extension JSONTree: SingleValueDecodingContainer {
    package func decodeNil() -> Bool {
        if case .null = value { return true }
        return false
    }

    package func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let flag) = value else {
            // Foundation tells null from other kinds for all types but this one.
            throw DecodingError.typeMismatch(
                type, place.context("\(type) was expected, and there is \(value.kind)"))
        }
        return flag
    }

    package func decode(_ type: String.Type) throws -> String {
        guard case .text(let text) = value else { throw wrong(type) }
        return text
    }

    package func decode(_ type: Double.Type) throws -> Double { try nearest(type) }
    package func decode(_ type: Float.Type) throws -> Float { try nearest(type) }
    package func decode(_ type: Int.Type) throws -> Int { try whole(type) }
    package func decode(_ type: Int8.Type) throws -> Int8 { try whole(type) }
    package func decode(_ type: Int16.Type) throws -> Int16 { try whole(type) }
    package func decode(_ type: Int32.Type) throws -> Int32 { try whole(type) }
    package func decode(_ type: Int64.Type) throws -> Int64 { try whole(type) }
    package func decode(_ type: UInt.Type) throws -> UInt { try whole(type) }
    package func decode(_ type: UInt8.Type) throws -> UInt8 { try whole(type) }
    package func decode(_ type: UInt16.Type) throws -> UInt16 { try whole(type) }
    package func decode(_ type: UInt32.Type) throws -> UInt32 { try whole(type) }
    package func decode(_ type: UInt64.Type) throws -> UInt64 { try whole(type) }
    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: self)
    }

    private func whole<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard case .number(let text) = value else { throw wrong(type) }
        if let number = Number(text) { return number }
        guard let exact = ExactDecimal(json: text), exact.isInteger, exact.isPlain,
            let number = Number(exact.description)
        else { throw unfit(text, type, isWhole: true) }
        return number
    }

    private func nearest<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ type: Number.Type
    ) throws -> Number {
        guard case .number(let text) = value else { throw wrong(type) }
        // What is not zero must not become it.
        guard let number = Number(text), number.isFinite,
            number != 0 || ExactDecimal(json: text) == ExactDecimal(0)
        else { throw unfit(text, type, isWhole: false) }
        return number
    }

    private func unfit(_ text: String, _ type: Any.Type, isWhole: Bool) -> DecodingError {
        // A number may have as many digits as the file has bytes.
        let shown = text.utf8.count > 40 ? text.prefix(37) + "..." : text
        return .dataCorrupted(
            place.context(
                "the number \(shown) does not fit in \(type)",
                JSONMisfit(number: shown, isWhole: isWhole)))
    }
}
