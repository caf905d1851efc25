/// What a schema, a regular expression and the states made of them may take. A schema comes from a
/// client, so each of these is a limit on what a stranger can make us do.
package enum GrammarLimits {
    /// Bytes of a schema or a regular expression.
    package static let sourceBytes = 1 << 20
    /// Schemas and expressions that could not be compiled and are not tried again, and the bytes of what
    /// is said of one: half a mebibyte in all.
    static let failures = 128
    static let failureBytes = 4 << 10
    /// How deep JSON may be nested.
    package static let jsonDepth = 128
    /// Nodes of a network: some 500 bytes each while it is built.
    static let nodes = 1 << 17
    /// Schemas that lead to each other by `$ref`, `allOf`, `anyOf` and `oneOf` without a value between.
    static let referenceDepth = 64
    /// Work before a schema is used, in units of some 20 us.
    static let schemaWork = 1 << 16
    /// Work after which it is asked whether it is still wanted, in units of some 10 ns.
    static let unaskedWork = 1 << 14
    /// Values of an `enum`.
    static let values = 4096
    /// Members of a union after unions inside of it are written out.
    static let alternatives = 1024
    /// Subschemas that are intersected.
    static let conjunctions = 1 << 14
    /// States of a machine over characters.
    static let machineStates = 1 << 14
    /// The largest number of repetitions in a regular expression. Those that are written out have a
    /// limit of their own, that of `machineStates`.
    static let repetitions = 1 << 20
    /// Characters of a text, items of a list and repetitions in an expression that have a state each;
    /// where there may be more they are counted beside the state.
    static let unrolledCount = 32
    /// The largest least number that is counted: a text of so many bytes fits no memory of a model. A
    /// larger most number says nothing.
    static let count = 1 << 24
    /// Different values that a list without repetitions may have: a state for each set of them.
    static let uniqueValues = 8
    /// Keywords that are listed as left out: 1 KiB each.
    static let droppedKeywords = 64
    /// Bytes of the pointer of each.
    static let droppedPointerBytes = 256
    /// Groups inside groups of a regular expression.
    static let patternDepth = 64
    /// Digits of a number's bound, before and after the point.
    static let boundDigits = 40
    /// The largest divisor of `multipleOf`.
    static let divisor = 4096
    /// The same without its point if it has one: the digits before the point are counted, too.
    static let scaledDivisor = 512
}

extension GrammarLimits {
    /// States, and frames, of one grammar, with their configurations beside.
    static let states = 1 << 17
    static let stateBytes = 200
    /// Configurations in all states of one grammar: 8 bytes each.
    static let configurations = 1 << 22
    /// Configurations of all states that are met in one walk over a trie: some 20 ns each where the
    /// states are new.
    static let walkedConfigurations = 1 << 24
    /// Frames that are made on the way to a state before those that are of no use any more are forgotten.
    static let passingFrames = 1 << 12
    /// Bytes of the longest chain that is cut into tokens.
    static let chainBytes = 1 << 13
    /// States that were left by a byte: 1 KiB each.
    static let tableRows = 1 << 15
    /// Bytes of masks that are kept for one grammar.
    static let maskBytes = 16 << 20
    /// States after states that the search keeps: 4 bytes each.
    static let keptSuccessors = 1 << 21
    /// Bytes of the longest chain for which a search is made.
    static let searchedBytes = 256
    /// Tokens within which a number that cannot be reached counts as no limit, where single bytes are no
    /// tokens: one, and 15 more to the end of the value.
    static let endlessTokens = 16
    /// States whose tokens are tried in the search for the shortest value.
    static let searchedStates = 1 << 12
    /// Nodes of the trie of tokens that it looks at: some 5 ns each.
    static let searchedNodes = 1 << 22
}

extension GrammarLimits {
    /// Numbers of tokens that are kept for one grammar: 2 bytes each.
    static let distanceNumbers = 1 << 22
    /// Bytes of them that stay when a grammar makes room for others, as many as an automaton without
    /// states has: 64 rows of `GrammarLimits.tableRows`.
    static let keptDistanceBytes = 1 << 16
    /// Words of 64 bits for the shapes of tokens at all nodes, while they are collected.
    static let distanceWords = 1 << 22
    /// Ways that are looked at to find them: some 10 ns each.
    static let distanceWork = 1 << 26
}

extension GrammarLimits {
    /// Significant digits of a number that need not be an integer. Two different decimals of at
    /// most 15 significant digits are two different doubles (DBL_DIG), so a reader of doubles
    /// compares them as we do.
    static let significantDigits = 15
    /// Digits after the point, unless a bound has nearly as many.
    static let fractionDigits = 16
    /// Digits after the point beyond those of a bound, so that something fits next to it.
    static let spareFractionDigits = 3
}

extension GrammarLimits {
    /// Bytes of a regular expression: four for each state that a machine may have.
    static let patternBytes = 1 << 16
    /// Look-aheads at the beginning of a regular expression: a machine each.
    static let lookAheads = 16
    /// Ranges in all classes of a regular expression: 8 bytes each.
    static let patternRanges = 1 << 20
    /// Steps of a machine over characters: 16 bytes each.
    static let machineSteps = 1 << 18
    /// Ways that are tried, and ranges that are joined, to make one machine: some 10 ns each.
    static let machineWork = 1 << 24
    /// States that are led to, and ranges that are cut, to make a machine deterministic: some 50 ns each.
    static let subsetWork = 1 << 20
    /// Steps that are looked at to learn whether a text is in a machine's language.
    static let matchWork = 1 << 25
    /// Ranges of ASCII that become edges of their own for each step of a machine; a set with more of
    /// them is called.
    static let directRanges = 8
}
