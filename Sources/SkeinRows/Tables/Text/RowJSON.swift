import SkeinJSON

/// JSON as data files have it: Python writes `NaN`, and halves of surrogate pairs are for who reads the
/// row to refuse.
enum RowJSON {
    private static let rules = JSONRules(
        depth: Limits.jsonDepth, names: .all, leavesCount: false, takesNonFinite: true,
        takesHalves: true)

    /// Passes the value that stands there. UTF-8 is not checked.
    ///
    /// - Parameters:
    ///   - bytes: in which it stands.
    ///   - start: its place.
    /// - Returns: where it ends.
    /// - Throws: where it is no JSON.
    static func end(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) throws(JSONFlaw) -> Int {
        try JSONReader.skip(bytes, from: start, rules)
    }

    /// What was expected where a value is no JSON.
    static func expected(_ flaw: JSONFlaw) -> String {
        switch flaw.kind {
        case .malformed(let expected): expected.words
        case .tooDeep(let limit): "at most \(limit) arrays and objects in each other"
        case .notUTF8, .halfOfPair, .repeatedName, .tooLarge: "other text"
        }
    }

    /// Whether a text is one JSON array.
    static func isArray(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = JSONReader.blanks(text, from: 0)
        guard start < text.count, text[start] == UInt8(ascii: "[") else { return false }
        do {
            return JSONReader.blanks(text, from: try end(text, from: start)) == text.count
        } catch {
            // Then it is a text, which may begin with a bracket.
            return false
        }
    }
}
