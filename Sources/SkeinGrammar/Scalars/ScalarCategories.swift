/// The general categories of Unicode as sets, by the names that a regular expression uses.
///
/// The table takes one pass over all 1.1 million scalars (some tens of milliseconds), so it is made
/// when a pattern first needs it, once, whatever is asked after that.
enum ScalarCategories {
    /// The set of a category (`Lu`), of a group of them (`L`) or of a long name (`Letter`); nil if
    /// there is none of the name.
    static func set(named name: String) -> ScalarRanges? {
        if let set = table[name] { return set }
        return longNames[name].flatMap { table[$0] }
    }

    /// What `\p` (or `\P`) stands for with a name. A scalar that is unassigned here may be anything to
    /// a validator that knows a newer Unicode, so it is no certain member of a negation.
    static func scalarClass(named name: String, isNegated: Bool) -> ScalarClass? {
        let classes = isNegated ? negations : classes
        return classes[name] ?? longNames[name].flatMap { classes[$0] }
    }

    private static let classes = table.mapValues {
        ScalarClass(certain: $0, possible: $0.union(table["Cn"] ?? .none))
    }

    private static let negations = classes.mapValues(\.inverted)

    /// By the short names of categories and of groups.
    private static let table: [String: ScalarRanges] = {
        var ranges: [String: [ScalarRanges.Bounds]] = [:]
        var name = ""
        var first: UInt32 = 0
        func close(at end: UInt32) {
            guard end > first else { return }
            ranges[name, default: []].append(first...end - 1)
            ranges[String(name.prefix(1)), default: []].append(first...end - 1)
        }
        var category: Unicode.GeneralCategory?
        for value in UInt32(0)...0x10_FFFF {
            let here = Unicode.Scalar(value)?.properties.generalCategory
            if here == category { continue }
            if category != nil { close(at: value) }
            category = here
            name = here.map(shortName) ?? ""
            first = value
        }
        close(at: 0x11_0000)
        return ranges.mapValues { ScalarRanges($0) }
    }()

    private static func shortName(_ category: Unicode.GeneralCategory) -> String {
        switch category {
        case .uppercaseLetter: "Lu"
        case .lowercaseLetter: "Ll"
        case .titlecaseLetter: "Lt"
        case .modifierLetter: "Lm"
        case .otherLetter: "Lo"
        case .nonspacingMark: "Mn"
        case .spacingMark: "Mc"
        case .enclosingMark: "Me"
        case .decimalNumber: "Nd"
        case .letterNumber: "Nl"
        case .otherNumber: "No"
        case .connectorPunctuation: "Pc"
        case .dashPunctuation: "Pd"
        case .openPunctuation: "Ps"
        case .closePunctuation: "Pe"
        case .initialPunctuation: "Pi"
        case .finalPunctuation: "Pf"
        case .otherPunctuation: "Po"
        case .mathSymbol: "Sm"
        case .currencySymbol: "Sc"
        case .modifierSymbol: "Sk"
        case .otherSymbol: "So"
        case .spaceSeparator: "Zs"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .control: "Cc"
        case .format: "Cf"
        case .surrogate: "Cs"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        @unknown default: "Cn"
        }
    }

    /// The long names of PropertyValueAliases.txt.
    private static let longNames = [
        "Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll",
        "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm", "Other_Letter": "Lo",
        "Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc",
        "Enclosing_Mark": "Me",
        "Number": "N", "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl",
        "Other_Number": "No",
        "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc",
        "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe",
        "Initial_Punctuation": "Pi", "Final_Punctuation": "Pf", "Other_Punctuation": "Po",
        "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk",
        "Other_Symbol": "So",
        "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl",
        "Paragraph_Separator": "Zp",
        "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Private_Use": "Co",
        "Unassigned": "Cn",
    ]
}

/// What an escape such as `\w` stands for where dialects differ: ECMA-262 counts ASCII only,
/// Python's `re` counts Unicode.
struct ScalarClass: Hashable, Sendable {
    /// Members in every dialect: what the class itself may match.
    let certain: ScalarRanges
    /// Members in some dialect: what a negation of the class must not match.
    let possible: ScalarRanges

    init(certain: ScalarRanges, possible: ScalarRanges) {
        self.certain = certain
        self.possible = possible
    }

    /// A class that all dialects agree on.
    init(_ set: ScalarRanges) {
        self.init(certain: set, possible: set)
    }

    /// Its negation: certain is what is not even possible.
    var inverted: ScalarClass {
        ScalarClass(certain: possible.inverted, possible: certain.inverted)
    }

    static let digit = ScalarClass(
        certain: ScalarRanges([0x30...0x39]), possible: categories("Nd", "Cn"))

    static let word = ScalarClass(
        certain: ScalarRanges([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]),
        possible: categories("L", "M", "N", "Pc", "Cn"))

    /// U+180E was a space before Unicode 6.3; U+001C to U+001F and U+0085 are Python's.
    static let space = ScalarClass(
        certain: ScalarRanges([0x09...0x0D, 0x20...0x20]),
        possible: ScalarRanges([
            0x09...0x0D, 0x1C...0x20, 0x85...0x85, 0xA0...0xA0, 0x1680...0x1680, 0x180E...0x180E,
            0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000,
            0xFEFF...0xFEFF,
        ]))

    static let notDigit = digit.inverted
    static let notWord = word.inverted
    static let notSpace = space.inverted

    private static func categories(_ names: String...) -> ScalarRanges {
        ScalarRanges(names.flatMap { ScalarCategories.set(named: $0)?.ranges ?? [] })
    }
}
