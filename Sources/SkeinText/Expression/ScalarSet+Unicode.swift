/// The sets that expressions name.
extension ScalarSet {
    static let whiteSpace = ScalarSet(table: CharacterRanges.whiteSpace)
    static let digits = category("Nd")
    static let hexDigits = ScalarSet([0x30...0x39, 0x41...0x46, 0x61...0x66])
    /// `\w` in a class.
    static let word = alphabetic.union(category("M")).union(digits).union(category("Pc"))
        .union(ScalarSet(table: UnicodeCategories.otherWord).intersection(beyondLatin1))
    /// `\w` by itself, and what `\b` looks at: the library has a table of its own below U+0100,
    /// with the numbers above the line and the fractions.
    static let bareWord = word.union(ScalarSet(table: UnicodeCategories.otherWord))
    private static let beyondLatin1 = ScalarSet([0x100...lastScalar])
    static let alphabetic = category("L").union(category("Nl"))
        .union(ScalarSet(table: UnicodeCategories.otherAlphabetic))

    /// The general categories by their two letters.
    private static let categories: [String: ScalarSet] = {
        let names = Dictionary(
            uniqueKeysWithValues: UnicodeCategories.names.map { ($0.letter, $0.name) })
        var ranges: [String: [Bounds]] = [:]
        var next: UInt32 = 0
        var name: String?
        var length = ""
        func close() {
            guard let name else { return }
            let end = next + (length.isEmpty ? 1 : UInt32(length, radix: 16) ?? 1)
            ranges[name, default: []].append(next...(end - 1))
            next = end
        }
        for character in UnicodeCategories.runs {
            if let found = names[character] {
                close()
                name = found
                length = ""
            } else if character.isHexDigit {
                length.append(character)
            }
        }
        close()
        return ranges.mapValues { ScalarSet($0) }
    }()

    /// The set of "Lu", or of all categories that begin with "L".
    private static func category(_ name: String) -> ScalarSet {
        if let set = categories[name] { return set }
        return ScalarSet(categories.filter { $0.key.hasPrefix(name) }.flatMap(\.value.ranges))
    }

    /// The set that `\p{name}` means, in any case, without regard to spaces, "-" and "_".
    ///
    /// - Returns: nil for a name that is not known.
    init?(property name: String) {
        let key = name.lowercased().filter { !" -_".contains($0) }
        let isCategory = ["l", "m", "n", "p", "s", "z", "c"].contains(key)
        if isCategory || Self.categories.keys.contains(where: { $0.lowercased() == key }) {
            self = Self.category(key.prefix(1).uppercased() + key.dropFirst())
        } else if let long = Self.longNames[key] {
            self = Self.category(long)
        } else if let table = UnicodeCategories.scripts[key] {
            self.init(table: table)
        } else {
            switch key {
            case "any": self = .all
            case "ascii": self.init([0...0x7F])
            case "assigned": self = Self.category("Cn").inverted
            case "alphabetic", "alpha": self = .alphabetic
            case "whitespace", "space": self = .whiteSpace
            case "digit": self = .digits
            case "punct": self = Self.category("P").union(Self.category("S"))
            case "word": self = .word
            default: return nil
            }
        }
    }

    private static let longNames = [
        "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
        "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn",
        "spacingmark": "Mc", "enclosingmark": "Me", "number": "N", "decimalnumber": "Nd",
        "letternumber": "Nl", "othernumber": "No", "punctuation": "P",
        "connectorpunctuation": "Pc", "dashpunctuation": "Pd", "openpunctuation": "Ps",
        "closepunctuation": "Pe", "initialpunctuation": "Pi", "finalpunctuation": "Pf",
        "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc",
        "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs",
        "lineseparator": "Zl", "paragraphseparator": "Zp", "other": "C", "control": "Cc",
        "format": "Cf", "privateuse": "Co", "unassigned": "Cn",
    ]

    /// The set of `[:name:]`; nil for a name that is not known, or not worth its table: `\w` and
    /// `[:word:]`, for one, are not quite the same there.
    init?(posix name: String) {
        switch name {
        case "alpha": self = .alphabetic
        case "digit": self = .digits
        case "space": self = .whiteSpace
        case "cntrl": self = Self.category("Cc")
        case "blank": self = Self.category("Zs").union(ScalarSet(9))
        case "punct": self = Self.category("P").union(Self.category("S"))
        case "ascii": self.init([0...0x7F])
        case "xdigit": self = .hexDigits
        default: return nil
        }
    }

    /// What `tokenizers` takes for punctuation and for a word where it does not use its usual engine.
    static let punctuation = ScalarSet(table: UnicodeCategories.punctuation)
    static let joinedWord = word.union(ScalarSet([0x200C...0x200D]))
}
