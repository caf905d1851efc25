import SkeinBasics

/// What becomes of keywords that a model cannot be held to while it writes.
package enum SchemaMode: Hashable, Sendable {
    /// They are errors, as `strict: true` asks in OpenAI's requests.
    case strict
    /// Each is left out by itself and listed; the rest of the schema is held. What contradicts
    /// itself, is malformed, leads nowhere or exceeds a limit is an error here, too.
    case lenient
}

/// A keyword that a lenient schema was compiled without.
package struct DroppedKeyword: Equatable, Sendable {
    /// Its JSON pointer, cut where it is long.
    package let pointer: String
    /// Its name: the last part of the pointer, but for the names inside of `patternProperties`.
    package let keyword: String
    /// What is in the way, as an error says it.
    package let reason: String

    fileprivate init(_ error: GrammarError, _ keyword: String?) {
        let whole = error.pointer ?? ""
        pointer = Self.cut(whole)
        self.keyword = Self.cut(keyword ?? String(whole.split(separator: "/").last ?? ""))
        reason = error.explanation.what
    }

    private static func cut(_ text: String) -> String {
        text.cut(toBytes: GrammarLimits.droppedPointerBytes)
    }
}

/// The keywords that a schema is compiled without.
final class KeywordDrops {
    let mode: SchemaMode
    /// The first of them, in the order in which they were met, each once.
    private(set) var keywords: [DroppedKeyword] = []
    private(set) var count = 0
    private var seen: Set<[UInt8]> = []

    init(_ mode: SchemaMode) {
        self.mode = mode
    }

    var isLenient: Bool { mode == .lenient }

    /// Leaves out the keyword at an error's pointer.
    ///
    /// `keyword`: its name if it is not the last part of the pointer.
    ///
    /// - Throws: the error where keywords are not left out.
    func drop(_ error: GrammarError, _ keyword: String? = nil) throws(GrammarError) {
        guard isLenient else { throw error }
        guard seen.insert(Array((error.pointer ?? "").utf8)).inserted else { return }
        count += 1
        guard keywords.count < GrammarLimits.droppedKeywords else { return }
        keywords.append(DroppedKeyword(error, keyword))
    }
}
