/// How SentencePiece's own library rewrites a text before it looks for pieces: a tokenizer.model's
/// normalizer_spec.
struct SentencePieceRules: Sendable, Equatable {
    /// What each character becomes; nil: what it is.
    var map: CharacterMap?
    /// Spaces at both ends are dropped, and of several in a row one stays.
    var removesSpaces = false
    /// Pieces that stay as they are in a text.
    var keptIDs: [Int32] = []

    /// Rewrites a text.
    ///
    /// - Parameters:
    ///   - text: any bytes; those that are not UTF-8 stay as they are.
    ///   - kept: the pieces of `keptIDs`.
    ///   - addsPrefix: whether a space comes before a text that has anything but spaces.
    ///   - goesOn: whether ordinary text comes right before: a space here is not at an end then.
    /// - Returns: the text as its pieces spell it: UTF-8 with U+2581 for each space.
    func normalize(
        _ text: UnsafeBufferPointer<UInt8>, kept: PieceTrie?, addsPrefix: Bool, goesOn: Bool
    ) -> [UInt8] {
        let space = CharacterPairEncoding.space
        var out: [UInt8] = []
        out.reserveCapacity(text.count + text.count / 2 + space.count)
        var isAfterSpace = removesSpaces && !goesOn
        var isPrefixDue = addsPrefix
        func append(_ bytes: some Collection<UInt8>) {
            var rest = bytes[...]
            if isAfterSpace { rest = rest.drop { $0 == UInt8(ascii: " ") } }
            guard !rest.isEmpty || !removesSpaces else { return }
            if isPrefixDue {
                out += space
                isPrefixDue = false
            }
            var last: UInt8 = 0
            for byte in rest {
                if byte == UInt8(ascii: " ") { out += space } else { out.append(byte) }
                last = byte
            }
            isAfterSpace = removesSpaces && last == UInt8(ascii: " ")
        }
        if isPrefixDue, !removesSpaces, !text.isEmpty { append([UInt8]()) }
        var position = 0
        while position < text.count {
            if let length = kept?.longestMatch(in: text, at: position) {
                append(text[position..<(position + length)])
                position += length
            } else if let (replacement, length) = map?.longest(in: text, at: position) {
                append(replacement)
                position += length
            } else {
                let length = text[position] < 0x80 ? 1 : text.scalar(at: position)?.length ?? 1
                append(text[position..<(position + length)])
                position += length
            }
        }
        while removesSpaces, out.count >= space.count, out.suffix(space.count) == space[...] {
            out.removeLast(space.count)
        }
        return out
    }
}
