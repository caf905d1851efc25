import SkeinJSON

/// What a string must be.
struct TextRule: Hashable {
    /// Code points.
    var least = 0
    /// nil: any number.
    var most: Int?
    /// Regular expressions, each of which matches somewhere in the text, and their places.
    var patterns: [Pattern] = []
    var formats: [TextFormat] = []
    /// Texts that it must not be, as code points.
    var excluded: [[UInt32]] = []

    struct Pattern: Hashable {
        var text: String
        var pointer: String

        static func == (a: Pattern, b: Pattern) -> Bool { a.text.isSame(as: b.text) }
        func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
    }

    init(least: Int = 0, most: Int? = nil) {
        self.least = least
        self.most = most
    }

    /// What all of some schema objects ask.
    init(_ all: [SchemaKeywords]) throws(GrammarError) {
        var known: Set<Pattern> = []
        for keywords in all {
            least = max(least, keywords.leastLength)
            if let length = keywords.mostLength { most = min(most ?? length, length) }
            for pattern in keywords.patterns {
                let found = Pattern(text: pattern, pointer: keywords.pointer + "/pattern")
                if known.insert(found).inserted { patterns.append(found) }
            }
            for format in keywords.formats where !formats.contains(format) {
                formats.append(format)
            }
        }
    }

    /// Whether only the length matters.
    var isPlain: Bool { patterns.isEmpty && formats.isEmpty && excluded.isEmpty }

    /// All regular expressions, those of formats included.
    var expressions: [(pattern: String, matchesWhole: Bool, pointer: String)] {
        patterns.map { ($0.text, false, $0.pointer) } + formats.map { ($0.pattern, true, "") }
    }
}
