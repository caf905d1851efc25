/// The tokens of a tokenizer.json by id: its vocabulary, which may have gaps, and its added tokens.
///
/// tokenizers reads the id of an added token only to warn: one that the vocabulary lacks gets the next
/// id behind all others, and one that is listed twice stays where it is. This does the same, but for
/// two kinds of files that are taken at their word: those whose own ids agree and leave no gap, and
/// those in which tokenizers gives two tokens one id.
struct NumberedTokens {
    /// By id; "" is an id without a token.
    private(set) var pieces: [String] = []
    private(set) var added: [TokenizerDefinition.AddedToken] = []
    /// How many tokens the vocabulary has.
    let vocabularyCount: Int

    private let entries: [(piece: String, id: Int)]
    private let table: TokenTable
    private let source: String
    /// By id: whether the vocabulary has it.
    private var isTaken: [Bool] = []

    /// Reads a vocabulary.
    ///
    /// - Parameters:
    ///   - entries: as the file lists them. The last of equal pieces counts.
    ///   - isList: whether an earlier one of equal pieces keeps its id, too (Unigram).
    ///   - source: where they were read, for errors.
    /// - Throws: `TokenizerError` for too many tokens, and for ids out of range or used twice.
    init(
        _ entries: [(piece: String, id: Int)], isList: Bool, source: String
    ) throws(TokenizerError) {
        try Self.checkCount(entries.count, source: source)
        var table = TokenTable()
        for entry in entries { table.append { $0.append(contentsOf: entry.piece.utf8) } }
        let hasRepeats = table.index { _ in true } != nil
        self.entries = entries
        self.table = table
        self.source = source
        var replaced = 0
        if hasRepeats, !isList {
            for index in entries.indices where !entries[index].piece.isEmpty {
                if Self.index(of: entries[index].piece, in: table) != index { replaced += 1 }
            }
        }
        vocabularyCount = entries.count - replaced
        pieces.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            if replaced > 0, !entry.piece.isEmpty,
                Self.index(of: entry.piece, in: table) != index
            {
                continue
            }
            try place(entry.piece, at: entry.id)
        }
    }

    private static func checkCount(_ count: Int, source: String) throws(TokenizerError) {
        let limit = TokenizerLimits.tokens
        guard count <= limit else {
            throw .invalid(.tooManyTokens(found: count, limit: limit), source: source)
        }
    }

    private static func index(of piece: String, in table: TokenTable) -> Int? {
        var piece = piece
        return piece.withUTF8 { table.id(of: $0) }.map { Int($0) }
    }

    /// The id of a piece in the vocabulary.
    func id(of piece: String) -> Int? {
        Self.index(of: piece, in: table).map { entries[$0].id }
    }

    private mutating func place(_ piece: String, at id: Int) throws(TokenizerError) {
        let limit = TokenizerLimits.tokens
        guard (0..<limit).contains(id) else {
            throw .invalid(.idOutOfRange(piece: piece, id: id, limit: limit), source: source)
        }
        while pieces.count <= id {
            pieces.append("")
            isTaken.append(false)
        }
        guard !isTaken[id] else {
            let two = [pieces[id], piece].sorted()
            throw .invalid(.duplicateID(id, first: two[0], second: two[1]), source: source)
        }
        isTaken[id] = true
        pieces[id] = piece
    }

    /// Gives the added tokens their ids.
    ///
    /// - Parameter tokens: in the order of the file.
    /// - Throws: `TokenizerError` for too many tokens, and where neither tokenizers' way nor the file's
    ///   ids tell two of them apart.
    mutating func add(_ tokens: [TokenizerFile.AddedToken]) throws(TokenizerError) {
        try Self.checkCount(tokens.count, source: source)
        let stated = ids(of: tokens, by: .stated)
        var chosen = stated
        if !stated.isWhole {
            let raised = ids(of: tokens, by: .raised)
            let counted = raised.flaw == nil ? raised : ids(of: tokens, by: .counted)
            if counted.flaw == nil { chosen = counted }
        }
        if let flaw = chosen.flaw { throw .invalid(flaw, source: source) }
        var places: [Int: Int] = [:]
        for (token, id) in zip(tokens, chosen.ids) {
            guard let id else { continue }
            if let place = places[id] {
                added[place].take(token)
                continue
            }
            places[id] = added.count
            added.append(TokenizerDefinition.AddedToken(token, id: Int32(truncatingIfNeeded: id)))
            if !isTaken.indices.contains(id) || !isTaken[id] {
                try place(token.content, at: id)
            }
        }
    }

    /// Ids of added tokens; nil for one that is passed over.
    private struct Numbering {
        var ids: [Int?] = []
        var flaw: TokenizerError.Flaw?
        /// Whether the file's own ids are these and, with the vocabulary's, leave no gap.
        var isWhole = false
    }

    /// How an added token that the vocabulary lacks gets its id.
    private enum Way {
        /// From the file.
        case stated
        /// Behind the vocabulary and behind the added tokens before it, also those that the vocabulary
        /// has: so did tokenizers before 0.23, and the ids in files with such tokens are these.
        case raised
        /// Behind the vocabulary and the tokens that it lacks: so does tokenizers 0.23.3.
        case counted
    }

    private func ids(of tokens: [TokenizerFile.AddedToken], by way: Way) -> Numbering {
        var numbering = Numbering()
        var given: [[UInt8]: Int] = [:]
        var owners: [Int: String] = [:]
        var highest = -1
        var isAgreed = true
        for token in tokens {
            let content = Array(token.content.utf8)
            // tokenizers passes an empty one over.
            if content.isEmpty, way != .stated {
                numbering.ids.append(nil)
                continue
            }
            let known = id(of: token.content) ?? given[content]
            let id = known ?? (way == .stated ? token.id : max(vocabularyCount, highest + 1))
            if known == nil {
                let limit = TokenizerLimits.tokens
                guard (0..<limit).contains(id) else {
                    numbering.flaw = .idOutOfRange(piece: token.content, id: id, limit: limit)
                    return numbering
                }
                let other = isTaken.indices.contains(id) && isTaken[id] ? pieces[id] : owners[id]
                if let other {
                    let two = [other, token.content].sorted()
                    numbering.flaw = .duplicateID(id, first: two[0], second: two[1])
                    return numbering
                }
                owners[id] = token.content
            }
            given[content] = id
            if way == .raised || known == nil { highest = max(highest, id) }
            isAgreed = isAgreed && id == token.id
            numbering.ids.append(id)
        }
        let count = isTaken.count(where: { $0 }) + owners.count
        let end = max(isTaken.count, (owners.keys.max() ?? -1) + 1)
        numbering.isWhole = isAgreed && count == end
        return numbering
    }
}

extension TokenizerDefinition.AddedToken {
    /// A token of a tokenizer.json.
    init(_ token: TokenizerFile.AddedToken, id: Int32) {
        self.init(
            id: id, isSpecial: token.special ?? false, isNormalized: token.normalized ?? false,
            isSingleWord: token.isSingleWord ?? false, stripsLeft: token.stripsLeft ?? false,
            stripsRight: token.stripsRight ?? false)
    }

    /// Takes what a later entry says of the same token. In tokenizers it stays special if any entry
    /// calls it so, and is then found as the first of these says.
    fileprivate mutating func take(_ token: TokenizerFile.AddedToken) {
        let later = Self(token, id: id)
        if !isSpecial {
            isNormalized = later.isNormalized && (later.isSpecial || isNormalized)
        }
        isSpecial = isSpecial || later.isSpecial
        isSingleWord = later.isSingleWord
        stripsLeft = later.stripsLeft
        stripsRight = later.stripsRight
    }
}
