/// A rendered conversation in which assistants' turns are trained exactly as the model says them.
///
/// When a turn is generated, the model sees the messages before it, rendered with a generation
/// prompt, and writes what the template makes of the turn as the last one. Most templates only
/// append: then all turns of a conversation stand in one text like that. Some rewrite earlier turns
/// (Qwen 3 removes their thoughts): then a turn gets a sequence of its own, which ends with it.
package struct ChatSequence: Sendable, Equatable {
    /// An assistant's turn.
    package struct Turn: Sendable, Equatable {
        /// Index of the message.
        package var message: Int
        /// What the model says, in bytes of `text`: its words and what the template adds to them,
        /// up to the end of turn.
        package var said: Range<Int>
        /// Whether `said` includes the end of turn (the template has `{% generation %}`), which
        /// otherwise follows it.
        package var isComplete: Bool
        /// Whether the turn is trained here; else it is context.
        package var isTrained: Bool
        /// Whether what stands before it is what the model sees when it is to answer: false if the
        /// prompt for an answer ends otherwise.
        package var followsPrompt: Bool
    }

    /// UTF-8.
    package var text: [UInt8]
    /// Ascending and disjoint. Turns that this text has otherwise than they were said, or not at
    /// all, are not among them.
    package var turns: [Turn]
}

/// Why a conversation has no sequences, besides the template's own errors.
package enum ChatSequenceError: Error, Equatable {
    /// The texts of turns that the template rewrites have together more than `limit` bytes.
    case textBytes(limit: Int)
}

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
    /// - Returns: as below.
    /// - Throws: as below.
    package static func sequences(
        assistants: [Int], trained: Set<Int>, empty: Set<Int> = [], count: Int, ends: [[UInt8]],
        limit: Int? = nil,
        render: (_ messages: Int, _ addsPrompt: Bool) throws -> RenderedChat
    ) throws -> [ChatSequence] {
        try sequences(
            assistants: assistants, trained: trained, empty: empty, count: count, ends: ends,
            limit: limit, rendering: { ChatRendering(try render($0, $1)) })
    }

    /// The same from renderings that share their beginnings.
    ///
    /// - Parameters:
    ///   - assistants: indices of the assistants' messages, ascending.
    ///   - trained: which of them are trained.
    ///   - empty: which of them say nothing; what is learned of these is the end of turn.
    ///   - count: of messages.
    ///   - ends: the texts that can end a turn.
    ///   - limit: bytes of the texts of rewritten turns; nil: as many as one rendering may have.
    ///   - rendering: of the first messages, with or without a generation prompt.
    /// - Returns: at least one; the last turn's sequence comes last. Without a trained turn it is
    ///   the whole conversation.
    /// - Throws: what rendering the whole conversation throws; a limit of the template, whatever is
    ///   rendered; `ChatSequenceError`.
    package static func sequences(
        assistants: [Int], trained: Set<Int>, empty: Set<Int> = [], count: Int, ends: [[UInt8]],
        limit: Int? = nil,
        rendering: (_ messages: Int, _ addsPrompt: Bool) throws -> ChatRendering
    ) throws -> [ChatSequence] {
        let whole = try rendering(count, false)
        // A template may refuse a beginning of a conversation that it accepts as a whole.
        func rendered(_ messages: Int, _ addsPrompt: Bool) throws -> ChatRendering? {
            do {
                return try rendering(messages, addsPrompt)
            } catch let error as TemplateError where error.isRefusal {
                return nil
            }
        }
        var own: [Own] = []
        let limit = limit ?? TemplateLimits.textBytes
        var ownBytes = 0
        for message in assistants {
            let prompt = try rendered(message, true)
            let beginning = message + 1 == count ? whole : try rendered(message + 1, false)
            // In the whole text, the last thing that was generated is another turn's.
            guard beginning != nil || !whole.isGenerated,
                var turn = try (beginning ?? whole).turn(
                    of: message, after: prompt, ends: ends,
                    // In a text with other turns after it, the place could be in their words.
                    isEmpty: beginning != nil && empty.contains(message),
                    before: { try rendered(message, false)?.count })
            else { continue }
            // One buffer for all turns that a template leaves as they are.
            if turn.stands(in: whole) {
                turn.text = whole
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
            sequences.append(ChatSequence(text: text.bytes, turns: disjoint(turns)))
            open.removeAll { fitting.contains($0) }
        }
        if sequences.isEmpty { return [ChatSequence(text: whole.bytes, turns: [])] }
        return sequences.reversed()
    }

    /// The renderings that `sequences` asks for.
    package static func beginnings(
        assistants: [Int], empty: Set<Int>, count: Int
    ) -> Set<ChatBeginnings.Beginning> {
        var all: Set = [ChatBeginnings.Beginning(messages: count, addsPrompt: false)]
        for message in assistants {
            all.insert(.init(messages: message, addsPrompt: true))
            all.insert(.init(messages: message + 1, addsPrompt: false))
            if empty.contains(message) { all.insert(.init(messages: message, addsPrompt: false)) }
        }
        return all
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
    fileprivate struct Own {
        var message: Int
        var text: ChatRendering
        var said: Range<Int>
        /// After the end of turn.
        var end: Int
        var isComplete: Bool
        var followsPrompt: Bool

        /// Whether `other` has the turn and all that leads to it.
        func stands(in other: ChatRendering) -> Bool { other.agrees(with: text, upTo: end) }
    }
}

extension ChatRendering {
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
    fileprivate func turn(
        of message: Int, after prompt: ChatRendering?, ends: [[UInt8]],
        isEmpty: Bool, before: () throws -> Int?
    ) throws -> ChatSequence.Own? {
        let start = prompt.flatMap { agrees(with: $0, upTo: $0.count) ? $0.count : nil }
        // A template may refuse to ask for an answer there; then nothing differs.
        let followsPrompt = prompt == nil || start != nil
        let generated = generated(from: start ?? count)
        let said = start.map { start in generated.filter { $0.lowerBound >= start } }
        if let last = generated.last, said?.isEmpty != true {
            let range = (said?.first ?? last).lowerBound..<last.upperBound
            return ChatSequence.Own(
                message: message, text: self, said: range, end: range.upperBound,
                isComplete: true, followsPrompt: followsPrompt)
        }
        guard let words = extent(of: message) else {
            // A turn that says nothing has no piece of its own: what follows the prompt is its.
            guard isEmpty, let place = try start ?? before(), place <= count,
                let end = nearest(of: ends, from: place)
            else { return nil }
            return ChatSequence.Own(
                message: message, text: self,
                said: (start ?? end.lowerBound)..<end.lowerBound, end: end.upperBound,
                isComplete: false, followsPrompt: followsPrompt)
        }
        let lower = start.flatMap { $0 < words.upperBound ? $0 : nil } ?? words.lowerBound
        let end = nearest(of: ends, from: words.upperBound)
        return ChatSequence.Own(
            message: message, text: self, said: lower..<(end?.lowerBound ?? words.upperBound),
            end: end?.upperBound ?? words.upperBound, isComplete: false,
            followsPrompt: followsPrompt)
    }

    /// The nearest end of turn; of two at one place, the longer one.
    private func nearest(of ends: [[UInt8]], from place: Int) -> Range<Int>? {
        let text = bytes(from: place)
        var nearest: Range<Int>?
        for end in ends where !end.isEmpty {
            guard let found = BytePattern(end).firstMatch(in: text, from: 0) else { continue }
            let start = place + found
            if let best = nearest, (best.lowerBound, -best.count) <= (start, -end.count) {
                continue
            }
            nearest = start..<(start + end.count)
        }
        return nearest
    }
}
