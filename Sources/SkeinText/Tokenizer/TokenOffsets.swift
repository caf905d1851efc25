/// Where tokens that come one after another stand in the text that `TokenText` makes of them, in Unicode
/// scalars.
///
/// A token stands where the character stands to which its first byte belongs, so that tokens of one
/// character have one offset. Bytes that begin no character and continue none count as characters of
/// their own.
package struct TokenOffsets: Sendable {
    private let tokenizer: Tokenizer
    private let skipsSpecialTokens: Bool
    /// Characters that have begun.
    private var begun: Int
    private var beginnings = CharacterBeginnings()
    private var dropsSpace: Bool
    private var isFirst = true

    /// - Parameters:
    ///   - tokenizer: of the tokens.
    ///   - skippingSpecialTokens: as `TokenText` was made.
    ///   - start: characters before the first token.
    package init(_ tokenizer: Tokenizer, skippingSpecialTokens: Bool = false, from start: Int = 0) {
        self.tokenizer = tokenizer
        skipsSpecialTokens = skippingSpecialTokens
        begun = start
        dropsSpace = tokenizer.sentencePieces?.dropsPrefix == true
    }

    /// The offset of a token that the text does not show.
    package var here: Int { begun }

    /// The offset of the next token.
    package mutating func offset(of id: Int32) -> Int {
        var offset: Int?
        for byte in shownBytes(of: id) {
            if beginnings.isBeginning(byte) { begun += 1 }
            offset = offset ?? begun - 1
        }
        return offset ?? begun
    }

    private mutating func shownBytes(of id: Int32) -> [UInt8] {
        guard id >= 0, Int(id) < tokenizer.vocabularySize,
            !(skipsSpecialTokens && tokenizer.isSpecial[Int(id)])
        else { return [] }
        var bytes = tokenizer.bytes(of: id)
        guard let design = tokenizer.sentencePieces else { return bytes }
        if isFirst, design.dropsSpacesOfFirst, !tokenizer.isSpecial[Int(id)],
            !tokenizer.byteTokens.contains(id)
        {
            bytes.removeAll { $0 == UInt8(ascii: " ") }
            dropsSpace = false
        }
        isFirst = false
        if dropsSpace, let first = bytes.first {
            dropsSpace = false
            if first == UInt8(ascii: " ") { bytes.removeFirst() }
        }
        return bytes
    }
}
