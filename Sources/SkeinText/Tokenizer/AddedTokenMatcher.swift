/// Cuts added tokens out of a text: the leftmost, and of those that begin there the longest.
///
/// A trie with siblings in a list. A text without added tokens costs one table look-up a byte: only
/// a byte that begins some added token is looked at twice.
struct AddedTokenMatcher: Sendable {
    /// A stretch of text between added tokens, or an added token.
    enum Section: Equatable {
        case text(Range<Int>)
        case token(Int32)
    }

    /// The trie's node after one more byte.
    private struct Node: Sendable {
        var byte: UInt8
        /// The index of its first child, its next sibling, and the token that ends here; -1: none.
        var child: Int32 = -1
        var sibling: Int32 = -1
        var token: Int32 = -1
    }

    /// The node after each first byte; -1: no added token begins with it.
    private var roots = [Int32](repeating: -1, count: 256)
    private var nodes: [Node] = []
    private var tokens: [TokenizerDefinition.AddedToken] = []

    /// Whether there is nothing to match.
    var isEmpty: Bool { tokens.isEmpty }

    /// Adds a token by its bytes; an empty one never occurs in a text and is left out.
    mutating func add(
        _ token: TokenizerDefinition.AddedToken, bytes: UnsafeBufferPointer<UInt8>
    ) {
        guard let first = bytes.first else { return }
        if roots[Int(first)] < 0 {
            roots[Int(first)] = Int32(nodes.count)
            nodes.append(Node(byte: first))
        }
        var node = Int(roots[Int(first)])
        for byte in bytes.dropFirst() {
            var child = nodes[node].child
            while child >= 0, nodes[Int(child)].byte != byte { child = nodes[Int(child)].sibling }
            if child < 0 {
                child = Int32(nodes.count)
                nodes.append(Node(byte: byte, sibling: nodes[node].child))
                nodes[node].child = child
            }
            node = Int(child)
        }
        nodes[node].token = Int32(tokens.count)
        tokens.append(token)
    }

    /// Calls `body` with the sections of `text` in order; empty stretches are left out.
    ///
    /// - Parameters:
    ///   - text: the text, with the classes of its characters.
    ///   - parsingSpecialTokens: false: special tokens are passed over as text.
    ///   - body: gets each section.
    func forEachSection(
        of text: UTF8Reader, parsingSpecialTokens: Bool, _ body: (Section) -> Void
    ) {
        var textStart = 0
        var position = 0
        while !isEmpty, let match = firstMatch(in: text.bytes, from: position) {
            position = match.end
            let token = tokens[match.token]
            if token.isSpecial && !parsingSpecialTokens { continue }
            if token.isSingleWord, Self.isInsideWord(match.start, match.end, of: text.bytes) {
                continue
            }
            var start = match.start
            var end = match.end
            if token.stripsLeft {
                start = max(textStart, text.start(ofWhiteSpaceBefore: start, notBefore: 0))
            }
            if token.stripsRight {
                end = text.end(ofRunFrom: end) { $0.contains(.whiteSpace) }
            }
            if textStart < start { body(.text(textStart..<start)) }
            body(.token(token.id))
            textStart = end
        }
        if textStart < text.count { body(.text(textStart..<text.count)) }
    }

    /// The leftmost, longest token at or after `position`.
    private func firstMatch(
        in text: UnsafeBufferPointer<UInt8>, from position: Int
    ) -> (start: Int, end: Int, token: Int)? {
        roots.withUnsafeBufferPointer { roots in
            for start in position..<text.count where roots[Int(text[start])] >= 0 {
                if let match = longestMatch(in: text, at: start) {
                    return (start, match.end, match.token)
                }
            }
            return nil
        }
    }

    /// The longest token that begins at `start`.
    private func longestMatch(
        in text: UnsafeBufferPointer<UInt8>, at start: Int
    ) -> (end: Int, token: Int)? {
        nodes.withUnsafeBufferPointer { nodes in
            var found: (end: Int, token: Int)?
            var node = Int(roots[Int(text[start])])
            var position = start + 1
            while true {
                if nodes[node].token >= 0 { found = (position, Int(nodes[node].token)) }
                guard position < text.count else { return found }
                var child = nodes[node].child
                while child >= 0, nodes[Int(child)].byte != text[position] {
                    child = nodes[Int(child)].sibling
                }
                guard child >= 0 else { return found }
                node = Int(child)
                position += 1
            }
        }
    }

    /// Whether a word character comes right before `start` or right after `end`.
    private static func isInsideWord(
        _ start: Int, _ end: Int, of text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        // Four bytes hold the nearest character; one that is cut off beside it decodes to U+FFFD.
        let before = String(decoding: text[max(0, start - 4)..<start], as: UTF8.self)
        let after = String(decoding: text[end..<min(text.count, end + 4)], as: UTF8.self)
        return before.unicodeScalars.last.map(isWord) ?? false
            || after.unicodeScalars.first.map(isWord) ?? false
    }

    /// `\w` of Unicode Technical Standard 18, annex C, by Swift's tables: texts that are trained on
    /// depend on them.
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation:
            true
        default: properties.isAlphabetic || properties.isJoinControl
        }
    }
}
