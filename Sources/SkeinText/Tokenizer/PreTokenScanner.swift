/// Finds the ends of pre-tokens, as a backtracking engine would with the regular expressions, in
/// one pass with at most one character of look-ahead beyond a run.
///
/// The alternatives of GPT-2, the first that matches wins:
/// ```
/// 's|'t|'re|'ve|'m|'ll|'d     contraction
///  ?\p{L}+                    letters, with one space before them
///  ?\p{N}+                    numbers, likewise
///  ?[^\s\p{L}\p{N}]+          other characters, likewise
/// \s+(?!\S)                   white space, all but the last character if something follows
/// \s+                         white space
/// ```
/// Llama 3 differs: contractions in any case; letters take any one character before them that is
/// not a line end, letter or number; numbers stand alone, up to three (Qwen 2: one) at a time;
/// other characters take the line ends after them; white space goes up to its last line end.
struct PreTokenScanner {
    private typealias Class = CharacterClasses.Class

    private let text: UTF8Reader
    private let preTokenizer: PreTokenizer

    init(_ text: UTF8Reader, by preTokenizer: PreTokenizer) {
        self.text = text
        self.preTokenizer = preTokenizer
    }

    /// The end of the pre-token that begins at `start`, which is before the end of the text.
    @inline(__always)
    func end(ofTokenAt start: Int) -> Int {
        switch preTokenizer {
        case .gpt2: spacedRun(from: start, boundary: [])
        case .smollm: spacedRun(from: start, boundary: .digit)
        case .llama3: prefixedRun(from: start, numbers: 3)
        case .qwen2: prefixedRun(from: start, numbers: 1)
        case .tekken: casedRun(from: start, numbers: 1, takesContraction: false)
        case .o200k: casedRun(from: start, numbers: 3, takesContraction: true)
        case .whole: text.count
        }
    }

    /// GPT-2's alternatives. A character of a class in `boundary` is a pre-token by itself, and the
    /// text before it ends there in every respect.
    private func spacedRun(from start: Int, boundary: CharacterClasses.Class) -> Int {
        var position = start
        var (kind, length) = text.character(at: position)
        if !kind.isDisjoint(with: boundary) { return start + length }
        if text.bytes[position] == UInt8(ascii: "'"), let end = contraction(at: position) {
            return end
        }
        if text.bytes[position] == UInt8(ascii: " "), position + 1 < text.count {
            let next = text.character(at: position + 1)
            if next.kind.isDisjoint(with: boundary.union(.whiteSpace)) {
                position += 1
                (kind, length) = next
            }
        }
        let rest = position + length
        if kind.contains(.letter) {
            return text.end(ofRunFrom: rest) { $0.contains(.letter) }
        }
        if kind.contains(.number) {
            return text.end(ofRunFrom: rest) { $0.contains(.number) }
        }
        if kind.contains(.whiteSpace) {
            return whiteSpace(from: start, boundary: boundary).end
        }
        let others = boundary.union([.letter, .number, .whiteSpace])
        return text.end(ofRunFrom: rest) { $0.isDisjoint(with: others) }
    }

    /// Llama 3's alternatives with at most `numbers` numbers in a pre-token.
    private func prefixedRun(from start: Int, numbers: Int) -> Int {
        let byte = text.bytes[start]
        if byte == UInt8(ascii: "'"), let end = anyCaseContraction(at: start) { return end }
        let (kind, length) = text.character(at: start)
        let second = start + length
        if kind.contains(.letter) {
            return text.end(ofRunFrom: second) { $0.contains(.letter) }
        }
        if kind.contains(.number) {
            var end = second
            var left = numbers - 1
            while left > 0, end < text.count {
                let next = text.character(at: end)
                guard next.kind.contains(.number) else { break }
                end += next.length
                left -= 1
            }
            return end
        }
        var other = kind.contains(.whiteSpace) ? nil : second
        if !kind.contains(.newline), second < text.count {
            let next = text.character(at: second)
            if next.kind.contains(.letter) {
                return text.end(ofRunFrom: second + next.length) { $0.contains(.letter) }
            }
            let isOther = next.kind.isDisjoint(with: [.letter, .number, .whiteSpace])
            if byte == UInt8(ascii: " "), isOther { other = second + next.length }
        }
        if let other {
            let end = text.end(ofRunFrom: other) {
                $0.isDisjoint(with: [.letter, .number, .whiteSpace])
            }
            return text.end(ofRunFrom: end) { $0.contains(.newline) }
        }
        let space = whiteSpace(from: start, boundary: [])
        return space.newlineEnd ?? space.end
    }

