import SkeinBasics

/// What an escape such as `\w` stands for where dialects differ: ECMA-262 counts ASCII only,
/// Python's `re` counts Unicode.
struct ScalarClass: Hashable, Sendable {
    /// Members in every dialect: what the class itself may match.
    let certain: ScalarSet
    /// Members in some dialect: what a negation of the class must not match.
    let possible: ScalarSet

    init(certain: ScalarSet, possible: ScalarSet) {
        self.certain = certain
        self.possible = possible
    }

    /// A class that all dialects agree on.
    init(_ set: ScalarSet) {
        self.init(certain: set, possible: set)
    }

    /// Its negation: certain is what is not even possible.
    var inverted: ScalarClass {
        ScalarClass(certain: possible.inverted, possible: certain.inverted)
    }

    static let digit = ScalarClass(
        certain: ScalarSet([0x30...0x39]), possible: .categories("Nd", "Cn"))

    static let word = ScalarClass(
        certain: ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]),
        possible: .categories("L", "M", "N", "Pc", "Cn"))

    /// U+180E was a space before Unicode 6.3; U+001C to U+001F and U+0085 are Python's.
    static let space = ScalarClass(
        certain: ScalarSet([0x09...0x0D, 0x20...0x20]),
        possible: ScalarSet([
            0x09...0x0D, 0x1C...0x20, 0x85...0x85, 0xA0...0xA0, 0x1680...0x1680, 0x180E...0x180E,
            0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000,
            0xFEFF...0xFEFF,
        ]))

    static let notDigit = digit.inverted
    static let notWord = word.inverted
    static let notSpace = space.inverted

    /// What `\p` (or `\P`) stands for with a name; nil for one that is not known. A scalar that is
    /// unassigned here may be anything to a validator that knows another Unicode, so it is no certain
    /// member of a negation.
    static func category(named name: String, isNegated: Bool) -> ScalarClass? {
        ScalarSet.category(named: name).flatMap { (isNegated ? negations : categories)[$0] }
    }

    /// Those whose category another Unicode changed: U+0295 is a lower-case letter in Unicode 16, and a
    /// letter without case in Unicode 17.
    private static let moved = ScalarSet([0x295...0x295])

    private static let categories = Dictionary(
        uniqueKeysWithValues: ScalarSet.byCategory.map { name, set in
            // A group has both of a scalar's categories.
            let moved = name.count == 1 ? ScalarSet([]) : Self.moved
            let possible = set.union(.categories("Cn")).union(moved)
            return (name, ScalarClass(certain: set.subtracting(moved), possible: possible))
        })

    private static let negations = categories.mapValues(\.inverted)
}
