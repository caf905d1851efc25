import SkeinBasics

/// The sets that expressions name.
extension ScalarSet {
    static let whiteSpace = ScalarSet(table: CharacterRanges.whiteSpace)
    static let digits = categories("Nd")
    /// What the pre-tokenizer Digits isolates.
    static let isolatedDigits = ScalarSet(table: CharacterRanges.digits)
    static let hexDigits = ScalarSet([0x30...0x39, 0x41...0x46, 0x61...0x66])
    /// `\w` in a class.
    static let word = alphabetic.union(categories("M", "Nd", "Pc"))
        .union(ScalarSet(table: CharacterRanges.otherWord).intersection(beyondLatin1))
    /// `\w` by itself, and what `\b` looks at: the library has a table of its own below U+0100,
    /// with the numbers above the line and the fractions.
    static let bareWord = word.union(ScalarSet(table: CharacterRanges.otherWord))
    private static let beyondLatin1 = ScalarSet([0x100...lastScalar])
    static let alphabetic = categories("L", "Nl")
        .union(ScalarSet(table: CharacterRanges.otherAlphabetic))

    /// The set that `\p{name}` means, in any case, without regard to spaces, "-" and "_".
    ///
    /// - Returns: nil for a name that is not known.
    init?(property name: String) {
        let key = Self.loose(name)
        if let category = Self.category(looselyNamed: name) {
            self = .categories(category)
        } else if let table = CharacterRanges.scripts[key] {
            self.init(table: table)
        } else {
            switch key {
            case "any": self = .all
            case "ascii": self.init([0...0x7F])
            case "assigned": self = Self.categories("Cn").inverted
            case "alphabetic", "alpha": self = .alphabetic
            case "whitespace", "space": self = .whiteSpace
            case "digit": self = .digits
            case "punct": self = .categories("P", "S")
            case "word": self = .word
            default: return nil
            }
        }
    }

    /// The set of `[:name:]`; nil for a name that is not known, or not worth its table: `\w` and
    /// `[:word:]`, for one, are not quite the same there.
    init?(posix name: String) {
        switch name {
        case "alpha": self = .alphabetic
        case "digit": self = .digits
        case "space": self = .whiteSpace
        case "cntrl": self = .categories("Cc")
        case "blank": self = Self.categories("Zs").union(ScalarSet(9))
        case "punct": self = .categories("P", "S")
        case "ascii": self.init([0...0x7F])
        case "xdigit": self = .hexDigits
        default: return nil
        }
    }

    /// What `tokenizers` takes for punctuation and for a word where it does not use its usual engine.
    static let punctuation = ScalarSet(table: CharacterRanges.punctuation)
    static let joinedWord = word.union(ScalarSet([0x200C...0x200D]))
}
