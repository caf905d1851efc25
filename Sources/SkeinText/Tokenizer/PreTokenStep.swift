/// One way to cut a text: what a Split of tokenizer.json and its special cases do.
struct PreTokenStep: Sendable {
    /// What becomes of a match.
    enum Behavior: String, Sendable {
        /// It is a piece of its own.
        case isolated = "Isolated"
        /// It is left out.
        case removed = "Removed"
        /// It ends the piece before it.
        case mergedWithPrevious = "MergedWithPrevious"
        /// It begins the piece after it.
        case mergedWithNext = "MergedWithNext"
        /// It is one piece with the matches next to it.
        case contiguous = "Contiguous"
    }

    enum Cutter: Sendable {
        /// One that has a scanner of its own, and matches everything.
        case known(PreTokenizer)
        case expression(Expression)
    }

    var cutter: Cutter
    var behavior: Behavior
    /// Whether what does not match counts as the matches.
    var isInverted: Bool
    /// As the file has it, for the digest.
    let name: String

    init(
        _ expression: Expression, name: String, _ behavior: Behavior = .isolated,
        isInverted: Bool = false
    ) {
        cutter = .expression(expression)
        self.name = name
        self.behavior = behavior
        self.isInverted = isInverted
    }

    init(known: PreTokenizer) {
        cutter = .known(known)
        name = known.rawValue
        behavior = .isolated
        isInverted = false
    }

    /// The expression, or what else cuts, for an error.
    var spelling: String {
        if case .expression = cutter, "rs".contains(name.prefix(1)) {
            String(name.dropFirst())
        } else {
            name
        }
    }

    /// Two expressions are equal if they are spelled alike.
    var description: String {
        "\(name.utf8.count) \(name) \(behavior.rawValue) \(isInverted)"
    }
}

extension PreTokenStep {
    /// Calls `body` with every piece of a text in order, none of them empty.
    ///
    /// - Returns: false: the expression took too long, and the rest is missing.
    func forEachPiece(
        of text: UTF8Reader, _ effort: ExpressionEffort, _ body: (Range<Int>) -> Void
    ) -> Bool {
        switch cutter {
        case .known(let preTokenizer):
            let scanner = PreTokenScanner(text, by: preTokenizer)
            var start = 0
            while start < text.count {
                let end = scanner.end(ofTokenAt: start)
                body(start..<end)
                start = end
            }
            return true
        case .expression(let expression):
            if behavior == .isolated {
                return expression.forEachStretch(of: text.bytes, effort: effort) { stretch, _ in
                    if !stretch.isEmpty { body(stretch) }
                }
            }
            var joiner = Joiner()
            let isComplete = expression.forEachStretch(of: text.bytes, effort: effort) {
                stretch, isMatch in
                if let piece = joiner.take(stretch, isMatch != isInverted, behavior) {
                    body(piece)
                }
            }
            guard isComplete else { return false }
            if let piece = joiner.pending, !piece.isEmpty { body(piece) }
            return true
        }
    }

    /// Joins stretches that belong to one piece.
    private struct Joiner {
        /// A piece that may still grow.
        var pending: Range<Int>?
        private var lastMatched = false

        /// - Returns: a piece that is complete, if there is one.
        mutating func take(
            _ stretch: Range<Int>, _ isMatch: Bool, _ behavior: Behavior
        ) -> Range<Int>? {
            defer { lastMatched = isMatch }
            let joins =
                switch behavior {
                case .isolated: false
                case .removed: false
                case .mergedWithPrevious: isMatch && !lastMatched
                case .mergedWithNext: !isMatch && lastMatched
                case .contiguous: isMatch == lastMatched
                }
            if joins, let start = pending?.lowerBound {
                pending = start..<stretch.upperBound
                return nil
            }
            let complete = pending
            pending = behavior == .removed && isMatch ? nil : stretch
            return complete.flatMap { $0.isEmpty ? nil : $0 }
        }
    }
}
