import Foundation
import SkeinBasics
import SkeinJSON

extension GenerationSchema.SchemaError: Explained {
    package var explanation: Explanation {
        let (what, place, remedy) = words
        return Explanation(what: what, place: place, remedy: remedy, status: .badData)
    }

    private var words: (what: String, place: String, remedy: String) {
        switch self {
        case .duplicateType(let schema, let type, let context):
            (
                "two schemas are named \(JSONValue.quoted(type)): \(context.debugDescription)",
                schema ?? "", "give them different names, or list the schema once"
            )
        case .duplicateProperty(let schema, let property, _):
            (
                "two properties are named \(JSONValue.quoted(property))", schema,
                "give them different names"
            )
        case .emptyTypeChoices(let schema, _):
            ("there is nothing to choose from", schema, "list at least one choice")
        case .undefinedReferences(let schema, let references, _):
            (
                "there are no schemas named "
                    + references.map { JSONValue.quoted($0) }.joined(separator: ", "),
                schema ?? "", "add them to the dependencies"
            )
        case .invalidGuide(let schema, let property, let context):
            (
                "a guide cannot be used: \(context.debugDescription)",
                property.isEmpty ? schema : "\(schema).\(property)", "correct the guide"
            )
        case .endlessRecursion(let schema, let path, _):
            (
                "each value of \(schema) must hold another one", path,
                "make one of these properties optional, or an array that may be empty"
            )
        case .tooLarge(let schema, let limit, let context):
            ("\(context.debugDescription): the limit is \(limit)", schema, "use fewer")
        }
    }
}

extension GenerationSchema.SchemaError: LocalizedError {
    /// What is wrong, and where.
    public var errorDescription: String? { explanation.sentence }

    /// What is wrong.
    public var failureReason: String? { explanation.what }

    /// How to mend it.
    public var recoverySuggestion: String? { explanation.remedy }
}

extension Explanation {
    /// Place and what happened.
    var sentence: String { place.isEmpty ? what : "\(place): \(what)" }
}
