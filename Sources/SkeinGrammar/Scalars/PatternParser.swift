import SkeinBasics

/// Reads a regular expression in JSON Schema's dialect: ECMA-262 with the flag `u`, its lone
/// brackets of annex B, and nothing that Python's `re` reads differently.
///
/// The two are the judges of what a model wrote: what is read here matches only what both accept.
/// So `.` leaves out what ECMA-262 calls a line terminator, and a negated class leaves out whatever
/// either dialect counts as its member (`ScalarClass`). Swift's `Regex` with its classes of ASCII and
/// with scalars as characters accepts all of it as well: `.` leaves out its newlines, too.
struct PatternParser: ScalarCursor {
    let scalars: [Unicode.Scalar]
    var position = 0
    /// Whether it reads what must not match: then classes have whatever is in them in some dialect.
    var isWide = false
    private var depth = 0
    private var rangesLeft = GrammarLimits.patternRanges
    private let demand: Demand

    /// Everything but line terminators; U+000B, U+000C and U+0085 are Swift's.
    static let dot = ScalarSet([0x0A...0x0D, 0x85...0x85, 0x2028...0x2029]).inverted
    /// What it is in some dialect: Python's.
    private static let wideDot = ScalarSet(0x0A).inverted

    /// The tree of a regular expression, and its look-aheads. Time and memory grow with its length.
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - demand: of those who wait for it.
    /// - Returns: the tree and the look-aheads.
    /// - Throws: `PatternFlaw` for the first thing that is wrong or not supported.
    static func parse(
        _ text: String, _ demand: Demand = Demand()
    ) throws(PatternFlaw) -> Pattern {
        guard text.utf8.count <= GrammarLimits.patternBytes else {
            throw PatternFlaw(
                kind: .tooLong(limit: GrammarLimits.patternBytes), offset: 0, found: "")
        }
        _ = demand.lasts(for: 20 * text.utf8.count)
        var parser = PatternParser(Array(text.unicodeScalars), demand)
        let lookAheads = try parser.leadingLookAheads()
        var pattern = Pattern(tree: .beginning, lookAheads: lookAheads)
        if lookAheads.isEmpty {
            pattern.tree = try parser.choice()
        } else {
            pattern.tree = .sequence([.beginning, try parser.sequence()])
            // The look-aheads would belong to the first alternative only.
            if parser.next == "|" { throw parser.flaw(.lookAround, at: 1) }
        }
        if parser.next != nil { throw parser.flaw(.unmatchedParenthesis) }
        return pattern
    }

    private init(_ scalars: [Unicode.Scalar], _ demand: Demand) {
        self.scalars = scalars
        self.demand = demand
    }

    /// A flaw at a place (here, if none is given) that shows what stands there.
    func flaw(_ kind: PatternFlaw.Kind, at place: Int? = nil) -> PatternFlaw {
        let start = min(place ?? position, scalars.count)
        var found = String.UnicodeScalarView()
        found.append(contentsOf: scalars[start...].prefix(16))
        let offset = scalars[..<start].reduce(0) { $0 + UTF8.width($1) }
        return PatternFlaw(kind: kind, offset: offset, found: String(found))
    }

    /// Counts ranges that a class has made, so that a short pattern cannot make many.
    mutating func spend(ranges: Int, at place: Int) throws(PatternFlaw) {
        rangesLeft -= ranges
        _ = demand.lasts(for: 10 + 6 * ranges)
        if rangesLeft < 0 {
            throw flaw(.tooManyRanges(limit: GrammarLimits.patternRanges), at: place)
        }
    }

    // MARK: The grammar

    /// Alternatives up to a closing parenthesis or the end.
    mutating func choice() throws(PatternFlaw) -> PatternNode {
        var options = [try sequence()]
        while take("|") { options.append(try sequence()) }
        return options.count == 1 ? options[0] : .choice(options)
    }

    private mutating func sequence() throws(PatternFlaw) -> PatternNode {
        var terms: [PatternNode] = []
        while let character = next, character != "|", character != ")" {
            let atom = try term()
            terms.append(try repeated(atom))
        }
        return terms.count == 1 ? terms[0] : .sequence(terms)
    }

