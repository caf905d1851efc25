/// The general categories of Unicode as sets, by the names that regular expressions use.
extension ScalarSet {
    /// The members of some categories ("Lu") and groups of them ("L"), by their short names.
    package static func categories(_ names: String...) -> ScalarSet {
        ScalarSet(
            names.flatMap { name in
                guard let set = byCategory[name] else {
                    preconditionFailure("\(name) is no general category")
                }
                return set.ranges
            })
    }

    /// All categories and groups of them, by their short names.
    package static let byCategory: [String: ScalarSet] = {
        let names = Dictionary(
            uniqueKeysWithValues: zip(
                UnicodeCategories.letters.utf8,
                UnicodeCategories.names.split(whereSeparator: \.isWhitespace).map(String.init)))
        var ranges: [String: [Bounds]] = [:]
        var name = ""
        var first: UInt32 = 0
        var length: UInt32 = 0
        func close() {
            guard !name.isEmpty else { return }
            let run = first...(first + max(length, 1) - 1)
            ranges[name, default: []].append(run)
            ranges[String(name.prefix(1)), default: []].append(run)
            first = run.upperBound + 1
        }
        for byte in UnicodeCategories.runs.utf8 {
            if let next = names[byte] {
                close()
                name = next
                length = 0
            } else if let digit = Unicode.Scalar(byte).hexadecimalDigit {
                length = length << 4 | digit
            }
        }
        close()
        return ranges.mapValues { ScalarSet($0) }
    }()

    /// The short name of a category or group that is called `name`, in exactly this spelling: its
    /// short name, its long name or an alias, as ECMA-262 has them.
    ///
    /// - Returns: nil for a name that is not known.
    package static func category(named name: String) -> String? { exactNames[name] }

    /// The short name of a category or group whose short or long name is `name`, in any case and
    /// without regard to spaces, "-" and "_".
    ///
    /// - Returns: nil for a name that is not known.
    package static func category(looselyNamed name: String) -> String? { looseNames[loose(name)] }

    /// A name as names are compared that may be written in any way.
    package static func loose(_ name: String) -> String {
        name.lowercased().filter { !" -_".contains($0) }
    }

    private static let exactNames: [String: String] = Dictionary(
        uniqueKeysWithValues: names.flatMap { names in names.map { ($0, names[0]) } })

    private static let looseNames: [String: String] = Dictionary(
        uniqueKeysWithValues: names.flatMap { names in names.prefix(2).map { (loose($0), names[0]) }
        })

    /// The names of each category and group: the short one, the long name and aliases, from
    /// PropertyValueAliases.txt.
    private static let names: [[String]] = """
        L Letter, Lu Uppercase_Letter, Ll Lowercase_Letter, Lt Titlecase_Letter,
        Lm Modifier_Letter, Lo Other_Letter,
        M Mark Combining_Mark, Mn Nonspacing_Mark, Mc Spacing_Mark, Me Enclosing_Mark,
        N Number, Nd Decimal_Number digit, Nl Letter_Number, No Other_Number,
        P Punctuation punct, Pc Connector_Punctuation, Pd Dash_Punctuation,
        Ps Open_Punctuation, Pe Close_Punctuation, Pi Initial_Punctuation,
        Pf Final_Punctuation, Po Other_Punctuation,
        S Symbol, Sm Math_Symbol, Sc Currency_Symbol, Sk Modifier_Symbol, So Other_Symbol,
        Z Separator, Zs Space_Separator, Zl Line_Separator, Zp Paragraph_Separator,
        C Other, Cc Control cntrl, Cf Format, Co Private_Use, Cn Unassigned
        """
        .split(separator: ",")
        .map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
}
