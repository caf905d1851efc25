/// A piece of a declaration.
struct Token {
    enum Kind {
        /// A name, a keyword, or a name in backticks.
        case word
        case number
        /// A text with its quotes, hashes and interpolations.
        case text
        /// A regular expression with its slashes and hashes.
        case pattern
        /// One character, or `->`.
        case mark
    }

    var kind: Kind
    /// Where it stands, in bytes.
    var range: Range<Int>
    /// Nothing but space and comments stands before it on its line.
    var startsLine: Bool
    /// Space or a comment stands before it.
    var afterSpace: Bool
    /// What is written: of words and marks only, the others are looked up in the source.
    var text: String
}

/// The name of a property, a case or a label as it is written and as it is meant.
struct Name: Equatable {
    /// In backticks if the user wrote them.
    var written: String

    init(_ written: String) { self.written = written }

    /// Without backticks: the key in JSON.
    var plain: String {
        written.utf8.count > 2 && written.hasPrefix("`") && written.hasSuffix("`")
            ? String(written.dropFirst().dropLast()) : written
    }

    /// As a label of an argument: the compiler warns of backticks there that it does not need.
    var label: String {
        let isPlain = plain.utf8.allSatisfy { Lexer.isNamePart($0) || Lexer.isDigit($0) }
        let startsWithDigit = plain.utf8.first.map(Lexer.isDigit) ?? true
        let needed = !isPlain || startsWithDigit || ["inout", "_"].contains(plain)
        return needed ? written : plain
    }

    /// The plain name as a literal of Swift.
    var literal: String { SwiftLiteral.text(plain) }
}

/// Texts as literals of Swift.
enum SwiftLiteral {
    static func text(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                literal += "\\"
                literal.unicodeScalars.append(scalar)
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