    /// The alternatives of tekken and o200k: letters as `endOfCasedLetters` has them, then Llama
    /// 3's, but a slash may stand among the line ends after other characters.
    private func casedRun(from start: Int, numbers: Int, takesContraction: Bool) -> Int {
        if let end = text.endOfCasedLetters(at: start) {
            guard takesContraction, end < text.count, text.bytes[end] == UInt8(ascii: "'") else {
                return end
            }
            return anyCaseContraction(at: end) ?? end
        }
        let (kind, length) = text.character(at: start)
        var other = start
        if text.bytes[start] == UInt8(ascii: " "), start + length < text.count {
            other = start + length
        }
        let isOther = text.character(at: other).kind
            .isDisjoint(with: [.letter, .number, .whiteSpace])
        guard isOther else { return plainRun(from: start, kind, length, numbers: numbers) }
        var end = text.end(ofRunFrom: other) {
            $0.isDisjoint(with: [.letter, .number, .whiteSpace])
        }
        while end < text.count, [0x0A, 0x0D, UInt8(ascii: "/")].contains(text.bytes[end]) {
            end += 1
        }
        return end
    }

    /// Numbers, up to `numbers` of them, or white space.
    private func plainRun(
        from start: Int, _ kind: CharacterClasses.Class, _ length: Int, numbers: Int
    ) -> Int {
        guard kind.contains(.number) else {
            let space = whiteSpace(from: start, boundary: [])
            return space.newlineEnd ?? space.end
        }
        var end = start + length
        var left = numbers - 1
        while left > 0, end < text.count {
            let next = text.character(at: end)
            guard next.kind.contains(.number) else { break }
            end += next.length
            left -= 1
        }
        return end
    }

    /// The white space from `start` on.
    ///
    /// - Returns: the end of the pre-token by `\s+(?!\S)|\s+`, and the end of the last line end.
    private func whiteSpace(
        from start: Int, boundary: CharacterClasses.Class
    ) -> (end: Int, newlineEnd: Int?) {
        var position = start
        var last = start
        var newlineEnd: Int?
        while position < text.count {
            let (kind, length) = text.character(at: position)
            guard kind.contains(.whiteSpace) else {
                let goesOn = kind.isDisjoint(with: boundary)
                return (goesOn && last > start ? last : position, newlineEnd)
            }
            last = position
            position += length
            if kind.contains(.newline) { newlineEnd = position }
        }
        return (position, newlineEnd)
    }

    /// The end of `'s|'t|'re|'ve|'m|'ll|'d` at `start`, which is an apostrophe.
    private func contraction(at start: Int) -> Int? {
        guard start + 1 < text.count else { return nil }
        switch text.bytes[start + 1] {
        case UInt8(ascii: "s"), UInt8(ascii: "t"), UInt8(ascii: "m"), UInt8(ascii: "d"):
            return start + 2
        case let first:
            guard start + 2 < text.count else { return nil }
            return isLongContraction(first, text.bytes[start + 2]) ? start + 3 : nil
        }
    }

    /// Like `contraction`, in any case. The long s (U+017F) folds to s, so it counts, too.
    private func anyCaseContraction(at start: Int) -> Int? {
        guard start + 1 < text.count else { return nil }
        let first = text.bytes[start + 1]
        switch first | 0x20 {
        case UInt8(ascii: "s"), UInt8(ascii: "t"), UInt8(ascii: "m"), UInt8(ascii: "d"):
            return start + 2
        default:
            guard start + 2 < text.count else { return nil }
            let second = text.bytes[start + 2]
            if first == 0xC5, second == 0xBF { return start + 3 }
            return isLongContraction(first | 0x20, second | 0x20) ? start + 3 : nil
        }
    }

    /// Whether two bytes are `re`, `ve` or `ll`.
    private func isLongContraction(_ first: UInt8, _ second: UInt8) -> Bool {
        switch first {
        case UInt8(ascii: "r"), UInt8(ascii: "v"): second == UInt8(ascii: "e")
        case UInt8(ascii: "l"): second == UInt8(ascii: "l")
        default: false
        }
    }
}
