import SkeinJSON

/// JSON of schemas and of what they describe.
package enum GrammarJSON {
    private static let rules = JSONRules(
        depth: GrammarLimits.jsonDepth, bytes: GrammarLimits.sourceBytes, takesMark: true)

    /// A whole text. Two fields with one name are an error.
    ///
    /// - Throws: `GrammarError.malformed`, `.tooDeep`, `.tooLarge`.
    package static func read(_ bytes: [UInt8]) throws(GrammarError) -> JSONValue {
        do {
            return try JSONReader.read(bytes, rules)
        } catch {
            switch error.kind {
            case .malformed, .notUTF8, .halfOfPair, .repeatedName:
                throw .malformed(offset: error.offset)
            case .tooDeep(let limit): throw .tooDeep(limit: limit)
            case .tooLarge(let limit): throw .tooLarge(what: .source, limit: limit, pointer: "")
            }
        }
    }
}
