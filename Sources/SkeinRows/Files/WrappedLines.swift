/// Which lines of a text file look as if a sentence or paragraph went on from the line before.
///
/// Where blank lines separate some lines, those that follow another one directly belong to its
/// paragraph. Where there are none, a line that begins with a small letter goes on with a sentence.
struct WrappedLines {
    private var hasBlankLines = false
    private var last: Int?
    /// Lines directly after another one, and those of them that begin with a small letter.
    private var following: Set<Int> = []
    private var small: Set<Int> = []

    /// Takes the next line that is not blank.
    ///
    /// - Parameters:
    ///   - line: its bytes.
    ///   - number: counted from 1, blank lines too.
    mutating func add(_ line: UnsafeRawBufferPointer, _ number: Int) {
        if let last, number > last + 1 { hasBlankLines = true }
        if last == number - 1 {
            following.insert(number)
            // A character that is not one byte long has at most four.
            let first = String(decoding: line.prefix(4), as: UTF8.self).unicodeScalars.first
            if first?.properties.isLowercase == true { small.insert(number) }
        }
        last = number
    }

    /// Whether line `number` goes on with the one before.
    func continues(_ number: Int) -> Bool {
        hasBlankLines ? following.contains(number) : small.contains(number)
    }
}
