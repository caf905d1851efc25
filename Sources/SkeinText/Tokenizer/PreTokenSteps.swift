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

    /// The stages that may have an expression.
    var count: Int { steps.count + spelledSteps.count }
}

extension PreTokenSteps {
    /// Where a text was given up.
    struct Unfinished {
        var step: PreTokenStep
        /// The length of the piece that its expression took too long for.
        var bytes: Int
    }

    /// Calls `body` with every piece of a text in order.
    ///
    /// - Parameters:
    ///   - text: to cut.
    ///   - effort: what the expressions may still take; nil: what a text of this length may.
    ///   - body: takes a piece.
    /// - Returns: nil: all pieces were found.
    func forEachPiece(
        of text: UTF8Reader, effort: ExpressionEffort? = nil,
        _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> Unfinished? {
        steps.withUnsafeBufferPointer { steps in
            spelledSteps.withUnsafeBufferPointer { spelledSteps in
                PreTokenCut(
                    steps: steps, spelledSteps: spelledSteps, addsPrefixSpace: addsPrefixSpace,
                    cutsAsGPT2: cutsAsGPT2,
                    effort: effort ?? ExpressionEffort(bytes: text.count * count)
                ).forEachPiece(of: text, body)
            }
        }
    }
}

/// The stages at work on one text.
private struct PreTokenCut {
    private typealias Unfinished = PreTokenSteps.Unfinished

    let steps: UnsafeBufferPointer<PreTokenStep>
    let spelledSteps: UnsafeBufferPointer<PreTokenStep>
    let addsPrefixSpace: Bool
    let cutsAsGPT2: Bool
    let effort: ExpressionEffort
    private static let gpt2 = PreTokenStep(known: .gpt2)

    func forEachPiece(
        of text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> PreTokenSteps.Unfinished? {
        cut(text, by: steps, from: 0) { piece in
            guard addsPrefixSpace, piece.bytes.first != UInt8(ascii: " ") else {
                return cutAsGPT2(piece, body)
            }
            let spaced = [UInt8(ascii: " ")] + piece.bytes
            return spaced.withUnsafeBufferPointer {
                cutAsGPT2(UTF8Reader(bytes: $0, classes: piece.classes), body)
            }
        }
    }

    /// Recurses once for each step, not for the text.
    private func cut(
        _ text: UTF8Reader, by steps: UnsafeBufferPointer<PreTokenStep>, from number: Int,
        _ body: (UTF8Reader) -> Unfinished?
    ) -> Unfinished? {
        guard number < steps.count else { return body(text) }
        var unfinished: Unfinished?
        let isComplete = steps[number].forEachPiece(of: text, effort) { range in
            guard unfinished == nil else { return }
            let piece = UTF8Reader(
                bytes: UnsafeBufferPointer(rebasing: text.bytes[range]), classes: text.classes)
            unfinished = cut(piece, by: steps, from: number + 1, body)
        }
        return isComplete ? unfinished : Unfinished(step: steps[number], bytes: text.count)
    }

    private func cutAsGPT2(
        _ text: UTF8Reader, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> Unfinished? {
        guard cutsAsGPT2 else { return cutSpelled(text, body) }
        var unfinished: Unfinished?
        let isComplete = Self.gpt2.forEachPiece(of: text, effort) { range in
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
    ) -> Unfinished? {
        guard !spelledSteps.isEmpty else {
            body(text.bytes)
            return nil
        }
        var spelled: [UInt8] = []
        for byte in text.bytes { spelled += ByteAlphabet.spelling(of: byte) }
        return spelled.withUnsafeBufferPointer { spelled in
            guard let base = spelled.baseAddress else { return nil }
            let reader = UTF8Reader(bytes: spelled, classes: text.classes)
            var seen = 0
            var position = 0
            func place(of end: Int) -> Int {
                for i in seen..<end where spelled[i] & 0xC0 != 0x80 { position += 1 }
                seen = end
                return position
            }
            return cut(reader, by: spelledSteps, from: 0) { piece in
                guard let pieceBase = piece.bytes.baseAddress else { return nil }
                let start = pieceBase - base
                let low = place(of: start)
                let high = place(of: start + piece.count)
                body(UnsafeBufferPointer(rebasing: text.bytes[low..<high]))
                return nil
            }
        }
    }
}
