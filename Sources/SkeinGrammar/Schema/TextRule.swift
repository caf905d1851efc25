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
        for keywords in all {
            least = max(least, keywords.leastLength)
            if let length = keywords.mostLength { most = min(most ?? length, length) }
            for pattern in keywords.patterns {
                let found = Pattern(text: pattern, pointer: keywords.pointer + "/pattern")
                if !patterns.contains(found) { patterns.append(found) }
            }
            for format in keywords.formats where !formats.contains(format) {
                formats.append(format)
            }
        }
    }

    /// Whether only the length matters.
    var isPlain: Bool { patterns.isEmpty && formats.isEmpty && excluded.isEmpty }

    /// Whether a text is as the rule asks.
    func accepts(_ text: String) throws(GrammarError) -> Bool {
        let length = text.unicodeScalars.count
        guard length >= least, length <= most ?? .max else { return false }
        for machine in try conditions() where !machine.contains(text) { return false }
        return true
    }

    /// A machine for all conditions together.
    func machine() throws(GrammarError) -> ScalarMachine {
        var machines = try conditions()
        do throws(ScalarMachineTooLarge) {
            if least > 0 || most != nil { machines.append(try ScalarMachine.length(least, most)) }
            guard var product = machines.first else { return .any }
            for machine in machines.dropFirst() { product = try product.intersection(machine) }
            return product
        } catch {
            throw error.error(at: patterns.first?.pointer ?? "")
        }
    }

    /// One machine for each condition but the length.
    private func conditions() throws(GrammarError) -> [ScalarMachine] {
        var machines: [ScalarMachine] = []
        for pattern in patterns {
            machines.append(
                try Self.machine(pattern.text, matchesWhole: false, pointer: pattern.pointer))
        }
        for format in formats {
            machines.append(try Self.machine(format.pattern, matchesWhole: true, pointer: ""))
        }
        if !excluded.isEmpty {
            do {
                machines.append(try ScalarMachine.excluding(excluded))
            } catch {
                throw error.error(at: "")
            }
        }
        return machines
    }

    /// A regular expression as a machine.
    static func machine(
        _ pattern: String, matchesWhole: Bool, pointer: String
    ) throws(GrammarError) -> ScalarMachine {
        let tree: PatternNode
        do {
            tree = try PatternParser.parse(pattern)
        } catch {
            throw error.error(at: pointer)
        }
        do {
            return try ScalarMachine(tree, matchesWhole: matchesWhole)
        } catch {
            throw error.error(at: pointer)
        }
    }
}
