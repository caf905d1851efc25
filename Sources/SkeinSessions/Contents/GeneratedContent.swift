import SkeinJSON

/// A value as a model writes it: JSON whose keys keep their order.
///
/// Whole numbers keep all their 64 bits and decimals all their digits. A content may be unfinished,
/// while a model still writes it; see `isComplete`.
///
/// ```swift
/// let content = try GeneratedContent(json: #"{"title": "Rome", "days": 3}"#)
/// let days: Int = try content.value(forProperty: "days")
/// ```
public struct GeneratedContent: Sendable {
    /// What a content is made of.
    public enum Kind: Sendable, Equatable {
        /// JSON's null.
        case null
        /// True or false.
        case bool(Bool)
        /// A number, as near as a `Double` comes. `GeneratedContent.value(_:)` has more digits.
        case number(Double)
        /// A text, without quotes and escapes.
        case string(String)
        /// Elements in their order.
        case array([GeneratedContent])
        /// Properties, and their names in the order in which they were written.
        case structure(properties: [String: GeneratedContent], orderedKeys: [String])
    }

    /// The same as `Kind`, with numbers as they are written.
    enum Storage: Sendable {
        case null
        /// Null, and a structure leaves it out: what an optional without a value becomes.
        case absent
        case bool(Bool)
        case number(NumberText)
        case string(String)
        case array([GeneratedContent])
        case structure(properties: [String: GeneratedContent], orderedKeys: [String])
    }

    let storage: Storage

    /// Who the value is, in all snapshots of one response; nil if it was not generated.
    public var id: GenerationID?

    /// Whether the model has written all of it. The last parts of an incomplete content may be
    /// incomplete, too: a string as far as it is written, an array whose elements are still to come.
    public let isComplete: Bool

    init(_ storage: Storage, id: GenerationID? = nil, isComplete: Bool = true) {
        self.storage = storage
        self.id = id
        self.isComplete = isComplete
    }

    /// What the content is made of.
    public var kind: Kind {
        switch storage {
        case .null, .absent: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number.double)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements)
        case .structure(let properties, let orderedKeys):
            .structure(properties: properties, orderedKeys: orderedKeys)
        }
    }

    /// Whether an optional without a value became this.
    var isAbsent: Bool {
        if case .absent = storage { return true }
        return false
    }

    /// Whether it is null.
    var isNull: Bool {
        switch storage {
        case .null, .absent: true
        default: false
        }
    }
}

extension GeneratedContent: Equatable {
    /// Whether two contents say the same: ids, the order of properties and how a number is written
    /// (`1.0` or `1`) do not count; whether they are complete does.
    public static func == (a: GeneratedContent, b: GeneratedContent) -> Bool {
        guard a.isComplete == b.isComplete else { return false }
        switch (a.storage, b.storage) {
        case (.null, .null), (.absent, .absent), (.null, .absent), (.absent, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)): return a == b
        case (.string(let a), .string(let b)): return a == b
        case (.array(let a), .array(let b)): return a == b
        case (.structure(let a, _), .structure(let b, _)): return a == b
        default: return false
        }
    }
}

extension GeneratedContent: CustomDebugStringConvertible {
    /// The JSON text, with a note if it is unfinished.
    public var debugDescription: String { jsonString + (isComplete ? "" : " (incomplete)") }
}

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
