/// Why a regular expression is refused, and where.
struct PatternFlaw: Error, Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// Regular languages have no simple form of these, or dialects differ.
        case lookAround
        case backReference
        case wordBoundary
        case possessive
        case unknownGroup
        case posixClass
        case unknownEscape
        case unknownProperty
        /// `{,n}` means a repetition to Python and itself to ECMA-262.
        case ambiguousBraces
        /// `[]` and `[^]` mean something else to Python.
        case emptyClass
        case incompleteEscape
        case unterminatedClass
        case unterminatedGroup
        case unmatchedParenthesis
        case groupName
        case nothingToRepeat
        case descendingRange
        /// `a-\d` or `\d-z`.
        case classInRange
        case leastAboveMost
        /// A surrogate alone, or a number above 10FFFF.
        case notACharacter
        case tooManyRepetitions(limit: Int)
        case tooDeep(limit: Int)
        case tooLong(limit: Int)
        /// All classes together have more ranges of characters.
        case tooManyRanges(limit: Int)
    }

    let kind: Kind
    /// In UTF-8 bytes from the beginning of the pattern.
    let offset: Int
    /// What stands there: up to 16 characters.
    let found: String
}

extension PatternFlaw.Kind {
    /// Whether another dialect reads it as an expression, or only its size is in the way.
    var isOfDialect: Bool {
        switch self {
        case .lookAround, .backReference, .wordBoundary, .possessive, .unknownGroup, .posixClass,
            .unknownEscape, .unknownProperty, .ambiguousBraces, .emptyClass, .groupName,
            .classInRange, .tooManyRepetitions, .tooDeep, .tooLong, .tooManyRanges:
            true
        case .incompleteEscape, .unterminatedClass, .unterminatedGroup, .unmatchedParenthesis,
            .nothingToRepeat, .descendingRange, .leastAboveMost, .notACharacter:
            false
        }
    }
}

extension PatternFlaw {
    /// The same as an error of a schema.
    func error(at pointer: String) -> GrammarError {
        .pattern(pointer: pointer, offset: offset, reason: reason)
    }

    /// What is wrong, without a full stop.
    var reason: String {
        found.isEmpty ? what : "\(what) (\(found))"
    }

    private var what: String {
        switch kind {
        case .lookAround:
            "look-ahead is supported only right after the first ^, and look-behind nowhere"
        case .backReference: "back references are not supported"
        case .wordBoundary: "word boundaries are not supported"
        case .possessive: "possessive repetitions are not supported"
        case .unknownGroup: "a group that is none of ( ), (?: ) and (?<name> )"
        case .posixClass: "POSIX classes are not supported"
        case .unknownEscape: "an unknown escape"
        case .unknownProperty: "not a general category such as Lu"
        case .ambiguousBraces: "a repetition without a lower bound, where {0,n} is clear"
        case .emptyClass: "a class without members"
        case .incompleteEscape: "an incomplete escape"
        case .unterminatedClass: "a class without its closing bracket"
        case .unterminatedGroup: "a group without its closing parenthesis"
        case .unmatchedParenthesis: "a closing parenthesis without a group"
        case .groupName: "a malformed name of a group"
        case .nothingToRepeat: "a repetition of nothing"
        case .descendingRange: "a range that ends before it starts"
        case .classInRange: "a class as the end of a range"
        case .leastAboveMost: "a repetition whose lower bound is above its upper one"
        case .notACharacter: "a number that is no character"
        case .tooManyRepetitions(let limit): "more than \(limit) repetitions"
        case .tooDeep(let limit): "more than \(limit) groups inside each other"
        case .tooLong(let limit): "more than \(limit) bytes"
        case .tooManyRanges(let limit): "classes of more than \(limit) ranges"
        }
    }
}
