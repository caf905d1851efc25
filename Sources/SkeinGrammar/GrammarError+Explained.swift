import SkeinBasics
import SkeinJSON

extension GrammarError: Explained {
    package var explanation: Explanation { explanation(of: "schema") }

    /// `subject`: what the error is about, "schema" or "expression".
    package func explanation(of subject: String) -> Explanation {
        let (what, place, remedy) = words(subject)
        return Explanation(what: what, place: place, remedy: remedy, status: .badData)
    }

    /// The place in the schema, as a JSON pointer; nil where it does not matter.
    package var pointer: String? {
        switch self {
        case .tooLarge(_, _, let pointer), .unsupported(let pointer, _),
            .badKeyword(let pointer, _), .badReference(let pointer, _),
            .overlap(let pointer, _, _), .pattern(let pointer, _, _), .empty(let pointer):
            pointer
        default: nil
        }
    }

    /// The error with each of its texts cut to some bytes. More than 200 of them change nothing that is
    /// said of names and places.
    func cut(toBytes most: Int) -> GrammarError {
        func cut(_ text: String) -> String { text.cut(toBytes: most) }
        switch self {
        case .tooLarge(let what, let limit, let pointer):
            return .tooLarge(what: what, limit: limit, pointer: cut(pointer))
        case .unsupported(let pointer, .format(let name)):
            return .unsupported(pointer: cut(pointer), reason: .format(cut(name)))
        case .unsupported(let pointer, .remote(let reference)):
            return .unsupported(pointer: cut(pointer), reason: .remote(cut(reference)))
        case .unsupported(let pointer, let reason):
            return .unsupported(pointer: cut(pointer), reason: reason)
        case .badKeyword(let pointer, let expected):
            return .badKeyword(pointer: cut(pointer), expected: cut(expected))
        case .badReference(let pointer, let reference):
            return .badReference(pointer: cut(pointer), reference: cut(reference))
        case .overlap(let pointer, let first, let second):
            return .overlap(pointer: cut(pointer), first: first, second: second)
        case .pattern(let pointer, let offset, let reason):
            return .pattern(pointer: cut(pointer), offset: offset, reason: cut(reason))
        case .empty(let pointer): return .empty(pointer: cut(pointer))
        case .malformed, .tooDeep, .doesNotFit, .tooComplex, .full, .cancelled: return self
        }
    }

    private func words(_ subject: String) -> (what: String, place: String, remedy: String) {
        switch self {
        case .malformed(let offset):
            return ("the \(subject) is not JSON", "byte \(offset)", "correct the text")
        case .tooDeep(let limit):
            return ("the \(subject) is nested more than \(limit) deep", "", "use $ref and $defs")
        case .tooLarge(.work, _, let pointer):
            return (
                "the \(subject) takes too much work to prepare", at(pointer),
                Self.Limited.work.remedy
            )
        case .tooLarge(let what, let limit, let pointer):
            return ("the \(subject) has more than \(limit) \(what.words)", at(pointer), what.remedy)
        case .unsupported(let pointer, let reason):
            return (reason.what, at(pointer), reason.remedy)
        case .badKeyword(let pointer, let expected):
            return ("a keyword has a value that is not \(expected)", at(pointer), "correct it")
        case .badReference(let pointer, let reference):
            return (
                "the reference \(Self.cut(reference)) leads to no schema", at(pointer),
                "write #/$defs/NAME, with a schema of that name in $defs"
            )
        case .overlap(let pointer, let first, let second):
            return (
                "members \(first) and \(second) of oneOf may both accept a value", at(pointer),
                "use anyOf, or give both a required property with different const values"
            )
        case .pattern(let pointer, let offset, let reason):
            return (
                "a regular expression cannot be used: \(reason)",
                pointer.isEmpty ? "byte \(offset)" : "\(at(pointer)), byte \(offset)",
                "write it without that, or leave it out"
            )
        case .empty(let pointer):
            return (
                "no value satisfies the \(subject)", at(pointer), "relax what contradicts itself"
            )
        case .doesNotFit(let needed?, let limit):
            return (
                "the shortest value of the \(subject) takes \(needed) tokens, and the limit is "
                    + "\(limit)", "", "allow more tokens"
            )
        case .doesNotFit(nil, let limit):
            return (
                "no value of the \(subject) can be written with \(limit) tokens of this model", "",
                "allow more tokens, or use a model with a larger vocabulary"
            )
        case .tooComplex:
            return (
                "the \(subject) leaves too many possibilities open at once", "",
                "use fewer overlapping alternatives, or a simpler regular expression"
            )
        case .full:
            return ("other grammars take all room for them", "", "try again in a second")
        case .cancelled:
            return ("the request for values of the \(subject) was given up", "", "ask again")
        }
    }

    /// A name in quotes, cut where it is long.
    fileprivate static func cut(_ name: String) -> String {
        JSONValue.quoted(name.cut(toBytes: 200))
    }

    /// A place in the schema, cut where it is long.
    private func at(_ pointer: String) -> String {
        pointer.isEmpty ? "" : "#" + pointer.cut(toBytes: 200)
    }
}

extension GrammarError.Limited {
    fileprivate var words: String {
        switch self {
        case .source: "bytes"
        case .nodes: "states before it is used"
        case .alternatives: "alternatives in one place"
        case .subschemas: "combined subschemas"
        case .machine: "states in one text"
        case .values: "values in an enum"
        case .references: "schemas that refer to each other without a value between"
        case .work: "units of work"
        case .shortest: "bytes in its shortest value"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .source: "shorten it"
        case .nodes, .machine: "lower maxLength, maxItems or the repetitions of a pattern"
        case .alternatives, .subschemas: "combine fewer anyOf and allOf"
        case .values: "use a pattern, or fewer values"
        case .references: "write what is meant in one place"
        case .shortest: "lower minLength and minItems, or require fewer members"
        case .work: "use fewer or simpler patterns, and fewer members of oneOf"
        }
    }
}

extension GrammarError.Reason {
    fileprivate var what: String {
        switch self {
        case .keyword: "a keyword cannot be enforced while a value is written"
        case .format(let name): "the format \(GrammarError.cut(name)) cannot be enforced"
        case .remote(let reference):
            "the reference \(GrammarError.cut(reference)) leads out of the schema"
        case .circular: "a reference leads back to itself without a value between"
        case .divisor:
            "multipleOf must be a whole number from 1 to \(GrammarLimits.divisor), or such a number as "
                + "0.25, to be enforced"
        case .digits:
            "a bound has more than \(GrammarLimits.boundDigits) digits, or no number within the bounds "
                + "has \(GrammarLimits.significantDigits) or fewer"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .keyword: "leave it out, and check the answer; docs/SCHEMAS.md lists what is supported"
        case .format: "leave it out, or state it as a pattern"
        case .remote: "copy what it names into $defs"
        case .circular: "write what is meant"
        case .divisor: "leave it out, or use one"
        case .digits: "use a shorter number, or bounds that are further apart"
        }
    }
}

extension String {
    /// The text, or what it begins with and three dots, in `most` bytes of UTF-8. A character may be of
    /// any number of scalars, so that characters are no measure.
    func cut(toBytes most: Int) -> String {
        guard utf8.count > most else { return self }
        var end = utf8.index(startIndex, offsetBy: max(0, most - 3))
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil {
            utf8.formIndex(before: &end)
        }
        return String(unicodeScalars[..<end]) + "..."
    }
}