    private mutating func term() throws(PatternFlaw) -> PatternNode {
        guard let character = next else { return .sequence([]) }
        switch character {
        case "^":
            position += 1
            return .beginning
        case "$":
            position += 1
            return .end
        case ".":
            position += 1
            return .set(isWide ? Self.wideDot : Self.dot)
        case "(":
            return try group()
        case "[":
            return .set(try characterClass())
        case "\\":
            let found = try escape(inClass: false)
            return .set(isWide ? found.possible : found.certain)
        case "*", "+", "?":
            throw flaw(.nothingToRepeat)
        case "{":
            let start = position
            if try braces() != nil { throw flaw(.nothingToRepeat, at: start) }
            position += 1
            return .set(ScalarSet(character.value))
        default:
            position += 1
            return .set(ScalarSet(character.value))
        }
    }

    private mutating func group() throws(PatternFlaw) -> PatternNode {
        let start = position
        position += 1
        if depth >= GrammarLimits.patternDepth {
            throw flaw(.tooDeep(limit: GrammarLimits.patternDepth), at: start)
        }
        depth += 1
        defer { depth -= 1 }
        if take("?") {
            if take("=") || take("!") || take("<=") || take("<!") {
                throw flaw(.lookAround, at: start)
            }
            if take("<") {
                try groupName()
            } else if !take(":") {
                throw flaw(.unknownGroup, at: start)
            }
        }
        let body = try choice()
        guard take(")") else { throw flaw(.unterminatedGroup, at: start) }
        // Only a bare anchor cannot be repeated.
        return body == .beginning || body == .end ? .sequence([body]) : body
    }

    /// A name without meaning, up to its `>`.
    private mutating func groupName() throws(PatternFlaw) {
        let start = position
        while let character = next, character != ">" {
            let isDigit = ("0"..."9").contains(character)
            let isLetter =
                ("a"..."z").contains(character) || ("A"..."Z").contains(character)
                || character == "_" || character == "$"
            guard isLetter || isDigit && position > start else {
                throw flaw(.groupName, at: start)
            }
            position += 1
        }
        let isEmpty = position == start
        guard take(">"), !isEmpty else { throw flaw(.groupName, at: start) }
    }

    /// An atom with the repetition that follows, if one does.
    private mutating func repeated(_ atom: PatternNode) throws(PatternFlaw) -> PatternNode {
        let start = position
        let bounds: (least: Int, most: Int?)
        switch next {
        case "*":
            bounds = (0, nil)
            position += 1
        case "+":
            bounds = (1, nil)
            position += 1
        case "?":
            bounds = (0, 1)
            position += 1
        case "{":
            guard let braces = try braces() else { return atom }
            bounds = braces
        default:
            return atom
        }
        if atom == .beginning || atom == .end { throw flaw(.nothingToRepeat, at: start) }
        if let most = bounds.most, bounds.least > most {
            throw flaw(.leastAboveMost, at: start)
        }
        if max(bounds.least, bounds.most ?? 0) > GrammarLimits.repetitions {
            throw flaw(.tooManyRepetitions(limit: GrammarLimits.repetitions), at: start)
        }
        if next == "+" { throw flaw(.possessive, at: start) }
        _ = take("?")
        return .repetition(atom, least: bounds.least, most: bounds.most)
    }

    /// `{n}`, `{n,}` or `{n,m}`; nil, and nothing is read, if this is none of them and stands for
    /// itself.
    private mutating func braces() throws(PatternFlaw) -> (least: Int, most: Int?)? {
        let start = position
        position += 1
        let least = number()
        var most = least
        if take(",") { most = number() }
        guard position > start + 1, take("}") else {
            position = start
            return nil
        }
        guard let least else { throw flaw(.ambiguousBraces, at: start) }
        return (least, most)
    }

    /// A decimal number of any length, capped just above the limit; nil without a digit.
    private mutating func number() -> Int? {
        let value = takeDecimal(limit: GrammarLimits.repetitions)
        while takeDecimal(limit: GrammarLimits.repetitions) != nil {}
        return value.map { min($0, GrammarLimits.repetitions + 1) }
    }
}
