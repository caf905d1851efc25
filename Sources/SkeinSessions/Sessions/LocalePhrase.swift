import Foundation

/// The sentence with which instructions ask for a locale's language.
enum LocalePhrase {
    private static let beginning = "The person's locale is "

    /// The locale of instructions that begin with "The person's locale is IDENTIFIER."; nil for others.
    static func locale(in instructions: String) -> Locale? {
        guard instructions.hasPrefix(beginning) else { return nil }
        let name = instructions.dropFirst(beginning.count).prefix {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-")
        }
        guard !name.isEmpty, name.utf8.count <= 64 else { return nil }
        return Locale(identifier: String(name))
    }
}
