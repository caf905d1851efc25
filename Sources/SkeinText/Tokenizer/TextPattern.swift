import SkeinBasics

/// What a Replace looks for: a literal text, one character or white space repeated, or an expression.
struct TextPattern: Sendable, Equatable {
    private enum Kind: Sendable {
        case literal([UInt8])
        /// At least so many of this character.
        case run(of: Unicode.Scalar, atLeast: Int)
        case whiteSpace(atLeast: Int)
        case expression(Expression, canBeEmpty: Bool)
    }

    private let kind: Kind
    /// As in the file, behind "s" or "r".
    let source: String

    static func == (a: Self, b: Self) -> Bool { a.source == b.source }

    /// How many times longer a text may get, at worst, with a content of so many bytes.
    func growth(content: Int) -> Int {
        switch kind {
        case .literal(let bytes): Self.ratio(content, max(1, bytes.count))
        case .run(_, let minimum), .whiteSpace(let minimum): Self.ratio(content, minimum)
        case .expression(_, let canBeEmpty): canBeEmpty ? 2 * content + 1 : max(1, content)
        }
    }

    private static func ratio(_ content: Int, _ shortest: Int) -> Int {
        max(1, (content + shortest - 1) / shortest)
    }

    init(literal: String) {
        kind = .literal(Array(literal.utf8))
        source = "s" + literal
    }

    /// Reads a regular expression. Literal characters, and one character or `\s` with `+` or `{n,}`, are
    /// looked for without a matcher.
    init(expression: String) throws(ExpressionFlaw) {
        source = "r" + expression
        let node = try ExpressionParser.parse(expression)
        if let simple = Self.simple(node) {
            kind = simple
        } else {
            kind = .expression(try Expression(node), canBeEmpty: node.canBeEmpty)
        }
    }

    private static func simple(_ node: ExpressionNode) -> Kind? {
        switch node {
        case .set(let set): set.only.map { .literal(Array(String($0).utf8)) }
        case .sequence(let parts): literal(parts).map { .literal($0) }
        case .repeated(.set(.whiteSpace), let least, nil, .greedy) where least > 0:
            .whiteSpace(atLeast: least)
        case .repeated(.set(let set), let least, nil, .greedy) where least > 0:
            set.only.map { .run(of: $0, atLeast: least) }
        default: nil
        }
    }

    /// What a sequence of single characters matches; nil for another, and for an empty one.
    private static func literal(_ parts: [ExpressionNode]) -> [UInt8]? {
        var text = String.UnicodeScalarView()
        for part in parts {
            guard case .set(let set) = part, let scalar = set.only else { return nil }
            text.append(scalar)
        }
        return text.isEmpty ? nil : Array(String(text).utf8)
    }

    /// The text with `content` in place of each match, leftmost first.
    ///
    /// - Parameters:
    ///   - text: UTF-8.
    ///   - content: UTF-8, taken literally.
    ///   - effort: what the expression may take; it is told if that is not enough.
    /// - Returns: the new text.
    func replaced(
        in text: [UInt8], by content: [UInt8], _ effort: ExpressionEffort
    ) -> [UInt8] {
        // What is empty stays so, even where nothing is what is looked for.
        guard !text.isEmpty else { return [] }
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        if case .expression(let expression, _) = kind {
            effort.add(bytes: text.count, expressions: 1)
            text.withUnsafeBufferPointer { text in
                let isComplete = expression.forEachStretch(of: text, effort: effort) {
                    if $1 { out += content } else { out += text[$0] }
                }
                if !isComplete {
                    effort.giveUp(String(source.dropFirst()), bytes: text.count)
                }
            }
            return out
        }
        text.withUnsafeBufferPointer { text in
            var position = 0
            while position < text.count {
                guard let end = end(ofMatchAt: position, in: text) else { return }
                if end.isMatch {
                    out += content
                } else {
                    out += text[position..<end.place]
                }
                position = end.place
            }
        }
        return out
    }

    /// The end of the match at `position`, or of what cannot match there; nil: of an expression.
    @inline(__always)
    private func end(
        ofMatchAt position: Int, in text: UnsafeBufferPointer<UInt8>
    ) -> (place: Int, isMatch: Bool)? {
        switch kind {
        case .expression: return nil
        case .literal(let bytes):
            let rest = text.count - position
            guard let first = bytes.first, text[position] == first, rest >= bytes.count,
                text[position..<(position + bytes.count)].elementsEqual(bytes)
            else { return (position + 1, false) }
            return (position + bytes.count, true)
        case .run(let scalar, let minimum):
            return Self.run(in: text, from: position, minimum) { $0 == scalar.value }
        case .whiteSpace(let minimum):
            return Self.run(in: text, from: position, minimum) {
                $0 == 0x20 || Unicode.Scalar($0)?.properties.isWhitespace == true
            }
        }
    }

    @inline(__always)
    private static func run(
        in text: UnsafeBufferPointer<UInt8>, from position: Int, _ minimum: Int,
        _ belongs: (UInt32) -> Bool
    ) -> (place: Int, isMatch: Bool) {
        var end = position
        var count = 0
        var length = 1
        while let (scalar, size) = text.scalar(at: end) {
            length = count == 0 ? size : length
            guard belongs(scalar) else { break }
            end += size
            count += 1
        }
        if count >= minimum { return (end, true) }
        // No run that begins inside of this one is longer.
        return (count == 0 ? position + length : end, false)
    }
}

extension ScalarSet {
    /// The only member; nil if there are several.
    fileprivate var only: Unicode.Scalar? {
        guard let range = ranges.first, ranges.count == 1, range.count == 1 else { return nil }
        return Unicode.Scalar(range.lowerBound)
    }
}
