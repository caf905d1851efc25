/// Why a JSON text is no content, or a content is no value of a type.
///
/// A path says where in the content it is: `days[2].title`; it is empty for the content itself.
public enum GeneratedContentError: Error, Equatable, Sendable {
    /// No JSON text begins so; `offset` counts bytes from 0.
    case malformedJSON(offset: Int)
    /// A string that is not UTF-8, or has half of a surrogate pair; `offset` counts bytes from 0.
    case malformedText(offset: Int)
    /// The text has more bytes than allowed.
    case tooLong(limit: Int)
    /// Arrays and objects are nested deeper than allowed.
    case tooDeep(limit: Int)
    /// Something of another kind: a string where a number is expected, say.
    case wrongKind(path: String, expected: String, found: String)
    /// A property that must be there is not.
    case missingProperty(path: String)
    /// A number that the type does not hold: 1.5 as Int, 1e39 as Float.
    case numberDoesNotFit(path: String, number: String, type: String)
    /// None of the cases of an enum.
    case unknownCase(path: String, type: String, found: String)
}

extension GeneratedContentError {
    /// The same error seen from the structure around the value.
    func inside(_ name: String) -> GeneratedContentError {
        let isPlain = name.unicodeScalars.allSatisfy {
            $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType == .decimal
        }
        return prefixed(isPlain && !name.isEmpty ? name : "[\(name.debugDescription)]")
    }

    /// The same error seen from the array around the value.
    func inside(_ index: Int) -> GeneratedContentError { prefixed("[\(index)]") }

    private func prefixed(_ step: String) -> GeneratedContentError {
        func joined(_ path: String) -> String {
            path.isEmpty || path.hasPrefix("[") ? step + path : step + "." + path
        }
        return switch self {
        case .malformedJSON, .malformedText, .tooLong, .tooDeep: self
        case .wrongKind(let path, let expected, let found):
            .wrongKind(path: joined(path), expected: expected, found: found)
        case .missingProperty(let path): .missingProperty(path: joined(path))
        case .numberDoesNotFit(let path, let number, let type):
            .numberDoesNotFit(path: joined(path), number: number, type: type)
        case .unknownCase(let path, let type, let found):
            .unknownCase(path: joined(path), type: type, found: found)
        }
    }
}
