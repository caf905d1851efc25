/// A text by characters, and the sets that they belong to.
struct ScalarReader {
    private let text: UnsafeBufferPointer<UInt8>
    private let blocks: UnsafeBufferPointer<UInt16>
    private let classes: UnsafeBufferPointer<UInt8>
    private let members: UnsafeBufferPointer<UInt8>
    private let asciiMembers: UnsafeBufferPointer<UInt8>

    /// Calls `body` with a reader, which is valid in there.
    @inline(__always)
    static func with<Result>(
        _ tables: borrowing ScalarClasses, _ text: UnsafeBufferPointer<UInt8>,
        _ body: (ScalarReader) -> Result
    ) -> Result {
        tables.blocks.withUnsafeBufferPointer { blocks in
            tables.classes.withUnsafeBufferPointer { classes in
                tables.members.withUnsafeBufferPointer { members in
                    tables.asciiMembers.withUnsafeBufferPointer { asciiMembers in
                        body(
                            ScalarReader(
                                text: text, blocks: blocks, classes: classes, members: members,
                                asciiMembers: asciiMembers))
                    }
                }
            }
        }
    }

    /// The class of a character whose first byte is 0x80 or more, and its number of bytes.
    @inline(__always)
    func wideCharacter(at position: Int) -> (kind: Int, length: Int) {
        let (scalar, length) = UTF8Reader.wideScalar(in: text, at: position)
        let block = Int(blocks[Int(scalar >> 8)]) << 8
        return (Int(classes[block | Int(scalar & 0xFF)]), length)
    }

    /// The end of the character at `position` if it is in `set`.
    @inline(__always)
    func end(ofCharacterAt position: Int, in set: Int32) -> Int? {
        guard position < text.count else { return nil }
        let byte = text[position]
        if byte < 0x80 {
            return asciiMembers[Int(set) << 7 | Int(byte)] != 0 ? position + 1 : nil
        }
        let (kind, length) = wideCharacter(at: position)
        return members[Int(set) << 8 | kind] != 0 ? position + length : nil
    }

    /// The end of the run of at most `most` characters of `set` from `position` on.
    @inline(__always)
    func end(ofRunFrom position: Int, in set: Int32, atMost most: Int) -> Int {
        var position = position
        var left = most
        let ascii = Int(set) << 7
        while left > 0, position < text.count {
            let byte = text[position]
            if byte < 0x80 {
                guard asciiMembers[ascii | Int(byte)] != 0 else { break }
                position += 1
            } else {
                let (kind, length) = wideCharacter(at: position)
                guard members[Int(set) << 8 | kind] != 0 else { break }
                position += length
            }
            left -= 1
        }
        return position
    }

    /// Where the character before `position`, which is not 0, begins.
    @inline(__always)
    func start(ofCharacterBefore position: Int) -> Int {
        var start = position - 1
        if text[start] < 0x80 { return start }
        while start > 0, position - start < 4, text[start] & 0xC0 == 0x80 { start -= 1 }
        guard text[start] >= 0x80,
            start + UTF8Reader.wideScalar(in: text, at: start).length == position
        else { return position - 1 }
        return start
    }

    /// Whether an `ExpressionNode.Anchor` holds; `wordSet` is the set behind `\b`.
    func holds(_ anchor: Int32, at position: Int, wordSet: Int32) -> Bool {
        let lineFeed = UInt8(ascii: "\n")
        switch ExpressionNode.Anchor(rawValue: anchor) {
        case .lineStart:
            return position == 0 || (text[position - 1] == lineFeed && position < text.count)
        case .lineEnd: return position == text.count || text[position] == lineFeed
        case .textStart: return position == 0
        case .textEnd: return position == text.count
        case .lastLineEnd:
            return position == text.count
                || (position == text.count - 1 && text[position] == lineFeed)
        case .wordBoundary: return isWordBoundary(position, wordSet)
        case .noWordBoundary: return !isWordBoundary(position, wordSet)
        case nil: return false
        }
    }

    private func isWordBoundary(_ position: Int, _ wordSet: Int32) -> Bool {
        let isAfter = end(ofCharacterAt: position, in: wordSet) != nil
        guard position > 0 else { return isAfter }
        let before = start(ofCharacterBefore: position)
        return isAfter != (end(ofCharacterAt: before, in: wordSet) != nil)
    }
}
