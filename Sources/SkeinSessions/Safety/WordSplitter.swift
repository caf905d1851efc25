import Foundation

/// Cuts a text that comes in pieces into words, each in a form in which case, width and hidden
/// marks make no difference.
///
/// Where a word begins and ends follows from each code point's properties alone, so it does not
/// matter where pieces are cut:
///
/// - letters, numbers and the marks on them go together;
/// - characters of scripts that are written without spaces (Chinese, Japanese kana, Thai, Lao,
///   Burmese, Khmer) and symbols (emoji) are words of their own;
/// - what is invisible (joiners, soft hyphens, directions, variants) is left out;
/// - everything else separates, the underscore, too.
struct WordSplitter: Sendable {
    /// The most marks on one letter; more of them are left out.
    private static let markCount = 16
    /// The most code points of a word: a letter with all its marks for each character of a term. A
    /// longer one is no word of any list.
    private static let wordLength = DenyTable.termLength * (1 + markCount)

    /// The word that may still go on.
    private var word: [Unicode.Scalar] = []
    private var isTooLong = false
    /// How many marks stand at its end.
    private var marks = 0
    /// Whether the word is a single character, which only marks may join.
    private var isAlone = false

    /// Whether no word has begun that may be a list's: one that is too long is none.
    var isEmpty: Bool { word.isEmpty || isTooLong }

    /// Takes the next piece.
    ///
    /// - Parameters:
    ///   - piece: what follows the pieces before.
    ///   - body: is called for each word that is complete; nil: a word that is too long.
    mutating func add(_ piece: String, _ body: (String?) -> Void) {
        for scalar in piece.unicodeScalars {
            switch Self.role(of: scalar) {
            case .hidden: continue
            case .mark:
                // A mark on nothing is as good as invisible.
                guard !word.isEmpty, marks < Self.markCount else { continue }
                append(scalar)
                marks += 1
            case .part:
                if isAlone { end(body) }
                append(scalar)
                marks = 0
            case .alone:
                end(body)
                append(scalar)
                marks = 0
                isAlone = true
            case .separator: end(body)
            }
        }
    }

    /// Ends the word that has begun.
    ///
    /// - Parameter body: is called for it; nil: it is too long.
    mutating func end(_ body: (String?) -> Void) {
        guard !word.isEmpty else { return }
        body(isTooLong ? nil : Self.folded(word))
        word.removeAll(keepingCapacity: true)
        isTooLong = false
        isAlone = false
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if word.count < Self.wordLength { word.append(scalar) } else { isTooLong = true }
    }

    private enum Role { case hidden, mark, part, alone, separator }

    private static func role(of scalar: Unicode.Scalar) -> Role {
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return .part
        case 0..<0x80: return .separator
        // Half-width voicing marks are letters to Unicode, and marks on the kana before.
        case 0xFF9E, 0xFF9F: return .mark
        default: break
        }
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint { return .hidden }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
        case .decimalNumber, .letterNumber, .otherNumber: return .part
        case .otherSymbol where !properties.isAlphabetic: return .alone
        case .modifierSymbol where properties.isEmojiModifier: return .alone
        default: break
        }
        guard properties.isAlphabetic else { return .separator }
        return properties.isIdeographic || isUnspaced(scalar.value) ? .alone : .part
    }

    /// Kana, Thai, Lao, Burmese, Khmer.
    private static func isUnspaced(_ value: UInt32) -> Bool {
        switch value {
        case 0x3041...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9D, 0x1B000...0x1B16F: true
        case 0x0E01...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true
        default: false
        }
    }

    /// One form for all spellings of a word: compatibility forms (width, ligatures, styled letters)
    /// are replaced, cases are one, and marks that form no letter with what they stand on are left
    /// out.
    private static func folded(_ word: [Unicode.Scalar]) -> String {
        guard word.contains(where: { !$0.isASCII }) else {
            return String(String.UnicodeScalarView(word)).lowercased()
        }
        let decomposed = String(String.UnicodeScalarView(word))
            .decomposedStringWithCompatibilityMapping
        var oneCase = String.UnicodeScalarView()
        for scalar in decomposed.unicodeScalars {
            oneCase.append(contentsOf: oneCaseMapping(scalar))
        }
        var composed = String.UnicodeScalarView()
        for scalar in String(oneCase).precomposedStringWithCompatibilityMapping.unicodeScalars
        where !isGeneralMark(scalar.value) {
            composed.append(scalar)
        }
        return String(composed)
    }

    /// Small letters by way of small letters and capitals, so that ẞ and ß are ss, and all sigmas
    /// one.
    private static func oneCaseMapping(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        scalar.properties.lowercaseMapping.unicodeScalars
            .flatMap { $0.properties.uppercaseMapping.unicodeScalars }
            .flatMap { $0.properties.lowercaseMapping.unicodeScalars }
    }

    /// Marks that belong to no script: strokes through letters, dots on i, piles of accents.
    private static func isGeneralMark(_ value: UInt32) -> Bool {
        switch value {
        case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F:
            true
        default: false
        }
    }
}
