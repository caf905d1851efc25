import SkeinSessions

/// Types whose names are those that an expansion uses, or keywords.
enum NamedTypes {}

extension NamedTypes {
    @Generable
    struct Locals: Equatable {
        var content: String
        var id: Int
        var writer: Int?
        var whole: [Int]
        var value: Double
        var `self`: Bool
        var `init`: String?
        var `default`: Int
        var generationSchema: Int
    }

    @Generable
    enum Language: Equatable, CaseIterable {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        case Swift, Kotlin, `Type`, `self`, `init`, type, content, writer
    }

    @Generable
    enum Step: Equatable {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        case Swift
        case `Type`(Int)
        case `self`(content: String)
        case `init`(writer: Int?, Language)
        case type(self: Bool)
    }

    /// Types inside hide those of Swift, and the properties are of the former.
    @Generable
    struct Hiding: Equatable {
        var text: String
        var texts: [String]

        @Generable
        struct String: Equatable {
            var length: Int
        }
    }

    /// Patterns that are values, and not written in slashes.
    @Generable
    struct Words: Equatable {
        @Guide(NamedTypes.word) var first: String
        @Guide(description: "The other one", NamedTypes.word) var second: String?
    }

    static var word: Regex<Substring> { /[a-z]+/ }

    /// Values end in members called like keywords.
    @Generable
    struct Road: Equatable {
        var side: Side = .in
        var other: Side? = .else
        var last: Int
    }

    @Generable
    enum Side: Equatable {
        case `in`, `else`
    }
}

extension NamedTypes {
    @Generable
    public struct Open: Equatable & Sendable {
        public var name: String
        var part: Int
    }

    @Generable
    package struct Packed: Equatable, Sendable {
        package var name: String
        fileprivate var part: Int

        init(name: String, part: Int) {
            self.name = name
            self.part = part
        }
    }

    @Generable
    fileprivate struct Inner: Equatable {
        var name: String
    }

    @Generable
    package enum Level: String, Sendable {
        case low, high
    }

    /// The text of a value whose type other files do not see, read and written again.
    static func innerText(of json: String) throws -> String {
        let inner = try Inner(GeneratedContent(json: json))
        let partial = inner.asPartiallyGenerated()
        return partial.name == inner.name ? inner.generatedContent.jsonString : ""
    }
}
