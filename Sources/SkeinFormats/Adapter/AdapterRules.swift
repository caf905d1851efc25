import SkeinBasics

/// How adapter_config.json says which modules carry an adapter: PEFT finds them by their names in the
/// base model, such as "model.layers.0.self_attn.q_proj".
package struct AdapterRules: Sendable, Equatable {
    /// Names of modules.
    package enum Names: Sendable, Equatable {
        /// Whole names, or their ends after a dot.
        case list([String])
        /// A regular expression for whole names, or "all-linear".
        case pattern(String)
    }

    /// Whether a regular expression fits all of a text. An error says what is wrong with it, or that
    /// it takes too long.
    package typealias Matching = (_ expression: String, _ text: String) throws(NamePatternFlaw) ->
        Bool

    /// nil: the tensors alone say it.
    package var targets: Names?
    package var excluded: Names?
    /// nil: all.
    package var layers: Set<Int>?
    /// adapter_config.json.
    package var path: String

    package init(targets: Names?, excluded: Names?, layers: Set<Int>?, path: String) {
        self.targets = targets
        self.excluded = excluded
        self.layers = layers
        self.path = path
    }

    /// Whether a module carries an adapter.
    ///
    /// - Parameters:
    ///   - name: of the module in the base model.
    ///   - layer: its layer; nil: it is in none.
    ///   - matches: decides on regular expressions.
    /// - Returns: whether it does.
    /// - Throws: `FormatError.badField` for an expression that cannot be used.
    package func isTarget(_ name: String, layer: Int?, _ matches: Matching) throws -> Bool {
        if let excluded, try fits(excluded, "exclude_modules", name, matches) { return false }
        // A module that is named in full is one whatever its layer, as for PEFT.
        if case .list(let list)? = targets, list.contains(name) { return true }
        if let layers, layer.map({ !layers.contains($0) }) ?? true { return false }
        guard let targets else { return true }
        // For PEFT, the embedding is not linear and the head is not to be adapted with the rest.
        if layer == nil, case .pattern("all-linear") = targets { return false }
        return try fits(targets, "target_modules", name, matches)
    }

    private func fits(
        _ names: Names, _ field: String, _ name: String, _ matches: Matching
    ) throws -> Bool {
        switch names {
        case .list(let list):
            return list.contains { name == $0 || name.hasSuffix("." + $0) }
        case .pattern("all-linear") where field == "target_modules": return true
        case .pattern(let expression):
            return try Self.matches(expression, name, field, path, matches)
        }
    }

    /// The value of the pattern that fits the end of a module's name; nil: none does.
    ///
    /// PEFT takes the first that fits. Here the order of the file is not known, so two that say
    /// different things of one module are refused.
    ///
    /// - Throws: `FormatError.badField`.
    package func value<Value: Equatable & Sendable>(
        of patterns: [String: Value], _ field: String, for name: String, _ matches: Matching
    ) throws -> Value? {
        var found: (key: String, value: Value)?
        for (key, value) in patterns.sorted(by: { $0.key < $1.key }) {
            guard
                try Self.isPlain(key)
                    ? Self.fits(key, endOf: name)
                    : Self.matches("(.*\\.)?(" + key + ")", name, field, path, matches)
            else { continue }
            if let found, found.value != value {
                throw FormatError.badField(
                    path: path, field: field, expected: "one value for \(name)",
                    found: "\(found.value) by '\(found.key)' and \(value) by '\(key)'")
            }
            found = (key, value)
        }
        return found?.value
    }

    /// Whether a key is a name, as most are, in which only the dot is special.
    private static func isPlain(_ key: String) -> Bool {
        key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }

    /// Whether a name, or what follows one of its dots, is `key`, whose dots are any character.
    private static func fits(_ key: String, endOf name: String) -> Bool {
        let (key, name) = (Array(key.utf8), Array(name.utf8))
        let dot = UInt8(ascii: ".")
        let start = name.count - key.count
        guard start >= 0, start == 0 || name[start - 1] == dot else { return false }
        return zip(key, name[start...]).allSatisfy { $0 == dot || $0 == $1 }
    }

    private static func matches(
        _ expression: String, _ name: String, _ field: String, _ path: String,
        _ matches: Matching
    ) throws -> Bool {
        do throws(NamePatternFlaw) {
            return try matches(expression, name)
        } catch {
            throw FormatError.badField(
                path: path, field: field, expected: "a regular expression that Skein reads",
                found: "'\(expression)': \(error.what)")
        }
    }
}

/// Why a regular expression cannot be used.
package struct NamePatternFlaw: Error, Equatable {
    package var what: String

    package init(what: String) { self.what = what }
}
