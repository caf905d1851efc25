/// The text of tokens that come one after another.
///
/// Its output is UTF-8 at every moment, and all of it together is what `Tokenizer.decode` gives. A
/// SentencePiece model's tokens of single bytes are held back until another token ends their run;
/// bytes of other tokens that are not whole characters until the next ones complete them.
package struct TokenText {
    private let tokenizer: Tokenizer
    private let skipsSpecialTokens: Bool
    private var stream = UTF8Stream()
    /// Bytes of the run of byte tokens so far.
    private var run: [UInt8] = []
    /// Whether a space at the beginning is still to be dropped.
    private var dropsSpace: Bool
    private var isFirst = true

    package init(_ tokenizer: Tokenizer, skippingSpecialTokens: Bool = false) {
        self.tokenizer = tokenizer
        skipsSpecialTokens = skippingSpecialTokens
        dropsSpace = tokenizer.sentencePieces?.dropsPrefix == true
    }

    /// The characters that a token completes.
    package mutating func text(of id: Int32) -> String {
        guard id >= 0, Int(id) < tokenizer.vocabularySize,
            !(skipsSpecialTokens && tokenizer.isSpecial[Int(id)])
        else { return "" }
        var bytes = tokenizer.bytes(of: id)
        guard let design = tokenizer.sentencePieces else { return stream.text(of: bytes) }
        if tokenizer.byteTokens.contains(id) {
            isFirst = false
            run += bytes
            return ""
        }
        if isFirst, design.dropsSpacesOfFirst, !tokenizer.isSpecial[Int(id)] {
            bytes.removeAll { $0 == UInt8(ascii: " ") }
            dropsSpace = false
        }
        isFirst = false
        return withoutPrefix(endRun() + stream.text(of: bytes))
    }

    /// What was held back; for when no more tokens come.
    package mutating func rest() -> String { withoutPrefix(endRun() + stream.rest()) }

    /// The text of the run of byte tokens, which ends here. A byte that belongs to no character is
    /// U+FFFD; where tokenizers made the file, each byte of such a run is.
    private mutating func endRun() -> String {
        guard !run.isEmpty else { return "" }
        defer { run = [] }
        if let text = String(validating: run, as: UTF8.self) { return text }
        if tokenizer.sentencePieces?.voidsRuns == true {
            return String(repeating: "\u{FFFD}", count: run.count)
        }
        return run.withUnsafeBufferPointer { bytes in
            var text = ""
            var position = 0
            while position < bytes.count {
                let found = bytes.scalar(at: position)
                text.unicodeScalars.append(
                    found.flatMap { Unicode.Scalar($0.scalar) } ?? "\u{FFFD}")
                position += found?.length ?? 1
            }
            return text
        }
    }

    private mutating func withoutPrefix(_ text: String) -> String {
        guard dropsSpace, let first = text.utf8.first else { return text }
        dropsSpace = false
        return first == UInt8(ascii: " ") ? String(text.unicodeScalars.dropFirst()) : text
    }
}
