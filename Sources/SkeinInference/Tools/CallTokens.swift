import SkeinGrammar
import SkeinText

/// The tokens of a format's fixed parts, for one tokenizer.
struct CallTokens: Sendable {
    let opening: [Int32]
    let callEnd: [Int32]
    let callNext: [Int32]?
    let listEnd: [Int32]
    /// A token in the middle of a text.
    let previous: Int32?
    private let marker: String
    private let tokenizer: Tokenizer
    private let grammars: GrammarCache

    /// Tokens that must follow a call.
    var tailCount: Int { callEnd.count + listEnd.count }

    /// For an answer without calls.
    static func none(_ tokenizer: Tokenizer, _ grammars: GrammarCache) throws -> CallTokens {
        try CallTokens(ToolFormat(marker: ""), tokenizer, grammars)
    }

    /// - Throws: `ToolProblem.Flaw.cannotBeWritten`.
    init(_ format: ToolFormat, _ tokenizer: Tokenizer, _ grammars: GrammarCache) throws {
        // In the middle of a text no space is put before a part.
        let previous = tokenizer.segments(of: Array("a".utf8), after: nil).last
        self.previous = previous
        self.tokenizer = tokenizer
        self.grammars = grammars
        marker = format.marker
        func part(_ text: String) throws -> [Int32] {
            let found = Self.tokens(of: text, marker: format.marker, tokenizer, previous, grammars)
            guard let found else {
                throw ToolProblem(path: "tools", flaw: .cannotBeWritten(text))
            }
            return found
        }
        opening = try part(format.opening)
        callEnd = try part(format.callEnd)
        callNext = try format.callNext.map { try part($0) }
        listEnd = try part(format.listEnd)
    }

    /// The tokens of a part of a format, which is cut anew; nil if it cannot be.
    func tokens(of bytes: some Sequence<UInt8>) -> [Int32]? {
        Self.tokens(
            of: String(decoding: Array(bytes), as: UTF8.self), marker: marker, tokenizer, previous,
            grammars)
    }

    /// The tokens of text, which may begin within a character; nil if it cannot be cut.
    func plainTokens(of bytes: [UInt8]) -> [Int32]? {
        let ids = tokenizer.segments(of: bytes, after: previous)
        if ids.flatMap({ tokenizer.bytes(of: $0) }) == bytes { return ids }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return Self.longest(text, tokenizer, grammars)
    }

    /// Markers may be added tokens, so text that spells one becomes it.
    private static func tokens(
        of text: String, marker: String, _ tokenizer: Tokenizer, _ previous: Int32?,
        _ grammars: GrammarCache
    ) -> [Int32]? {
        if text.isEmpty { return [] }
        func exact(_ text: String) -> [Int32]? {
            // A text that takes too long is cut in the other way, or not at all.
            let ids = try? tokenizer.ids(of: text, parsingSpecialTokens: true, after: previous)
            guard let ids, ids.flatMap({ tokenizer.bytes(of: $0) }) == Array(text.utf8) else {
                return nil
            }
            return ids
        }
        if let ids = exact(text) { return ids }
        // Some tokenizers put a space after a special token, too.
        guard let place = text.utf8.place(of: marker.utf8), let id = exact(marker), id.count == 1
        else { return longest(text, tokenizer, grammars) }
        let before = text.utf8.prefix(place)
        let after = text.utf8.dropFirst(place + marker.utf8.count)
        let parts = [before, after].map { part -> [Int32]? in
            let part = String(decoding: Array(part), as: UTF8.self)
            return part.isEmpty ? [] : exact(part) ?? longest(part, tokenizer, grammars)
        }
        guard let first = parts[0], let last = parts[1] else { return nil }
        return first + id + last
    }

    private static func longest(
        _ text: String, _ tokenizer: Tokenizer, _ grammars: GrammarCache
    ) -> [Int32]? {
        // Callers say which text cannot be written; a grammar's error speaks of an expression.
        try? longestTokens(text, tokenizer, grammars)
    }

    /// At each place the longest token after which there is a way to the end: for tokenizers that put a
    /// space before any text.
    private static func longestTokens(
        _ text: String, _ tokenizer: Tokenizer, _ grammars: GrammarCache
    ) throws -> [Int32]? {
        let special = Set("^$\\.*+?()[]{}|/")
        let expression = text.map { special.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        var matcher = try GrammarMatcher(
            grammars.grammar(.expression(expression), makesRoom: false), limit: text.utf8.count)
        var ids: [Int32] = []
        while true {
            switch try matcher.next() {
            case .only(let id): ids.append(id)
            case .choice(_, let fitting):
                let longest = fitting.tokens.tokens.max {
                    tokenizer.bytes(of: $0).count < tokenizer.bytes(of: $1).count
                }
                guard let longest else { return nil }
                ids.append(longest)
            case .end: return ids
            }
            if let id = ids.last { try matcher.accept(id) }
        }
    }
}
