import SkeinText

/// The tokens of a format's fixed parts, for one tokenizer.
struct CallTokens: Sendable {
    let opening: [Int32]
    let callEnd: [Int32]
    let callNext: [Int32]?
    let listEnd: [Int32]
    private let tokenizer: Tokenizer
    /// A token in the middle of a text.
    let previous: Int32?

    /// Tokens that must follow a call.
    var tailCount: Int { callEnd.count + listEnd.count }

    /// For an answer without calls.
    static func none(_ tokenizer: Tokenizer) -> CallTokens { CallTokens(tokenizer) }

    private init(_ tokenizer: Tokenizer) {
        self.tokenizer = tokenizer
        previous = nil
        opening = []
        callEnd = []
        callNext = nil
        listEnd = []
    }

    /// - Throws: `ToolProblem.Flaw.cannotBeWritten`.
    init(_ format: ToolFormat, _ tokenizer: Tokenizer) throws(ToolProblem) {
        self.tokenizer = tokenizer
        // In the middle of a text no space is put before a part.
        let previous = tokenizer.segments(of: Array("a".utf8), after: nil).last
        self.previous = previous
        opening = try Self.tokens(of: format.opening, tokenizer, previous)
        callEnd = try Self.tokens(of: format.callEnd, tokenizer, previous)
        callNext = try format.callNext.map { text throws(ToolProblem) in
            try Self.tokens(of: text, tokenizer, previous)
        }
        listEnd = try Self.tokens(of: format.listEnd, tokenizer, previous)
    }

    /// The tokens of a part of a marker, which is cut anew; nil if it cannot be.
    func tokens(of bytes: some Sequence<UInt8>) -> [Int32]? {
        try? Self.tokens(of: String(decoding: Array(bytes), as: UTF8.self), tokenizer, previous)
    }

    /// The tokens of text that may begin with bytes of an unfinished character.
    func plainTokens(of bytes: [UInt8]) -> [Int32]? {
        let ids = tokenizer.segments(of: bytes, after: previous)
        return ids.flatMap { tokenizer.bytes(of: $0) } == bytes ? ids : nil
    }

    /// Markers may be added tokens, so text that spells one becomes it.
    private static func tokens(
        of text: String, _ tokenizer: Tokenizer, _ previous: Int32?
    ) throws(ToolProblem) -> [Int32] {
        if text.isEmpty { return [] }
        let ids = try? tokenizer.ids(of: text, parsingSpecialTokens: true, after: previous)
        guard let ids, ids.flatMap({ tokenizer.bytes(of: $0) }) == Array(text.utf8) else {
            throw ToolProblem(path: "tools", flaw: .cannotBeWritten(text))
        }
        return ids
    }
}
