/// How Python writes numbers and texts. Categories are of Swift's tables: texts that are trained on depend
/// on them.
enum PythonText {
    /// The matches of `\w+`: runs of letters, numbers and underscores.
    static func wordCount(_ text: String) -> Int {
        var count = 0
        var isInWord = false
        for scalar in text.unicodeScalars {
            let isWord =
                switch scalar.properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                    .otherLetter, .decimalNumber, .letterNumber, .otherNumber:
                    true
                default: scalar == "_"
                }
            if isWord, !isInWord { count += 1 }
            isInWord = isWord
        }
        return count
    }

    /// An integer of any size, spelled as in JSON.
    static func integer(_ spelled: String) -> String { spelled == "-0" ? "0" : spelled }

    /// A float as `json.dumps` writes it.
    static func jsonFloat(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return float(value)
    }

    /// `repr` of a float: the shortest digits that give the same number, with an exponent below
    /// 1e-4 and from 1e16 on.
    static func float(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        // Swift writes the same digits, but chooses the exponent otherwise.
        let parts = "\(value.magnitude)".split(separator: "e", maxSplits: 1)
        let digits = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let whole = String(digits[0])
        let fraction = digits.count > 1 && digits[1] != "0" ? String(digits[1]) : ""
        var point = whole.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        var all = whole + fraction
        while all.count > 1, all.hasPrefix("0") {
            all.removeFirst()
            point -= 1
        }
        while all.count > 1, all.hasSuffix("0") { all.removeLast() }
        let sign = value.sign == .minus ? "-" : ""
        if all == "0" { return sign + "0.0" }
        let exponent = point - 1
        if exponent < -4 || exponent >= 16 {
            let rest = all.dropFirst()
            let size = exponent.magnitude < 10 ? "0\(exponent.magnitude)" : "\(exponent.magnitude)"
            return sign + all.prefix(1) + (rest.isEmpty ? "" : "." + rest) + "e"
                + (exponent < 0 ? "-" : "+") + size
        }
        if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + all }
        if all.count <= point {
            return sign + all + String(repeating: "0", count: point - all.count) + ".0"
        }
        return sign + all.prefix(point) + "." + all.dropFirst(point)
    }

    /// `repr` of a text: in double quotes if it has single ones and no double ones.
    static func literal(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let quote: Unicode.Scalar = scalars.contains("'") && !scalars.contains("\"") ? "\"" : "'"
        var result = String.UnicodeScalarView([quote])
        for scalar in scalars {
            switch scalar {
            case "\\", quote: result.append(contentsOf: ["\\", scalar])
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\r": result.append(contentsOf: "\\r".unicodeScalars)
            case "\t": result.append(contentsOf: "\\t".unicodeScalars)
            case _ where isPrintable(scalar): result.append(scalar)
            default: result.append(contentsOf: escape(scalar).unicodeScalars)
            }
        }
        result.append(quote)
        return String(result)
    }

    /// `\xNN`, `\uNNNN` or `\UNNNNNNNN`.
    static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        let (letter, count) =
            scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\" + letter + String(repeating: "0", count: count - digits.count) + digits
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
