/// A declaration that can be generated: what the expansions are written from.
struct GenerableType {
    enum Shape {
        /// A struct or an actor.
        case record([GeneratedProperty])
        /// An enum without values: each case's name and its literal in JSON.
        case choice([Choice])
        /// An enum with values.
        case union([UnionCase])
    }

    var name: Name
    /// `public `, `package ` or nothing: what goes before each member of an expansion.
    var access: String
    var isActor: Bool
    /// `Swift.Sendable` if its declaration says so, with `@unchecked ` if it does.
    var sendability: String?
    /// The argument of `description:` as it is written.
    var description: String?
    /// Nil is written as null, not left out.
    var writesNil: Bool
    var shape: Shape
}

/// A case without values.
struct Choice {
    var name: Name
    /// The raw value's literal, or the name's.
    var literal: String
}

/// A case, with values or without.
struct UnionCase {
    var name: Name
    var values: [UnionValue]
}

/// A value that goes with a case.
struct UnionValue {
    /// As it is written, or nil.
    var label: Name?
    var property: GeneratedProperty
}

/// A property of a record, or a value of a case.
struct GeneratedProperty {
    var name: Name
    /// The key in JSON.
    var key: String
    /// The type's source without its question mark.
    var type: String
    var isOptional: Bool
    /// `public `, `private `, ... or nothing.
    var access = ""
    /// As it is written.
    var description: String?
    /// As they are written, patterns apart.
    var guides: [String] = []

    /// The content's identity: never generated.
    var isID: Bool { Self.namesOfID.contains(type) }

    private static let namesOfID: Set<String> = [
        "GenerationID", "SkeinSessions.GenerationID", "Skein.GenerationID",
        "FoundationModels.GenerationID",
    ]

    var isGenerated: Bool { !isID }
    /// The type in a place for expressions.
    var source: String { isOptional ? "\(type)?" : type }
    /// The key as a literal.
    var literal: String { SwiftLiteral.text(key) }
}

extension Declaration {
    /// `Swift.Sendable` if it is among the inherited types, alone or in a composition; with
    /// `@unchecked ` if that stands before it, since its partial type has the same properties.
    var sendability: String? {
        let parts = inherited.flatMap { $0.split(separator: "&") }.map {
            $0.split(whereSeparator: \.isWhitespace)
        }
        for words in parts {
            guard let last = words.last, ["Sendable", "Swift.Sendable"].contains(last) else {
                continue
            }
            return words.contains("@unchecked") ? "@unchecked Swift.Sendable" : "Swift.Sendable"
        }
        return nil
    }
}
