import SkeinBasics

/// Reads a regular expression in the syntax of the engine in `tokenizers`: Oniguruma with its Ruby
/// syntax. What depends on captures is refused; so is `(?x)`.
struct ExpressionParser: ScalarCursor {
    struct Options {
        var ignoresCase = false
        var dotMatchesLineEnd = false
    }

    let scalars: [Unicode.Scalar]
    var position = 0
    var options = Options()
    private var depth = 0

    private init(_ pattern: String) {
        scalars = Array(pattern.unicodeScalars)
    }

    /// The tree of a whole expression.
    static func parse(_ pattern: String) throws(ExpressionFlaw) -> ExpressionNode {
        var parser = ExpressionParser(pattern)
        guard parser.scalars.count <= ExpressionLimits.scalars else {
            throw .tooLong(scalars: parser.scalars.count, limit: ExpressionLimits.scalars)
        }
        let node = try parser.alternatives()
        guard parser.next == nil else { throw .unbalanced(at: parser.position) }
        return node
    }

    /// The construct from `start` up to here, for an error.
    func refused(from start: Int) -> ExpressionFlaw {
        let end = min(max(position, start + 1), scalars.count, start + 20)
        let start = min(start, end)
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[start..<end])
        return .construct(String(text), at: start)
    }

    /// Counts a level of nesting around `body`.
    mutating func nested<Value>(
        _ body: (inout ExpressionParser) throws(ExpressionFlaw) -> Value
    ) throws(ExpressionFlaw) -> Value {
        depth += 1
        defer { depth -= 1 }
        guard depth <= ExpressionLimits.nesting else {
            throw .tooDeep(limit: ExpressionLimits.nesting)
        }
        return try body(&self)
    }

    /// `a|b|c` up to a closing parenthesis or the end, which stays.
    private mutating func alternatives() throws(ExpressionFlaw) -> ExpressionNode {
        var parts = [try sequence()]
        while take("|") { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .alternatives(parts)
    }

    private mutating func sequence() throws(ExpressionFlaw) -> ExpressionNode {
        var parts: [ExpressionNode] = []
        var folded: Unicode.Scalar?
        while let scalar = next, scalar != "|", scalar != ")" {
            let start = position
            // Options without a colon hold up to the end of the group, alternatives included.
            if let changed = try bareOptions() {
                let saved = options
                options = changed
                parts.append(
                    try nested { (parser) throws(ExpressionFlaw) in
                        try parser.alternatives()
                    })
                options = saved
                break
            }
            guard let atom = try atom() else { continue }
            try checkFolding(scalar, after: &folded, from: start)
            parts.append(try quantified(atom, from: start))
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    /// Two letters that ignore case may be one ligature ("ss" is "ß"), which sets cannot say.
    private func checkFolding(
        _ scalar: Unicode.Scalar, after last: inout Unicode.Scalar?, from start: Int
    ) throws(ExpressionFlaw) {
        guard options.ignoresCase, position == start + 1 else {
            last = nil
            return
        }
        if let last {
            let pair = (String(last) + String(scalar)).lowercased()
            if ["ss", "st", "ff", "fi", "fl"].contains(pair) { throw refused(from: start - 1) }
        }
        last = scalar
    }

    /// What one quantifier can follow; nil: a comment.
    private mutating func atom() throws(ExpressionFlaw) -> ExpressionNode? {
        let start = position
        guard let scalar = next else { return nil }
        switch scalar {
        case "(": return try group()
        case "[": return .set(try characterClass())
        case "\\": return try escape()
        case "*", "+", "?":
            position += 1
            throw refused(from: start)
        default: break
        }
        position += 1
        switch scalar {
        case ".":
            return .set(options.dotMatchesLineEnd ? .all : ScalarSet(0x0A).inverted)
        case "^": return .anchor(.lineStart)
        case "$": return .anchor(.lineEnd)
        default: return .set(try literal(scalar, from: start))
        }
    }

    /// One character, in any case if that is asked for.
    func literal(_ scalar: Unicode.Scalar, from start: Int) throws(ExpressionFlaw) -> ScalarSet {
        options.ignoresCase
            ? try folded(ScalarSet(scalar.value), from: start)
            : ScalarSet(scalar.value)
    }

    /// A set with the other cases of its ASCII letters; with other letters it is refused, as case
    /// is a matter of tables that no published expression needs.
    func folded(_ set: ScalarSet, from start: Int) throws(ExpressionFlaw) -> ScalarSet {
        guard set.intersection(Self.foldingScalars).isEmpty else { throw refused(from: start) }
        var more: [ScalarSet.Bounds] = []
        for letter: UInt32 in 0x61...0x7A
        where set.contains(letter) || set.contains(letter - 0x20) {
            more += [letter...letter, (letter - 0x20)...(letter - 0x20)]
            // The long s and the sign of Kelvin.
            if letter == 0x73 { more.append(0x17F...0x17F) }
            if letter == 0x6B { more.append(0x212A...0x212A) }
        }
        return set.union(ScalarSet(more))
    }

    /// All beyond ASCII that may have another case.
    private static let foldingScalars = ScalarSet.alphabetic.intersection(
        ScalarSet([0x80...ScalarSet.lastScalar]))

    private mutating func group() throws(ExpressionFlaw) -> ExpressionNode? {
        let start = position
        position += 1
        if take("?#") {
            while let scalar = next, scalar != ")" {
                position += scalar == "\\" ? 2 : 1
            }
            guard take(")") else { throw .unbalanced(at: start) }
            return nil
        }
        let saved = options
        defer { options = saved }
        let wrap: (ExpressionNode) throws(ExpressionFlaw) -> ExpressionNode
        if take("?:") {
            wrap = { $0 }
        } else if take("?=") {
            wrap = { .lookAhead($0, isNegative: false) }
        } else if take("?!") {
            wrap = { .lookAhead($0, isNegative: true) }
        } else if take("?<=") {
            wrap = { .lookBehind($0, isNegative: false) }
        } else if take("?<!") {
            wrap = { .lookBehind($0, isNegative: true) }
        } else if take("?>") {
            wrap = { .atomic($0) }
        } else if take("?<") {
            guard let end = scalars[position...].firstIndex(of: ">"), end > position,
                scalars[position..<end].allSatisfy({ $0 == "_" || $0.properties.isAlphabetic })
            else { throw refused(from: start) }
            position = end + 1
            wrap = { $0 }
        } else if next == "?" {
            options = try optionLetters(from: start)
            guard take(":") else { throw refused(from: start) }
            wrap = { $0 }
        } else {
            wrap = { $0 }
        }
        let node = try nested { (parser) throws(ExpressionFlaw) in try parser.alternatives() }
        guard take(")") else { throw .unbalanced(at: start) }
        return try wrap(node)
    }

    /// The options after `(?i)`; nil if something else comes next.
    private mutating func bareOptions() throws(ExpressionFlaw) -> Options? {
        guard next == "(", peek(1) == "?", let letter = peek(2),
            "imx-".unicodeScalars.contains(letter),
            let end = scalars[position...].firstIndex(where: { $0 == ")" || $0 == ":" }),
            scalars[end] == ")"
        else { return nil }
        let start = position
        position += 1
        let changed = try optionLetters(from: start)
        guard take(")") else { throw refused(from: start) }
        return changed
    }

    /// Reads `?im-im`.
    private mutating func optionLetters(from start: Int) throws(ExpressionFlaw) -> Options {
        position += 1
        var changed = options
        var isOn = true
        while let scalar = next, scalar != ")", scalar != ":" {
            position += 1
            switch scalar {
            case "-": isOn = false
            case "i": changed.ignoresCase = isOn
            case "m": changed.dotMatchesLineEnd = isOn
            default: throw refused(from: start)
            }
        }
        return changed
    }
}

extension ExpressionParser {
    /// `node` with all quantifiers that follow it.
    mutating func quantified(
        _ node: ExpressionNode, from start: Int
    ) throws(ExpressionFlaw) -> ExpressionNode {
        var node = node
        var count = 0
        while let (least, most, isInterval) = try bounds() {
            count += 1
            guard count <= ExpressionLimits.quantifiers else { throw refused(from: start) }
            var quantifier = ExpressionNode.Quantifier.greedy
            if isInterval, least == most, take("?") {
                // In this syntax not lazy, but optional.
                node = .repeated(node, least: least, most: most, .greedy)
                node = .repeated(node, least: 0, most: 1, .greedy)
                continue
            }
            if take("?") {
                quantifier = .lazy
            } else if !isInterval, take("+") {
                quantifier = .possessive
            }
            node = .repeated(node, least: least, most: most, quantifier)
        }
        return node
    }

    /// Reads `*`, `+`, `?` or an interval; nil if none comes next. `{` that begins no interval is a
    /// character.
    private mutating func bounds() throws(ExpressionFlaw) -> (
        least: Int, most: Int?, isInterval: Bool
    )? {
        if take("*") { return (0, nil, false) }
        if take("+") { return (1, nil, false) }
        if take("?") { return (0, 1, false) }
        guard next == "{" else { return nil }
        let start = position
        position += 1
        let least = try number(from: start)
        var most = least
        let isRange = take(",")
        if isRange { most = try number(from: start) }
        guard least != nil || most != nil, take("}") else {
            position = start
            return nil
        }
        if let least, let most, most < least { throw refused(from: start) }
        return (least ?? 0, isRange ? most : least, true)
    }

    private mutating func number(from start: Int) throws(ExpressionFlaw) -> Int? {
        let value = takeDecimal(limit: ExpressionLimits.count)
        guard value ?? 0 <= ExpressionLimits.count else { throw refused(from: start) }
        return value
    }
}
