/// SentencePiece's precompiled map of characters (`precompiled_charsmap`): a double-array trie of
/// what to replace, and the replacements.
///
/// Layout: the size of the trie in bytes (u32, little endian), its units (u32 each, darts-clone),
/// then the replacements, each ended by a zero. A unit that points outside ends a look-up.
struct CharacterMap: Sendable, Equatable {
    private let units: [UInt32]
    private let replacements: [UInt8]
    /// In bytes.
    private(set) var longestReplacement = 0

    /// Reads a map.
    ///
    /// - Returns: nil when the size of its trie does not fit, or a replacement is too long.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count >= 8 else { return nil }
        let bytes = Array(bytes)
        func unit(_ index: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[4 * index + $1]) << (8 * UInt32($1)) }
        }
        let size = Int(unit(0))
        guard size > 0, size % 4 == 0, size < bytes.count - 4 else { return nil }
        units = (0..<(size / 4)).map { unit($0 + 1) }
        replacements = Array(bytes[(4 + size)...])
        var length = 0
        for byte in replacements {
            length = byte == 0 ? 0 : length + 1
            longestReplacement = max(longestReplacement, length)
        }
        guard longestReplacement <= TokenizerLimits.replacementBytes else { return nil }
    }

    /// For the digest of a definition.
    var digestContent: [UInt8] {
        units.flatMap { unit in (0..<4).map { UInt8(truncatingIfNeeded: unit >> (8 * $0)) } }
            + replacements
    }

    /// The bytes that a value of the trie stands for.
    private func replacement(_ value: UInt32) -> ArraySlice<UInt8> {
        let start = min(Int(value), replacements.count)
        return replacements[start...].prefix { $0 != 0 }
    }

    /// Calls `body` with the length and the value of each key that `text` has from `position` to
    /// `end`, the shortest first, until it returns false.
    @inline(__always)
    private func forEachKey(
        of text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ body: (Int, UInt32) -> Bool
    ) {
        units.withUnsafeBufferPointer { units in
            func offset(_ unit: UInt32) -> Int { Int((unit >> 10) << ((unit & 1 << 9) >> 6)) }
            var place = offset(units[0])
            for position in range {
                place ^= Int(text[position])
                guard place < units.count else { return }
                let unit = units[place]
                guard unit & (1 << 31 | 0xFF) == UInt32(text[position]) else { return }
                place ^= offset(unit)
                guard unit >> 8 & 1 == 1 else { continue }
                guard place < units.count,
                    body(position + 1 - range.lowerBound, units[place] & 0x7FFF_FFFF)
                else { return }
            }
        }
    }

    /// What stands for the longest key at `position`, and the bytes of that key.
    @inline(__always)
    func longest(
        in text: UnsafeBufferPointer<UInt8>, at position: Int
    ) -> (replacement: ArraySlice<UInt8>, length: Int)? {
        var found: (UInt32, Int)?
        // A hostile map may have a key without end.
        let end = min(text.count, position + TokenizerLimits.characterKeyBytes)
        forEachKey(of: text, position..<end) {
            found = ($1, $0)
            return true
        }
        return found.map { (replacement($0), $1) }
    }

    /// What stands for the shortest key at the beginning of a range.
    @inline(__always)
    private func shortest(
        in text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
    ) -> ArraySlice<UInt8>? {
        var found: UInt32?
        forEachKey(of: text, range) {
            found = $1
            return false
        }
        return found.map { replacement($0) }
    }

    /// The text as tokenizers rewrites it, which is not how SentencePiece does: a grapheme of less
    /// than six bytes is replaced whole by what its shortest key stands for; of other graphemes
    /// each character is.
    func applied(to bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        bytes.withUnsafeBufferPointer { text in
            var position = 0
            while position < text.count {
                // Two ASCII characters are two graphemes, but for a line end.
                let end = Self.end(ofGraphemesFrom: position, in: text)
                if end - position == 1 {
                    rewrite(text, position..<end, into: &out)
                    position = end
                    continue
                }
                let stretch = String(
                    decoding: UnsafeBufferPointer(rebasing: text[position..<end]), as: UTF8.self)
                for grapheme in stretch {
                    let range = position..<(position + grapheme.utf8.count)
                    rewrite(text, range, into: &out)
                    position = range.upperBound
                }
                position = end
            }
        }
        return out
    }

    /// The end of a stretch that has whole graphemes: before an ASCII character that follows one.
    private static func end(
        ofGraphemesFrom start: Int, in text: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var end = start + 1
        while end < text.count {
            let isLineEnd = text[end - 1] == 0x0D && text[end] == 0x0A
            if text[end - 1] < 0x80, text[end] < 0x80, !isLineEnd { break }
            end += 1
        }
        return end
    }

    @inline(__always)
    private func rewrite(
        _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, into out: inout [UInt8]
    ) {
        if range.count < 6, let replacement = shortest(in: text, range) {
            out += replacement
            return
        }
        var position = range.lowerBound
        while position < range.upperBound {
            let length = text.scalar(at: position)?.length ?? 1
            let character = position..<min(position + length, range.upperBound)
            if let replacement = shortest(in: text, character) {
                out += replacement
            } else {
                out += text[character]
            }
            position = character.upperBound
        }
    }
}
