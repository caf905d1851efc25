/// The text of a regular expression that is a value: `/.../`, `try Regex("...")`, or one that was
/// built with RegexBuilder.
///
/// The standard library prints a literal as it was written. What it prints for a built one may mean
/// something else (Swift 6.3.1: `Regex { ChoiceOf { "a"; "b" }; "c" }` is printed as `a|bc`), and
/// nothing says so. So a built one is only taken if it consists of parts that are known to be printed
/// well; they are found by reflection, and what is not known there has no text.
enum RegexSource {
    /// The source; nil: it has none that says the same.
    static func text(of regex: Regex<some Any>) -> String? {
        guard let text = regex._literalPattern,
            let root = Mirror(reflecting: regex).descendant("program", "tree", "root"),
            isPrinted(root, .alone)
        else { return nil }
        // A set that is printed with flags inside means its letters.
        if text.contains("(?s:") || text.contains("(?m:") { return nil }
        return unquoted(text)
    }

    /// Where a part stands: by itself, in a row, or under a quantifier.
    private enum Place {
        case alone
        case row
        case repeated
    }

    /// Whether a part is printed as what it means there.
    private static func isPrinted(_ node: Any, _ place: Place) -> Bool {
        guard let (label, value) = Mirror(reflecting: node).children.first, let label else {
            return false
        }
        let parts = Mirror(reflecting: value).children.map(\.value)
        let nodes = parts.filter { "\(Swift.type(of: $0))" == "Node" }
        switch label {
        case "atom", "customCharacterClass": return true
        // `\Q...\E` around it.
        case "quotedLiteral": return (value as? String).map { !$0.contains("\\") } ?? false
        // Printed without parentheses.
        case "orderedChoice":
            return place == .alone && nodes.allSatisfy { isPrinted($0, .row) }
        case "concatenation": return nodes.allSatisfy { isPrinted($0, .row) }
        case "ignoreCapturesInTypedOutput", "limitCaptureNesting": return isPrinted(value, place)
        case "nonCapturingGroup": return nodes.allSatisfy { isPrinted($0, .alone) }
        case "quantification": return nodes.allSatisfy { isPrinted($0, .repeated) }
        case "capture":
            // What follows the node may be a function that refuses a match.
            let isPlain = parts.last.map { "\($0)" == "nil" } ?? false
            return isPlain && nodes.allSatisfy { isPrinted($0, .alone) }
        case "convertedRegexLiteral":
            // Inside of a literal everything has the parentheses that it was written with.
            guard place != .alone else { return true }
            guard place == .row, let inner = nodes.first else { return false }
            return Mirror(reflecting: inner).children.first?.label != "orderedChoice"
        default: return false
        }
    }

    /// The text with `\` before each mark between `\Q` and `\E`, which ECMA-262 does not have.
    private static func unquoted(_ text: String) -> String {
        var out = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "\\Q") {
            out += rest[..<start.lowerBound]
            rest = rest[start.upperBound...]
            let end = rest.firstRange(of: "\\E")
            for character in rest[..<(end?.lowerBound ?? rest.endIndex)] {
                if "\\^$.|?*+()[]{}/-".contains(character) { out += "\\" }
                out.append(character)
            }
            rest = rest[(end?.upperBound ?? rest.endIndex)...]
        }
        return out + rest
    }

    /// What a source has that Swift and ECMA-262 read differently, in words; nil: nothing that is
    /// known.
    ///
    /// Swift has sets inside of sets, and operations on them; elsewhere these are plain characters.
    static func difference(in source: String) -> String? {
        var isInSet = false
        var isEscaped = false
        var last: Character?
        for character in source {
            if isEscaped {
                isEscaped = false
                last = nil
                continue
            }
            defer { last = character }
            switch character {
            case "\\": isEscaped = true
            case "[":
                if isInSet { return "its pattern has a set inside of a set: write it as one" }
                isInSet = true
            case "]": isInSet = false
            case "&", "~", "-":
                if isInSet, last == character {
                    return "its pattern has \(character)\(character) in a set: write it as one set"
                }
            default: break
            }
        }
        return nil
    }
}
