import SkeinBasics
import SkeinJSON

/// `down_proj=16,layers.0.self_attn.q_proj=4`: values of modules, by regular expressions for the ends
/// of their names.
enum ModulePatternText {
    /// Each is matched with the names of all modules.
    static let most = 256
    static let mostKeyBytes = 256

    /// The patterns of a text; nil for any other text, and for a key that stands there twice.
    static func patterns<Value>(
        of text: String, _ value: (String) -> Value?
    ) -> [String: Value]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= most else { return nil }
        var found: [String: Value] = [:]
        for part in parts {
            let pair = part.split(separator: "=", omittingEmptySubsequences: false)
            guard pair.count == 2, !pair[0].isEmpty, pair[0].utf8.count <= mostKeyBytes,
                let value = value(String(pair[1])),
                found.updateValue(value, forKey: String(pair[0])) == nil
            else { return nil }
        }
        return found
    }

    /// The patterns by key, so that equal ones have one text and one digest.
    static func text<Value>(of patterns: [String: Value], _ value: (Value) -> String) -> String {
        patterns.sorted { $0.key < $1.key }.map { "\($0.key)=\(value($0.value))" }
            .joined(separator: ",")
    }

    /// The patterns of both.
    static func joined(_ first: String, _ second: String) throws(JoinProblem) -> String {
        func keys(_ text: String) -> Set<Substring> {
            Set(text.split(separator: ",").compactMap { $0.split(separator: "=").first })
        }
        guard keys(first).isDisjoint(with: keys(second)) else { throw .repeatedName }
        guard first.utf8.count(where: { $0 == UInt8(ascii: ",") }) + 2 <= most else {
            throw .tooMany(most: most)
        }
        return first + "," + second
    }
}

extension ValueFormat where Value == [String: Int] {
    /// Ranks.
    package static var rankPattern: ValueFormat {
        let rank = ValueFormat<Int>.integer(1...1024)
        return ValueFormat(
            placeholder: "MODULE=N",
            accepted: "MODULE=N, several with commas between them, each N a rank from 1 to 1024",
            read: { text in ModulePatternText.patterns(of: text) { rank.read($0) } },
            json: { .text(ModulePatternText.text(of: $0) { String($0) }) })
    }
}

extension ValueFormat where Value == [String: Double] {
    /// Alphas.
    package static var alphaPattern: ValueFormat {
        let alpha = ValueFormat<Double>.number(above: 0, to: 65536)
        return ValueFormat(
            placeholder: "MODULE=X",
            accepted: "MODULE=X, several with commas between them, each X above 0 and at most "
                + "65536",
            read: { text in ModulePatternText.patterns(of: text) { alpha.read($0) } },
            json: { patterns in
                .text(ModulePatternText.text(of: patterns) { JSONValue.decimal($0).written })
            })
    }
}
