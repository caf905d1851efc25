/// What a Replace looks for: a literal text, or one character or white space repeated.
struct TextPattern: Sendable, Equatable {
    private enum Kind: Sendable, Equatable {
        case literal([UInt8])
        /// At least so many of this character.
        case run(of: Unicode.Scalar, atLeast: Int)
        case whiteSpace(atLeast: Int)
    }

    private let kind: Kind
    /// As in the file, behind "s" or "r".
    let source: String

    /// Bytes that a match has at least.
    var shortestMatch: Int {
        switch kind {
        case .literal(let bytes): max(1, bytes.count)
        case .run(_, let minimum), .whiteSpace(let minimum): minimum
        }
    }

    init(literal: String) {
        kind = .literal(Array(literal.utf8))
        source = "s" + literal
    }

    /// Reads a regular expression: literal characters, or one character or `\s` with `+` or `{n,}`.
    ///
    /// - Returns: nil for any other.
    init?(expression: String) {
        source = "r" + expression
        var scalars = expression.unicodeScalars[...]
        var atoms: [Unicode.Scalar] = []
        var isWhiteSpace = false
        var minimum: Int?
        while let scalar = scalars.popFirst() {
            guard minimum == nil else { return nil }
            switch scalar {
            case "\\":
                guard let escaped = scalars.popFirst() else { return nil }
                switch escaped {
                case "s":
                    guard atoms.isEmpty else { return nil }
                    isWhiteSpace = true
                    atoms.append(" ")
                case "n": atoms.append("\n")
                case "t": atoms.append("\t")
                case "r": atoms.append("\r")
                case _
                where escaped.isASCII && !escaped.properties.isAlphabetic
                    && !("0"..."9").contains(escaped):
                    atoms.append(escaped)
                default: return nil
                }
            case "+":
                guard atoms.count == 1 else { return nil }
                minimum = 1
            case "{":
                guard atoms.count == 1, let end = scalars.firstIndex(of: "}"),
                    String(scalars[..<end]).hasSuffix(","),
                    let count = Int(String(scalars[..<end]).dropLast()), (1...1000).contains(count)
                else { return nil }
                minimum = count
                scalars = scalars[scalars.index(after: end)...]
            case "(", ")", "[", "]", "}", "*", "?", ".", "^", "$", "|": return nil
            default: atoms.append(scalar)
            }
            if isWhiteSpace, atoms.count > 1 { return nil }
        }
        guard let first = atoms.first else { return nil }
        if isWhiteSpace {
            kind = .whiteSpace(atLeast: minimum ?? 1)
            // A lone `\s` matches one character, not a run of them.
            guard minimum != nil else { return nil }
        } else if let minimum {
            kind = .run(of: first, atLeast: minimum)
        } else {
            kind = .literal(atoms.flatMap { Array(String($0).utf8) })
        }
    }

    /// The text with `content` in place of each match, leftmost first.
    func replaced(in text: [UInt8], by content: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        text.withUnsafeBufferPointer { text in
            var position = 0
            while position < text.count {
                let end = end(ofMatchAt: position, in: text)
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

    /// The end of the match at `position`, or of what cannot match there.
    @inline(__always)
    private func end(
        ofMatchAt position: Int, in text: UnsafeBufferPointer<UInt8>
    ) -> (place: Int, isMatch: Bool) {
        switch kind {
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
