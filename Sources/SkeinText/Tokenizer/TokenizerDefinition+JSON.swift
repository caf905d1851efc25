import Foundation
import SkeinBasics

extension TokenizerDefinition {
    /// Reads tokenizer.json and, if given, tokenizer_config.json.
    ///
    /// - Throws: `TokenizerError`; `ForeignFileError`; `FileError`.
    init(tokenizerJSON path: String, tokenizerConfig configurationPath: String?) throws {
        let file = try TokenizerFile.read(at: path)
        try self.init(file, source: path)
        // What this file's post-processor puts before a text.
        let first = try Self.firstToken(of: file, source: path)
        guard let configurationPath else {
            beginID = first.flatMap { pieceID(of: $0) }
            addsBeginToken = beginID != nil
            return
        }
        let roles = try JSONFile.decode(TokenizerConfigurationFile.self, at: configurationPath)
        let firstID = first.flatMap { pieceID(of: $0) }
        // A configuration that names none does not cancel what the post-processor adds; a chat
        // template does not see that token then, as in transformers.
        beginID = try id(of: roles.beginToken, "bos_token", configurationPath) ?? firstID
        endID = try id(of: roles.endToken, "eos_token", configurationPath)
        templateTokens = TemplateTokens(
            begin: roles.beginToken?.piece, end: roles.endToken?.piece)
        // An explicit setting comes first, as in llama.cpp's conversion.
        addsBeginToken = roles.addsBeginToken ?? (firstID.map { $0 == beginID } ?? false)
    }

    /// The id of the token that a role in tokenizer_config.json names.
    func id(
        of name: TokenizerConfigurationFile.Name?, _ role: String, _ configurationPath: String
    ) throws(TokenizerError) -> Int32? {
        guard let name else { return nil }
        guard let id = pieceID(of: name.piece) else {
            throw .invalid(
                .unknownRoleToken(role: role, piece: name.piece), source: configurationPath)
        }
        return id
    }

    /// The id of a piece, by bytes: equal texts may be two spellings of an accent.
    private func pieceID(of piece: String) -> Int32? {
        pieces.firstIndex { $0.utf8.elementsEqual(piece.utf8) }.map {
            Int32(truncatingIfNeeded: $0)
        }
    }

    /// Reads the parts of a tokenizer.json.
    init(_ file: TokenizerFile, source: String) throws(TokenizerError) {
        let model = file.model
        guard ["BPE", "Unigram"].contains(model.type) else {
            throw .unsupported(.model(model.type), source: source)
        }
        let isOfPieces = Self.spellsSpaces(file) || model.type == "Unigram"
        let options: [(String, String?)] = [
            ("dropout", model.dropout.flatMap { $0 == 0 ? nil : "\($0)" }),
            ("byte_fallback", model.byteFallback == true && !isOfPieces ? "true" : nil),
            ("continuing_subword_prefix", model.subwordPrefix.flatMap { $0.isEmpty ? nil : $0 }),
            ("end_of_word_suffix", model.wordSuffix.flatMap { $0.isEmpty ? nil : $0 }),
        ]
        for (name, value) in options {
            guard let value else { continue }
            throw .unsupported(.option(name: name, value: value), source: source)
        }
        if isOfPieces {
            let (design, normalizer, normalizers) = try Self.sentencePieces(
                of: file, source: source)
            guard model.ignoresMerges != true else {
                throw .unsupported(.option(name: "ignore_merges", value: "true"), source: source)
            }
            self.init(source: source, pieces: [], merges: model.merges, preTokenizer: .whole)
            sentencePieces = design
            self.normalizer = normalizer
            self.normalizers = normalizers
        } else {
            try self.init(ofBytes: file, source: source)
        }
        fusesUnknown = model.fusesUnknown ?? false
        let scored = model.scoredPieces.enumerated().map { ($1.piece, $0) }
        let listed = try Listed(
            model.type == "Unigram" ? scored : model.vocabulary, source: source)
        if let index = model.unknownIndex {
            guard scored.indices.contains(index), let id = Int32(exactly: index) else {
                throw .invalid(
                    .idOutOfRange(piece: "unk_id", id: index, limit: scored.count), source: source)
            }
            unknownID = id
        }
        if let piece = model.unknownToken {
            guard let id = listed.id(of: piece) else {
                throw .invalid(.unknownRoleToken(role: "unk_token", piece: piece), source: source)
            }
            unknownID = Int32(exactly: id)
        }
        try setPieces(listed, adding: file.addedTokens ?? [])
    }

