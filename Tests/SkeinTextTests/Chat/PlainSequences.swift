@testable import SkeinText

/// How a conversation was cut when each of its beginnings was rendered alone and compared byte by
/// byte: what `ChatSequence.sequences` must give.
extension ChatSequence {
    /// Cuts a conversation into as few sequences as its turns allow.
    ///
    /// - Parameters:
    ///   - assistants: indices of the assistants' messages, ascending.
    ///   - trained: which of them are trained.
    ///   - empty: which of them say nothing; what is learned of these is the end of turn.
    ///   - count: of messages.
    ///   - ends: the texts that can end a turn.
    ///   - limit: bytes of the texts of rewritten turns; nil: as many as one rendering may have.
    ///   - render: the first messages, with or without a generation prompt.
    /// - Returns: at least one; the last turn's sequence comes last. Without a trained turn it is
    ///   the whole conversation.
    /// - Throws: what rendering the whole conversation throws; a limit of the template, whatever is
    ///   rendered; `ChatSequenceError`.
    static func plainSequences(
        assistants: [Int], trained: Set<Int>, empty: Set<Int> = [], count: Int, ends: [[UInt8]],
        limit: Int? = nil,
        render: (_ messages: Int, _ addsPrompt: Bool) throws -> RenderedChat
    ) throws -> [ChatSequence] {
        let whole = Rendering(try render(count, false))
        // A template may refuse a beginning of a conversation that it accepts as a whole.
        func rendered(_ messages: Int, _ addsPrompt: Bool) throws -> RenderedChat? {
            do {
                return try render(messages, addsPrompt)
            } catch let error as TemplateError where error.isRefusal {
                return nil
            }
        }
        var own: [Own] = []
        let limit = limit ?? TemplateLimits.textBytes
        var ownBytes = 0
        for message in assistants {
            let prompt = try rendered(message, true).map { Array($0.text.utf8) }
            let beginning =
                message + 1 == count
                ? whole : try rendered(message + 1, false).map(Rendering.init)
            // In the whole text, the last thing that was generated is another turn's.
            guard beginning != nil || whole.generated.isEmpty,
                var turn = try (beginning ?? whole).turn(
                    of: message, after: prompt, ends: ends,
                    // In a text with other turns after it, the place could be in their words.
                    isEmpty: beginning != nil && empty.contains(message),
                    before: { try rendered(message, false)?.text.utf8.count })
            else { continue }
            // One buffer for all turns that a template leaves as they are.
            if turn.stands(in: whole.text) {
                turn.text = whole.text
            } else if trained.allSatisfy({ $0 + 1 == count }) {
                // Only the whole text is trained, in which this turn does not stand.
                continue
            } else {
                ownBytes += turn.text.count
                guard ownBytes <= limit else { throw ChatSequenceError.textBytes(limit: limit) }
            }
            own.append(turn)
        }
        var sequences: [ChatSequence] = []
        var open = own.indices.filter { trained.contains(own[$0].message) }
        while let last = open.popLast() {
            let text = own[last].text
            let fitting = Set((0...last).filter { own[$0].stands(in: text) })
            let turns = own.indices.filter { fitting.contains($0) }.map { index in
                Turn(
                    message: own[index].message, said: own[index].said,
                    isComplete: own[index].isComplete,
                    isTrained: index == last || open.contains(index),
                    followsPrompt: own[index].followsPrompt)
            }
            sequences.append(ChatSequence(text: text, turns: disjoint(turns)))
            open.removeAll { fitting.contains($0) }
        }
        if sequences.isEmpty { return [ChatSequence(text: whole.text, turns: [])] }
        return sequences.reversed()
    }

    /// Turns that overlap the one before are dropped: a template may write one message twice.
    private static func disjoint(_ turns: [Turn]) -> [Turn] {
        var kept: [Turn] = []
        for turn in turns where turn.said.lowerBound >= kept.last?.said.upperBound ?? 0 {
            kept.append(turn)
        }
        return kept
    }

    /// An assistant's turn in the text that ends with it.
    private struct Own {
        var message: Int
        var text: [UInt8]
        var said: Range<Int>
        /// After the end of turn.
        var end: Int
        var isComplete: Bool
        var followsPrompt: Bool

        /// Whether `other` has the turn and all that leads to it.
        func stands(in other: [UInt8]) -> Bool {
            other.count >= end && other[..<end].elementsEqual(text[..<end])
        }
    }

    private struct Rendering {
        let text: [UInt8]
        let pieces: [(range: Range<Int>, message: Int?)]
        let generated: [Range<Int>]

        init(_ chat: RenderedChat) {
            var start = 0
            pieces = chat.pieces.map { piece in
                let range = start..<(start + piece.text.utf8.count)
                start = range.upperBound
                return (range, piece.messageIndex)
            }
            text = Array(chat.text.utf8)
            generated = chat.generated
        }

        /// The turn of `message`, the last one here.
        ///
        /// - Parameters:
        ///   - message: its index.
        ///   - prompt: for an answer in its place, nil if the template refuses to ask for one.
        ///   - ends: the texts that can end a turn.
        ///   - isEmpty: whether the turn says nothing.
        ///   - before: bytes of the messages before it.
        /// - Returns: nil if nothing of it was written.
        /// - Throws: what `before` throws.
        func turn(
            of message: Int, after prompt: [UInt8]?, ends: [[UInt8]],
            isEmpty: Bool, before: () throws -> Int?
        ) throws -> Own? {
            let start = prompt.flatMap { text.starts(with: $0) ? $0.count : nil }
            // A template may refuse to ask for an answer there; then nothing differs.
            let followsPrompt = prompt == nil || start != nil
            let said = start.map { start in generated.filter { $0.lowerBound >= start } }
            if let last = generated.last, said?.isEmpty != true {
                let range = (said?.first ?? last).lowerBound..<last.upperBound
                return Own(
                    message: message, text: text, said: range, end: range.upperBound,
                    isComplete: true, followsPrompt: followsPrompt)
            }
            let words = pieces.filter { $0.message == message }
            guard let first = words.first, let last = words.last else {
                // A turn that says nothing has no piece of its own: what follows the prompt is its.
                guard isEmpty, let place = try start ?? before(), place <= text.count,
                    let end = nearest(of: ends, from: place)
                else { return nil }
                return Own(
                    message: message, text: text,
                    said: (start ?? end.lowerBound)..<end.lowerBound, end: end.upperBound,
                    isComplete: false, followsPrompt: followsPrompt)
            }
            let contentEnd = last.range.upperBound
            let lower = start.flatMap { $0 < contentEnd ? $0 : nil } ?? first.range.lowerBound
            let end = nearest(of: ends, from: contentEnd)
            return Own(
                message: message, text: text, said: lower..<(end?.lowerBound ?? contentEnd),
                end: end?.upperBound ?? contentEnd, isComplete: false,
                followsPrompt: followsPrompt)
        }

        /// The nearest end of turn; of two at one place, the longer one.
        private func nearest(of ends: [[UInt8]], from place: Int) -> Range<Int>? {
            var nearest: Range<Int>?
            for end in ends where !end.isEmpty {
                guard let found = BytePattern(end).firstMatch(in: text, from: place) else {
                    continue
                }
                if let best = nearest, (best.lowerBound, -best.count) <= (found, -end.count) {
                    continue
                }
                nearest = found..<(found + end.count)
            }
            return nearest
        }
    }
}
