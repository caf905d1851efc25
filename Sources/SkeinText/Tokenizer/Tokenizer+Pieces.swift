extension Tokenizer {
    /// Encodes a stretch of text between added tokens, of a SentencePiece model that rewrites text.
    /// `isFirst`: the text begins here. `goesOn`: ordinary text comes right before, so no space is
    /// put here.
    func encodePieces(
        _ section: UTF8Reader, by design: TokenizerDefinition.SentencePieces, isFirst: Bool,
        goesOn: Bool, parsingSpecialTokens: Bool, workspace: inout MergeWorkspace,
        _ effort: ExpressionEffort, into out: inout [Int32]
    ) {
        var lattice = UnigramLattice()
        func encode(_ text: UnsafeBufferPointer<UInt8>) {
            if let unigram {
                unigram.encode(text, lattice: &lattice, into: &out)
            } else {
                characters?.encode(text, workspace: &workspace, into: &out)
            }
        }
        let isPrefixed =
            !goesOn && (design.prefix == .always || design.prefix == .first && isFirst)
        var text: [UInt8]
        if let rules = design.rules {
            text = rules.normalize(
                section.bytes, kept: keptPieces, addsPrefix: isPrefixed, goesOn: goesOn)
        } else {
            text = Array(section.bytes)
            if String(validating: section.bytes, as: UTF8.self) != nil {
                let steps = goesOn ? normalizers.filter { !$0.isPrefix } : normalizers
                text = steps.reduce(text) { $1.applied(to: $0, effort) }
            }
        }
        text.withUnsafeBufferPointer { bytes in
            let reader = UTF8Reader(bytes: bytes, classes: section.classes)
            normalizedTokens.forEachSection(of: reader, parsingSpecialTokens: parsingSpecialTokens)
            {
                switch $0 {
                case .token(let id): out.append(id)
                case .text(let range):
                    let part = UTF8Reader(
                        bytes: UnsafeBufferPointer(rebasing: bytes[range]),
                        classes: section.classes)
                    guard let cuts = design.cuts else { return encode(part.bytes) }
                    let isHead = range.lowerBound == 0
                    part.forEachWord(droppingWhiteSpace: cuts.dropsWhiteSpace) { word in
                        guard cuts.spellsSpaces else {
                            return encode(UnsafeBufferPointer(rebasing: part.bytes[word]))
                        }
                        let isHead = isHead && word.lowerBound == 0
                        let spelled = design.normalize(
                            part.bytes[word], isFirst: isFirst && isHead, goesOn: goesOn && isHead)
                        spelled.withUnsafeBufferPointer {
                            design.cutsAtEverySpace && unigram != nil
                                ? $0.forEachSpacedWord(encode) : encode($0)
                        }
                    }
                }
            }
        }
    }
}

extension UTF8Reader {
    /// Calls `body` with each stretch without white space, or with the whole text.
    fileprivate func forEachWord(droppingWhiteSpace: Bool, _ body: (Range<Int>) -> Void) {
        guard droppingWhiteSpace else { return body(0..<count) }
        var position = 0
        while position < count {
            let start = end(ofRunFrom: position) { $0.contains(.whiteSpace) }
            position = end(ofRunFrom: start) { !$0.contains(.whiteSpace) }
            if start < position { body(start..<position) }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Calls `body` with the stretches of a text that begin with U+2581, and with what is before.
    fileprivate func forEachSpacedWord(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        var start = 0
        var position = 0
        while position < count {
            if position > start, self[position] == 0xE2, position + 2 < count,
                self[position + 1] == 0x96, self[position + 2] == 0x81
            {
                body(UnsafeBufferPointer(rebasing: self[start..<position]))
                start = position
            }
            position += 1
        }
        if start < count { body(UnsafeBufferPointer(rebasing: self[start...])) }
    }
}
