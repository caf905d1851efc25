import SkeinBasics

extension GeneratedContent {
    /// A content from its JSON text, or from the beginning of one.
    ///
    /// If the text ends early, the content is what it says so far, and not complete: strings as they
    /// stand, arrays and objects without the parts that have not begun. A number only counts once
    /// something follows it, as `1` may still become `12`, unless it is the whole text. Of properties
    /// with the same name the last one counts.
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
    public var jsonString: String {
        var out: [UInt8] = []
        write(to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func write(to out: inout [UInt8]) {
        switch storage {
        case .null, .absent: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .number(let number): out += number.text.utf8
        case .string(let text): out += JSONLine.quote(text).utf8
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (place, element) in elements.enumerated() {
                if place > 0 { out.append(UInt8(ascii: ",")) }
                element.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .structure(let properties, let orderedKeys):
            out.append(UInt8(ascii: "{"))
            var isFirst = true
            for key in orderedKeys {
                guard let value = properties[key] else { continue }
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                out += JSONLine.quote(key).utf8
                out.append(UInt8(ascii: ":"))
                value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }
}
