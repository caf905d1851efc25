/// Reads token ids from text.
enum TokenIDs {
    /// Reads ids separated by blanks, line breaks or commas; skips the brackets of a JSON list.
    ///
    /// - Parameters:
    ///   - text: What was typed or piped.
    ///   - vocabularySize: Ids must be below it.
    /// - Returns: The ids, in order.
    /// - Throws: `.notAnID`, `.idOutOfRange`.
    static func read(_ text: String, vocabularySize: Int) throws(InputProblem) -> [Int32] {
        var ids: [Int32] = []
        for word in text.split(whereSeparator: { $0.isWhitespace || ",[]".contains($0) }) {
            let digits = word.first == "-" ? word.dropFirst() : word
            guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw .notAnID(word: String(word))
            }
            guard let id = Int32(word), id >= 0, Int(id) < vocabularySize else {
                throw .idOutOfRange(id: String(word), vocabularySize: vocabularySize)
            }
            ids.append(id)
        }
        return ids
    }
}
