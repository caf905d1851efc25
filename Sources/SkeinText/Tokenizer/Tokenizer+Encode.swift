import Foundation

extension Tokenizer {
    /// The tokens of a text. Nothing is added at its beginning or end.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - parsingSpecialTokens: whether "<|im_end|>" and its like become the special tokens that
    ///     they spell; if not, they are ordinary text, as in a user's message they should be.
    ///   - previous: the token that the text follows; nil: it begins here. A tokenizer that puts a
    ///     space before a text puts none in the middle of one.
    /// - Returns: the ids in order.
    /// - Throws: `TokenizerError.textTooSlow`, `.noEmbedding`.
    package func ids(
        of text: String, parsingSpecialTokens: Bool = true, after previous: Int32? = nil
    ) throws(TokenizerError) -> [Int32] {
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(TokenizerError) in
                try ids(
                    ofUTF8: bytes, parsingSpecialTokens: parsingSpecialTokens, after: previous)
            }
        }
        return try result.get()
    }

    /// The tokens of a whole text, as transformers and llama.cpp make them: with `beginID` before
    /// it if the model expects that.
    ///
    /// A text that already begins with that token, as a chat template's may, does not get a second
    /// one (the two others would add it). A rendered template goes through `ids(of:)`: there the
    /// template decides.
    package func ids(ofWhole text: String) throws(TokenizerError) -> [Int32] {
        let ids = try ids(of: text)
        guard addsBeginToken, let beginID, ids.first != beginID else { return ids }
        try check([beginID])
        return [beginID] + ids
    }

    /// Like `ids(of:)`, from the text's UTF-8.
    ///
    /// Bytes that are not valid UTF-8 are encoded one by one, so that `bytes(of:)` gives them back.
    /// The text around them, from one added token to the next, is then not normalized.
    package func ids(
        ofUTF8 bytes: UnsafeBufferPointer<UInt8>, parsingSpecialTokens: Bool = true,
        after previous: Int32? = nil
    ) throws(TokenizerError) -> [Int32] {
        let followsText =
            previous.map { isSpecial.indices.contains(Int($0)) && !isSpecial[Int($0)] } ?? false
        var out: [Int32] = []
        // English text has about 4.2 bytes a token; for other text the array grows.
        out.reserveCapacity(bytes.count / 4 + 8)
        var workspace = MergeWorkspace()
        let effort = ExpressionEffort()
        CharacterClasses.shared.withReader { classes in
            let text = UTF8Reader(bytes: bytes, classes: classes)
            rawTokens.forEachSection(of: text, parsingSpecialTokens: parsingSpecialTokens) {
                switch $0 {
                case .token(let id): out.append(id)
                case .text(let range):
                    let section = UTF8Reader(
                        bytes: UnsafeBufferPointer(rebasing: bytes[range]), classes: classes)
                    if let sentencePieces, sentencePieces.rules != nil || sentencePieces.cuts != nil
                    {
                        encodePieces(
                            section, by: sentencePieces,
                            isFirst: range.lowerBound == 0 && previous == nil,
                            goesOn: range.lowerBound == 0 && followsText,
                            parsingSpecialTokens: parsingSpecialTokens, workspace: &workspace,
                            effort, into: &out)
                        return
                    }
                    if let characters, let sentencePieces {
                        let text = String(validating: section.bytes, as: UTF8.self)
                            .map { Array($0.normalized(by: normalizer).utf8) }
                        let spelled = sentencePieces.normalize(
                            text ?? Array(section.bytes),
                            isFirst: range.lowerBound == 0 && previous == nil,
                            goesOn: range.lowerBound == 0 && followsText)
                        encodeCharacters(
                            spelled, by: characters, classes: classes,
                            parsingSpecialTokens: parsingSpecialTokens, workspace: &workspace,
                            into: &out)
                        return
                    }
                    normalize(section, effort) {
                        encodeNormalized(
                            $0, parsingSpecialTokens: parsingSpecialTokens,
                            workspace: &workspace, effort, into: &out)
                    }
                }
            }
        }
        if let slow = effort.unfinished {
            throw .textTooSlow(expression: slow.expression, bytes: slow.bytes)
        }
        try check(out)
        return out
    }

    /// Calls `body` with the normalized text.
    private func normalize(
        _ text: UTF8Reader, _ effort: ExpressionEffort, _ body: (UTF8Reader) -> Void
    ) {
        if !normalizers.isEmpty, String(validating: text.bytes, as: UTF8.self) != nil {
            let steps = normalizers.reduce(Array(text.bytes)) { $1.applied(to: $0, effort) }
            return steps.withUnsafeBufferPointer {
                body(UTF8Reader(bytes: $0, classes: text.classes))
            }
        }
        // Below U+0300 there is neither a combining mark nor anything that composes differently;
        // U+0300 begins with the byte 0xCC.
        guard normalizer == .composed, text.bytes.contains(where: { $0 >= 0xCC }),
            let valid = String(validating: text.bytes, as: UTF8.self)
        else { return body(text) }
        var composed = valid.normalized(by: normalizer)
        composed.withUTF8 { body(UTF8Reader(bytes: $0, classes: text.classes)) }
    }

    /// Cuts the added tokens out of normalized text and encodes what is between them.
    private func encodeNormalized(
        _ text: UTF8Reader, parsingSpecialTokens: Bool, workspace: inout MergeWorkspace,
        _ effort: ExpressionEffort, into out: inout [Int32]
    ) {
        normalizedTokens.forEachSection(of: text, parsingSpecialTokens: parsingSpecialTokens) {
            switch $0 {
            case .token(let id): out.append(id)
            case .text(let range):
                let section = UTF8Reader(
                    bytes: UnsafeBufferPointer(rebasing: text.bytes[range]),
                    classes: text.classes)
                if addsPrefixSpace, section.bytes.first != UInt8(ascii: " ") {
                    let spaced = [UInt8(ascii: " ")] + section.bytes
                    spaced.withUnsafeBufferPointer {
                        encodePreTokens(
                            of: UTF8Reader(bytes: $0, classes: text.classes),
                            workspace: &workspace, effort, into: &out)
                    }
                } else {
                    encodePreTokens(
                        of: section, workspace: &workspace, effort, into: &out)
                }
            }
        }
    }

    /// Cuts the added tokens out of spelled text and encodes what is between them.
    private func encodeCharacters(
        _ text: [UInt8], by characters: CharacterPairEncoding, classes: CharacterClasses.Reader,
        parsingSpecialTokens: Bool, workspace: inout MergeWorkspace, into out: inout [Int32]
    ) {
        text.withUnsafeBufferPointer { bytes in
            let reader = UTF8Reader(bytes: bytes, classes: classes)
            normalizedTokens.forEachSection(of: reader, parsingSpecialTokens: parsingSpecialTokens)
            {
                switch $0 {
                case .token(let id): out.append(id)
                case .text(let range):
                    characters.encode(
                        UnsafeBufferPointer(rebasing: bytes[range]), workspace: &workspace,
                        into: &out)
                }
            }
        }
    }

    /// Encodes text without added tokens.
    private func encodePreTokens(
        of text: UTF8Reader, workspace: inout MergeWorkspace, _ effort: ExpressionEffort,
        into out: inout [Int32]
    ) {
        guard effort.unfinished == nil else { return }
        if let preTokenSteps {
            effort.add(bytes: text.count, expressions: preTokenSteps.count)
            let unfinished = preTokenSteps.forEachPiece(of: text, effort: effort) { piece in
                for start in stride(
                    from: 0, to: piece.count, by: TokenizerLimits.preTokenBytes)
                {
                    let end = min(piece.count, start + TokenizerLimits.preTokenBytes)
                    encoding.encode(
                        UnsafeBufferPointer(rebasing: piece[start..<end]), workspace: &workspace,
                        into: &out)
                }
            }
            if let unfinished {
                effort.giveUp(unfinished.step.spelling, bytes: unfinished.bytes)
            }
            return
        }
        let scanner = PreTokenScanner(text, by: preTokenizer)
        var start = 0
        while start < text.count {
            let end = min(scanner.end(ofTokenAt: start), start + TokenizerLimits.preTokenBytes)
            encoding.encode(
                UnsafeBufferPointer(rebasing: text.bytes[start..<end]), workspace: &workspace,
                into: &out)
            start = end
        }
    }
}

extension String {
    /// The text as a model with this normalizer sees it.
    func normalized(by normalizer: TokenizerDefinition.Normalizer) -> String {
        switch normalizer {
        case .none: self
        case .composed: precomposedStringWithCanonicalMapping
        }
    }
}
