import SkeinModels

/// What a member is fed, what is taken back, and how far it is.
extension BatchDecoder {
    /// The next tokens of a sequence whose logits were given: at least one, as many as fit.
    ///
    /// Also from the closure that gets logits, once all that was fed before was read and its logits
    /// were given, or was cut by `truncate`.
    ///
    /// - Parameters:
    ///   - id: a member.
    ///   - tokens: more than one are a forced run, or a guess.
    ///   - wantsEach: whether the logits of each are wanted, and not only of the last.
    /// - Returns: whether the sequence takes them; if not, nothing has changed.
    @discardableResult
    package func feed(
        _ id: SequenceID, _ tokens: [Int32], wantsEach: Bool = false
    ) -> Feeding {
        guard let member = members[id] else { return .unknownSequence }
        guard member.isIdle && member.owed.isEmpty else { return .busy }
        if tokens.isEmpty { return .noTokens }
        if let unknown = unknownToken(in: tokens) {
            return .unknownToken(unknown, limit: pass.model.vocabularySize)
        }
        let room = member.sequence.room
        if tokens.count > room { return .tooLong(tokens: tokens.count, room: room) }
        members[id]?.answer = tokens[...]
        members[id]?.wantsEach = wantsEach
        return .fed
    }

    /// Tokens of a guess that a member may be fed so that `truncate` leaves no trace of them.
    package func guessRoom(of id: SequenceID) -> Int { members[id]?.sequence.guessRoom ?? 0 }

    /// Forgets a sequence's last tokens, for example a guess that was wrong, and what of its feed is
    /// unread: it may be fed anew at once, and gets no logits of what was cut.
    ///
    /// Also from the closure that gets logits. `tokens` equal to `tokenCount(of:)` cuts only what is
    /// unread.
    ///
    /// - Parameters:
    ///   - id: a member.
    ///   - tokens: what is left of the sequence, counted from its first.
    /// - Returns: whether it could; if not, nothing has changed. It can within `guessRoom`. It cannot
    ///   while the prompt, or again the whole row (longrope), is being read, from a `check`, or where
    ///   a window has forgotten what came before.
    package func truncate(_ id: SequenceID, to tokens: Int) -> Bool {
        guard !isReading, let member = members[id], !member.isPrompting,
            member.sequence.canTruncate(to: tokens)
        else { return false }
        member.sequence.truncate(to: tokens)
        members[id]?.answer = []
        members[id]?.owed = member.owed.clamped(to: 0..<tokens)
        return true
    }

    /// Tokens of a member that are in its cache: of its prompt, and what it was fed. Fewer for a while
    /// when a row is read again.
    package func tokenCount(of id: SequenceID) -> Int { members[id]?.sequence.count ?? 0 }

    /// Tokens of a member's prompt that were not computed, once reading has begun.
    package func cachedTokens(of id: SequenceID) -> Int { members[id]?.cachedTokens ?? 0 }

    /// Tokens of a member that are still to be read as a prompt: all of its prompt before reading
    /// begins, although some may be found in the prefix cache then; 0 once its logits were given.
    package func unreadPromptTokens(of id: SequenceID) -> Int {
        guard let member = members[id] else { return 0 }
        return member.unread?.count ?? member.prompt.count
    }

    /// Tokens that a member was fed and that are still to be read.
    package func unreadAnswerTokens(of id: SequenceID) -> Int { members[id]?.answer.count ?? 0 }
}
