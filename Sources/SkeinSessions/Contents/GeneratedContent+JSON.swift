import SkeinJSON

extension GeneratedContent {
    /// A content from its JSON text, or from the beginning of one.
    ///
    /// If the text ends early, the content is what it says so far, and not complete: strings as they
    /// stand, arrays and objects without the parts that have not begun. A number only counts once
    /// something follows it, as `1` may still become `12`, unless it is the whole text. If
    /// properties have the same name, the last one counts.
    ///
    /// - Parameter json: RFC 8259, at most 16 MiB, nested at most 256 deep.
    /// - Throws: `GeneratedContentError` if no JSON text begins so.
    public init(json: String) throws {
        try self.init(json: Array(json.utf8), id: nil, isWhole: true)
    }

    /// A content from the bytes of its JSON text so far, which may end anywhere, even inside of a
    /// character.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8.
    ///   - id: of the content. Its parts get ids that follow from it and from their places, so that
    ///     they are the same in each snapshot of a response; nil: they get none.
    ///   - isWhole: whether no more bytes follow: a number may end where the text does.
    /// - Throws: `GeneratedContentError` if no JSON text begins so.
    package init(
        json bytes: some Collection<UInt8>, id: GenerationID?, isWhole: Bool
    ) throws(GeneratedContentError) {
        self = try ContentReader.read(Array(bytes), id: id, isWhole: isWhole)
    }

    /// The JSON text, without spaces. Unfinished parts are closed where they stand.
    public var jsonString: String { json.written }

    var json: JSONValue {
        switch storage {
        case .null, .absent: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number.text)
        case .string(let text): .text(text)
        case .array(let elements): .list(elements.map(\.json))
        case .structure(let properties, let orderedKeys):
            .object(
                orderedKeys.compactMap { key in properties[key].map { JSONField(key, $0.json) } })
        }
    }
}
