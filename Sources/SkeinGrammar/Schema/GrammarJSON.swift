import SkeinJSON

/// JSON of schemas and of what they describe.
package enum GrammarJSON {
    /// A whole text, no deeper than `GrammarLimits.jsonDepth`. With `takesLast`, of fields with one
    /// name the last one counts, as in most readers; else they are an error.
    ///
    /// - Throws: `GrammarError.malformed`, `.tooDeep`, `.tooLarge`.
    package static func read(
        _ bytes: [UInt8], limit: Int = GrammarLimits.sourceBytes, takesLast: Bool = false
    ) throws(GrammarError) -> JSONValue {
        let rules = JSONRules(
            depth: GrammarLimits.jsonDepth, bytes: limit, names: takesLast ? .last : .refused,
            takesMark: true)
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
