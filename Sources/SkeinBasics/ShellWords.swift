/// Quotes words for a POSIX shell.
package enum ShellWords {
    /// `word` as it is if a shell would not interpret anything in it, else in single quotes.
    package static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "_-./:=@%+,".unicodeScalars.contains(scalar))
        }
        if isPlain, !word.isEmpty { return word }
        return "'"
            + word.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }

    /// Several words as one line.
    package static func line(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }
}