    /// Reads the stages of a byte-level tokenizer, without its vocabulary.
    private init(ofBytes file: TokenizerFile, source: String) throws(TokenizerError) {
        for step in file.decoder?.steps ?? [] where step.type != "ByteLevel" {
            throw .unsupported(.decoder(step.type), source: source)
        }
        let stages = file.preTokenizer?.steps ?? []
        let known = Self.knownPreTokenizer(stages)
        self.init(
            source: source, pieces: [], merges: file.model.merges,
            preTokenizer: known?.0 ?? .whole, addsPrefixSpace: known?.addsPrefixSpace ?? false)
        if known == nil { preTokenSteps = try PreTokenSteps(stages, source: source) }
        let steps = try Self.normalizers(of: file, source: source)
        if !steps.isEmpty, steps.allSatisfy({ $0 == .form(.composed) }) {
            normalizer = .composed
        } else {
            normalizers = steps
        }
        ignoresMerges = file.model.ignoresMerges ?? false
    }

    /// The pre-tokenizer with a scanner of its own that the stages amount to, or nil.
    private static func knownPreTokenizer(
        _ stages: [TokenizerFile.Stage]
    ) -> (PreTokenizer, addsPrefixSpace: Bool)? {
        guard let last = stages.last, last.type == "ByteLevel" else { return nil }
        let usesRegex = last.usesRegex ?? true
        let addsPrefixSpace = last.addsPrefixSpace ?? true
        if stages.count == 1 { return (usesRegex ? .gpt2 : .whole, addsPrefixSpace) }
        // In a sequence, ByteLevel would put a space before every pre-token.
        guard stages.count == 2, !addsPrefixSpace else { return nil }
        let first = stages[0]
        switch first.type {
        case "Digits" where first.isolatesDigits == true && usesRegex: return (.smollm, false)
        case "Split" where !usesRegex:
            // The expressions match every character, so keeping the matches is isolating them.
            let cut = (first.behavior ?? "", first.isInverted ?? false)
            guard cut == ("Isolated", false) || cut == ("Removed", true) else { return nil }
            return first.pattern?["Regex"].flatMap { PreTokenizer(pattern: $0) }
                .map { ($0, false) }
        default: return nil
        }
    }

    /// The vocabulary as the file lists it, with an index by bytes.
    private struct Listed {
        let entries: [(piece: String, id: Int)]
        private let table: TokenTable

        init(_ entries: [(piece: String, id: Int)], source: String) throws(TokenizerError) {
            let limit = TokenizerLimits.tokens
            guard entries.count <= limit else {
                throw .invalid(.tooManyTokens(found: entries.count, limit: limit), source: source)
            }
            var table = TokenTable()
            for entry in entries { table.append { $0.append(contentsOf: entry.piece.utf8) } }
            if let (first, second) = table.index(where: { _ in true }) {
                throw .invalid(
                    .duplicateToken(
                        entries[first].piece, first: entries[first].id, second: entries[second].id),
                    source: source)
            }
            self.entries = entries
            self.table = table
        }

        func id(of piece: String) -> Int? {
            var piece = piece
            return piece.withUTF8 { table.id(of: $0) }.map { entries[Int($0)].id }
        }
    }

    /// Puts the vocabulary and the added tokens in id order.
    private mutating func setPieces(
        _ vocabulary: Listed, adding added: [TokenizerFile.AddedToken]
    ) throws(TokenizerError) {
        let limit = TokenizerLimits.tokens
        guard added.count <= limit else {
            throw .invalid(.tooManyTokens(found: added.count, limit: limit), source: source)
        }
        var byID: [String?] = []
        byID.reserveCapacity(vocabulary.entries.count + added.count)
        var flaws: [TokenizerError.Flaw] = []
        func place(_ piece: String, _ id: Int) {
            guard (0..<limit).contains(id) else {
                return flaws.append(.idOutOfRange(piece: piece, id: id, limit: limit))
            }
            while byID.count <= id { byID.append(nil) }
            if let other = byID[id] {
                flaws.append(
                    .duplicateID(id, first: min(other, piece), second: max(other, piece)))
            }
            byID[id] = piece
        }
        for (piece, id) in vocabulary.entries { place(piece, id) }
        for token in added {
            if let id = vocabulary.id(of: token.content) {
                guard id != token.id else { continue }
                throw .invalid(
                    .addedTokenConflict(
                        piece: token.content, listed: token.id, vocabulary: id),
                    source: source)
            }
            place(token.content, token.id)
        }
        if let flaw = flaws.first { throw .invalid(flaw, source: source) }
        pieces = byID.compactMap(\.self)
        if pieces.count < byID.count, let hole = byID.firstIndex(of: nil) {
            throw .invalid(.missingID(hole), source: source)
        }
        addedTokens = added.map {
            AddedToken(
                id: Int32(truncatingIfNeeded: $0.id), isSpecial: $0.special ?? false,
                isNormalized: $0.normalized ?? false, isSingleWord: $0.isSingleWord ?? false,
                stripsLeft: $0.stripsLeft ?? false, stripsRight: $0.stripsRight ?? false)
        }
    }
}
