/// The stages of a pre-tokenizer that are more than one known expression, ByteLevel among them.
struct PreTokenSteps: Sendable {
    /// What cuts the text, one after the other.
    var steps: [PreTokenStep] = []
    /// ByteLevel puts a space before each piece that does not begin with one.
    var addsPrefixSpace = false
    /// ByteLevel cuts by GPT-2's expression.
    var cutsAsGPT2 = false
    /// What cuts the pieces after ByteLevel has spelled them in its alphabet.
    var spelledSteps: [PreTokenStep] = []

    /// All that the pieces depend on.
    var description: String {
        let before = steps.map(\.description).joined(separator: "\n")
        let after = spelledSteps.map(\.description).joined(separator: "\n")
        return "\(before)\nByteLevel \(addsPrefixSpace) \(cutsAsGPT2)\n\(after)"
    }

    /// Calls `body` with every piece of a text in order.
    func forEachPiece(of text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        cut(text, by: steps[...]) { piece in
            guard addsPrefixSpace, piece.bytes.first != UInt8(ascii: " ") else {
                return cutAsGPT2(piece, body)
            }
            let spaced = [UInt8(ascii: " ")] + piece.bytes
            spaced.withUnsafeBufferPointer {
                cutAsGPT2(UTF8Reader(bytes: $0, classes: piece.classes), body)
            }
        }
    }

    /// Recurses once for each step, not for the text.
    private func cut(
        _ text: UTF8Reader, by steps: ArraySlice<PreTokenStep>, _ body: (UTF8Reader) -> Void
    ) {
        guard let step = steps.first else { return body(text) }
        step.forEachPiece(of: text) { range in
            let piece = UTF8Reader(
                bytes: UnsafeBufferPointer(rebasing: text.bytes[range]), classes: text.classes)
            cut(piece, by: steps.dropFirst(), body)
        }
    }

    private func cutAsGPT2(
        _ text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        guard cutsAsGPT2 else { return cutSpelled(text, body) }
        PreTokenStep(known: .gpt2).forEachPiece(of: text) { range in
            cutSpelled(
                UTF8Reader(
                    bytes: UnsafeBufferPointer(rebasing: text.bytes[range]),
                    classes: text.classes), body)
        }
    }

    /// Cuts where the steps after ByteLevel cut the text as it is spelled there: one character of
    /// one or two bytes for each byte.
    private func cutSpelled(
        _ text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        guard !spelledSteps.isEmpty else { return body(text.bytes) }
        var spelled: [UInt8] = []
        for byte in text.bytes { spelled += ByteAlphabet.spelling(of: byte) }
        spelled.withUnsafeBufferPointer { spelled in
            guard let base = spelled.baseAddress else { return }
            let reader = UTF8Reader(bytes: spelled, classes: text.classes)
            var seen = 0
            var position = 0
            func place(of end: Int) -> Int {
                for i in seen..<end where spelled[i] & 0xC0 != 0x80 { position += 1 }
                seen = end
                return position
            }
            cut(reader, by: spelledSteps[...]) { piece in
                guard let pieceBase = piece.bytes.baseAddress else { return }
                let start = pieceBase - base
                let low = place(of: start)
                let high = place(of: start + piece.count)
                body(UnsafeBufferPointer(rebasing: text.bytes[low..<high]))
            }
        }
    }
}
