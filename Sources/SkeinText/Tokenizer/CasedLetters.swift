/// The letter alternatives of tekken (Mistral) and o200k (GPT-4o), which cut before a capital:
/// ```
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*
/// ```
/// with one optional character before the letters that is no line end, letter or number.
extension UTF8Reader {
    /// The end of what these alternatives match at `start`; nil: nothing.
    func endOfCasedLetters(at start: Int) -> Int? {
        let (kind, length) = character(at: start)
        let letters = start + length
        let takesPrefix =
            kind.isDisjoint(with: [.newline, .letter, .number]) && letters < count
        if takesPrefix, let end = endOfFirstCase(at: letters) { return end }
        if let end = endOfFirstCase(at: start) { return end }
        if takesPrefix, let end = endOfCapitals(at: letters) { return end }
        return endOfCapitals(at: start)
    }

    /// Capitals or letters without case, then one small letter or letter without case at least.
    /// A greedy engine gives back capitals until such a letter is free.
    private func endOfFirstCase(at start: Int) -> Int? {
        var position = start
        var lastUncased: Int?
        while position < count {
            let (kind, length) = character(at: position)
            guard kind.isCapitalOrUncased else { break }
            position += length
            if kind.isSmallOrUncased { lastUncased = position }
        }
        let end = self.end(ofRunFrom: position) { $0.isSmallOrUncased }
        return end > position ? end : lastUncased
    }

    /// Capitals or letters without case, one at least. No small letter follows: the first
    /// alternative would have matched.
    private func endOfCapitals(at start: Int) -> Int? {
        let end = self.end(ofRunFrom: start) { $0.isCapitalOrUncased }
        return end > start ? end : nil
    }
}

extension CharacterClasses.Class {
    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
    fileprivate var isCapitalOrUncased: Bool {
        !isDisjoint(with: [.letter, .mark]) && !contains(.lower)
    }

    /// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
    fileprivate var isSmallOrUncased: Bool {
        !isDisjoint(with: [.letter, .mark]) && !contains(.upper)
    }
}
