import Foundation

/// One step of what tokenizer.json does to a text before it is cut into pre-tokens.
enum TextNormalizer: Sendable, Equatable {
    /// A Unicode normalization form.
    enum Form: String, Sendable {
        case composed = "NFC"
        case decomposed = "NFD"
        case compatiblyComposed = "NFKC"
        case compatiblyDecomposed = "NFKD"
    }

    case form(Form)
    case lowercase
    /// Drops marks.
    case stripAccents
    /// Drops white space at the beginning and at the end.
    case strip(left: Bool, right: Bool)
    /// Drops most control characters; several others become spaces.
    case nmt
    /// Puts a text before one that is not empty.
    case prepend([UInt8])
    case replace(TextPattern, [UInt8])
    case characters(CharacterMap)

    /// Whether it belongs to the beginning of a text, and not to where one goes on.
    var isPrefix: Bool {
        if case .prepend = self { true } else { false }
    }

    /// The text, valid UTF-8, after this step; valid UTF-8, too. `effort` is told if an expression takes
    /// too long.
    func applied(to text: [UInt8], _ effort: ExpressionEffort) -> [UInt8] {
        switch self {
        case .form(let form): return form.applied(to: text)
        case .lowercase:
            return Self.mapScalars(of: text) { scalar, out in
                if scalar.isASCII {
                    out.append(UInt8(scalar.value) | (("A"..."Z").contains(scalar) ? 0x20 : 0))
                } else {
                    out += scalar.properties.lowercaseMapping.utf8
                }
            }
        case .stripAccents:
            return Self.mapScalars(of: text) { scalar, out in
                if !scalar.isMark { out += scalar.utf8 }
            }
        case .strip(let left, let right): return Self.strip(text, left: left, right: right)
        case .nmt:
            return Self.mapScalars(of: text) { scalar, out in
                switch scalar.value {
                case 0x01...0x08, 0x0B, 0x0E...0x1F, 0x7F, 0x8F, 0x9F: break
                case 0x09, 0x0A, 0x0C, 0x0D, 0x1680, 0x200B...0x200F, 0x2028, 0x2029, 0x2581,
                    0xFEFF, 0xFFFD:
                    out.append(UInt8(ascii: " "))
                default: out += scalar.utf8
                }
            }
        case .prepend(let prefix): return text.isEmpty ? text : prefix + text
        case .replace(let pattern, let content):
            return pattern.replaced(in: text, by: content, effort)
        case .characters(let map):
            let mapped = map.applied(to: text)
            // A hostile map may cut its replacements in the middle of a character.
            return String(validating: mapped, as: UTF8.self) == nil
                ? Array(String(decoding: mapped, as: UTF8.self).utf8) : mapped
        }
    }

    @inline(__always)
    private static func mapScalars(
        of text: [UInt8], _ body: (Unicode.Scalar, inout [UInt8]) -> Void
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars { body(scalar, &out) }
        return out
    }

    private static func strip(_ text: [UInt8], left: Bool, right: Bool) -> [UInt8] {
        let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
        var rest = scalars[...]
        if left { rest = rest.drop(while: \.properties.isWhitespace) }
        while right, let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
        return Array(String(rest).utf8)
    }

    /// How many times longer a text may get, at worst.
    var growth: Int {
        switch self {
        case .form: 11
        case .lowercase, .nmt: 2
        case .stripAccents, .strip, .prepend: 1
        case .replace(let pattern, let content): pattern.growth(content: content.count)
        case .characters(let map): max(1, map.longestReplacement)
        }
    }

    /// What the digest of a definition holds of this step.
    var digestContent: [UInt8] {
        switch self {
        case .form(let form): Array(form.rawValue.utf8)
        case .lowercase: Array("Lowercase".utf8)
        case .stripAccents: Array("StripAccents".utf8)
        case .strip(let left, let right): Array("Strip \(left) \(right)".utf8)
        case .nmt: Array("Nmt".utf8)
        case .prepend(let prefix): Array("Prepend ".utf8) + prefix
        case .replace(let pattern, let content):
            Array("Replace \(pattern.source.utf8.count) \(pattern.source)".utf8) + content
        case .characters(let map): Array("Precompiled ".utf8) + map.digestContent
        }
    }
}

extension TextNormalizer.Form {
    /// The text in this form, by the tables of Unicode 9 that tokenizers has: a later character is
    /// neither taken apart nor composed nor moved.
    fileprivate func applied(to text: [UInt8]) -> [UInt8] {
        guard text.contains(where: { $0 >= 0x80 }) else { return text }
        let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
        var out: [UInt8] = []
        out.reserveCapacity(text.count + text.count / 2)
        var rest = scalars[...]
        while let late = rest.firstIndex(where: \.isLate) {
            out += applied(to: String(rest[..<late])).utf8
            out += rest[late].utf8
            rest = rest[rest.index(after: late)...]
        }
        out += applied(to: String(rest)).utf8
        return out
    }

    private func applied(to text: String) -> String {
        switch self {
        case .composed: text.precomposedStringWithCanonicalMapping
        case .decomposed: text.decomposedStringWithCanonicalMapping
        // Foundation's own NFKC leaves some pairs apart, U+30AB U+3099 for one.
        case .compatiblyComposed:
            text.decomposedStringWithCompatibilityMapping.precomposedStringWithCanonicalMapping
        case .compatiblyDecomposed: text.decomposedStringWithCompatibilityMapping
        }
    }
}

extension Unicode.Scalar {
    /// Whether a Unicode version after 9.0 has introduced it.
    fileprivate var isLate: Bool {
        // Nothing below U+0860 that these forms change is that young.
        value >= 0x0860 && (properties.age.map { $0.major > 9 } ?? true)
    }

    /// Whether it is of the general category M in Unicode 9.
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark:
            // U+111C9 was punctuation.
            value != 0x111C9 && properties.age.map { $0.major <= 9 } ?? false
        // Letters since Unicode 10.
        default: value == 0x1CF2 || value == 0x1CF3
        }
    }
}
