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
    ///
    /// - Returns: a step whose expression took too long, so that pieces are missing.
    func forEachPiece(
        of text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> PreTokenStep? {
        let unfinished = cut(text, by: steps[...]) { piece in
            guard addsPrefixSpace, piece.bytes.first != UInt8(ascii: " ") else {
                return cutAsGPT2(piece, body)
            }
            let spaced = [UInt8(ascii: " ")] + piece.bytes
            return spaced.withUnsafeBufferPointer {
                cutAsGPT2(UTF8Reader(bytes: $0, classes: piece.classes), body)
            }
        }
        return unfinished.map { $0 < steps.count ? steps[$0] : spelledSteps[$0 - steps.count] }
    }

    /// Recurses once for each step, not for the text.
    ///
    /// - Returns: the number of a step that is unfinished; those of `spelledSteps` follow `steps`.
    private func cut(
        _ text: UTF8Reader, by steps: ArraySlice<PreTokenStep>, _ body: (UTF8Reader) -> Int?
    ) -> Int? {
        guard let step = steps.first else { return body(text) }
        var unfinished: Int?
        let isComplete = step.forEachPiece(of: text) { range in
            guard unfinished == nil else { return }
            let piece = UTF8Reader(
                bytes: UnsafeBufferPointer(rebasing: text.bytes[range]), classes: text.classes)
            unfinished = cut(piece, by: steps.dropFirst(), body)
        }
        return isComplete ? unfinished : steps.startIndex
    }

    private func cutAsGPT2(
        _ text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> Int? {
        guard cutsAsGPT2 else { return cutSpelled(text, body) }
        var unfinished: Int?
        let isComplete = PreTokenStep(known: .gpt2).forEachPiece(of: text) { range in
            guard unfinished == nil else { return }
            unfinished = cutSpelled(
                UTF8Reader(
                    bytes: UnsafeBufferPointer(rebasing: text.bytes[range]),
                    classes: text.classes), body)
        }
        assert(isComplete, "a known step has no expression")
        return unfinished
    }

    /// Cuts where the steps after ByteLevel cut the text as it is spelled there: one character of
    /// one or two bytes for each byte.
    private func cutSpelled(
        _ text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> Int? {
        guard !spelledSteps.isEmpty else {
            body(text.bytes)
            return nil
        }
        var spelled: [UInt8] = []
        for byte in text.bytes { spelled += ByteAlphabet.spelling(of: byte) }
        let unfinished: Int? = spelled.withUnsafeBufferPointer { spelled in
            guard let base = spelled.baseAddress else { return nil }
            let reader = UTF8Reader(bytes: spelled, classes: text.classes)
            var seen = 0
            var position = 0
            func place(of end: Int) -> Int {
                for i in seen..<end where spelled[i] & 0xC0 != 0x80 { position += 1 }
                seen = end
                return position
            }
            return cut(reader, by: spelledSteps[...]) { piece in
                guard let pieceBase = piece.bytes.baseAddress else { return nil }
                let start = pieceBase - base
                let low = place(of: start)
                let high = place(of: start + piece.count)
                body(UnsafeBufferPointer(rebasing: text.bytes[low..<high]))
                return nil
            }
        }
        return unfinished.map { $0 + steps.count }
    }
}
