/// Text of another machine, for a person's terminal. Pure.
package enum PlainText {
    /// Most characters that are shown of one text.
    package static let longest = 200

    /// `text` in one line, cut at a number of characters, with a question mark for each character that could move
    /// the cursor, hide other text or change its direction.
    package static func of(_ text: String, atMost longest: Int = longest) -> String {
        var out = ""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            guard count < longest else { return out + "..." }
            out.unicodeScalars.append(isShown(scalar) ? scalar : "?")
        }
        return out
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x20..<0x7f).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation,
            .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
            .otherPunctuation, .mathSymbol, .currencySymbol, .otherSymbol:
            true
        default: false
        }
    }
}
