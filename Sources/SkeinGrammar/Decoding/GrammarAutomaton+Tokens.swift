/// Walks over the trie of all tokens: what a token does to a state is what its bytes do.
extension GrammarAutomaton {
    /// The tokens that a state allows, with a condition on the state after each of them.
    ///
    /// In the body of a string, tokens that are body alone are taken from the vocabulary's sets, and
    /// only the others are walked.
    ///
    /// Shapes and ranges:
    ///   - bodyFits: whether body tokens of so many characters meet the condition, where the body is
    ///     all there is; nil: they do.
    ///   - fits: the condition; asked once for each state.
    ///
    /// nil if there is no room for the states, or no demand.
    func tokens(
        after state: State, _ vocabulary: TokenVocabulary,
        bodyFits: ((Int) -> Bool?)? = nil, fits: (State) -> Bool?
    ) -> (tokens: TokenSet, states: [State])? {
        let facts = facts[Int(state)]
        var set: TokenSet
        // Where something else is possible, too, what is left after a token depends on its text.
        let isSliced = facts.isBodyAlone || facts.body == .max && bodyFits == nil
        if !isSliced {
            set = TokenSet(size: vocabulary.size)
        } else if let bodyFits {
            var lengths: [Int] = []
            for length in vocabulary.bodyLengths where length <= Int(facts.body) {
                guard let isFitting = bodyFits(length) else { return nil }
                if isFitting { lengths.append(length) }
            }
            set = vocabulary.bodies(of: lengths)
        } else {
            set = vocabulary.bodies(upTo: facts.body)
        }
        let trie = isSliced ? vocabulary.mixed : vocabulary.whole
        guard let states = walk(trie, from: state, longest: vocabulary.longest, fits, &set) else {
            return nil
        }
        if vocabulary.hasTwins {
            for token in set.tokens {
                var twin = vocabulary.twins[Int(token)]
                while twin >= 0 {
                    set.insert(twin)
                    twin = vocabulary.twins[Int(twin)]
                }
            }
        }
        return (set, states)
    }

    /// Inserts the tokens of a trie that are allowed and fit.
    ///
    /// - Returns: the states after tokens that fit, each once; nil if there is no room.
    private func walk(
        _ trie: TokenTrie, from start: State, longest: Int, _ fits: (State) -> Bool?,
        _ set: inout TokenSet
    ) -> [State]? {
        var found: [State] = []
        var verdicts: [State: Bool] = [:]
        let isComplete = set.withWords { words in
            trie.nodes.withUnsafeBufferPointer { nodes in
                withUnsafeTemporaryAllocation(of: State.self, capacity: longest + 1) { stack in
                    stack[0] = start
                    var index = 0
                    var visits = 0
                    var width = 0
                    // Successive tokens often lead to one state.
                    var last: (state: State, fits: Bool) = (Self.dead, false)
                    defer { walked += visits }
                    while index < nodes.count {
                        visits += 1
                        if visits & 1023 == 0, !demand.lasts(for: 1024) { return false }
                        // A function of the start alone, whichever states are known already.
                        guard width <= GrammarLimits.walkedConfigurations else { return false }
                        let node = nodes[index]
                        let depth = Int(node.depth)
                        width += Int(facts[Int(stack[depth])].width)
                        let next = step(stack[depth], node.byte)
                        if next < 0 {
                            if next == Self.full { return false }
                            index += Int(node.size)
                            continue
                        }
                        if node.token >= 0 {
                            if next != last.state {
                                if let known = verdicts[next] {
                                    last = (next, known)
                                } else {
                                    guard let verdict = fits(next) else { return false }
                                    verdicts[next] = verdict
                                    last = (next, verdict)
                                    if verdict { found.append(next) }
                                }
                            }
                            if last.fits {
                                words[Int(node.token) >> 6] |= 1 << UInt64(node.token & 63)
                            }
                        }
                        stack[depth + 1] = next
                        index += 1
                    }
                    return true
                }
            }
        }
        return isComplete ? found : nil
    }

    /// The state after so many characters in the body of a string.
    func afterBody(_ state: State, characters: Int) -> State {
        var state = state
        for _ in 0..<characters where state >= 0 {
            let next = step(state, UInt8(ascii: "a"))
            if next == state { break }
            state = next
        }
        return state
    }

    /// The state after some bytes.
    func step(_ state: State, _ bytes: some Sequence<UInt8>) -> State {
        var state = state
        for byte in bytes {
            state = step(state, byte)
            if state < 0 { return state }
        }
        return state
    }
}
