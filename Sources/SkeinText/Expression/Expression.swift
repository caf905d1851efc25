import SkeinBasics

/// A compiled regular expression, as `tokenizers` would match it.
struct Expression: Sendable {
    /// One object, so that to take an expression in hand costs one count of references, not one for
    /// each table.
    private final class Compiled: Sendable {
        let program: ExpressionProgram

        init(_ program: ExpressionProgram) { self.program = program }
    }

    private let compiled: Compiled

    /// Compiles an expression in the syntax that `ExpressionParser` reads.
    init(_ pattern: String) throws(ExpressionFlaw) {
        try self.init(ExpressionParser.parse(pattern))
    }

    /// An expression that matches a literal text.
    init(literal: String) throws(ExpressionFlaw) {
        let scalars = literal.unicodeScalars
        guard scalars.count <= ExpressionLimits.scalars else {
            throw .tooLong(scalars: scalars.count, limit: ExpressionLimits.scalars)
        }
        try self.init(.sequence(scalars.map { .set(ScalarSet($0.value)) }))
    }

    init(_ node: ExpressionNode) throws(ExpressionFlaw) {
        compiled = Compiled(try ExpressionCompiler.compile(node))
        try checkSpeed()
    }

    /// Calls `body` with every stretch of a text in order: those that match, maybe empty, and those
    /// between them, never empty.
    ///
    /// - Parameters:
    ///   - text: UTF-8.
    ///   - effort: what it may take; nil: what a text of this length may.
    ///   - body: takes a stretch.
    /// - Returns: false: it took too long, and the rest of the text is missing.
    func forEachStretch(
        of text: UnsafeBufferPointer<UInt8>, effort: ExpressionEffort? = nil,
        _ body: (_ stretch: Range<Int>, _ isMatch: Bool) -> Void
    ) -> Bool {
        let program = compiled.program
        // Most pieces have no match of most expressions of a chain: these need no matcher.
        let start = program.firstPlaceOfMatch(in: text)
        guard start < text.count || program.firstAtEnd != 0 else {
            if !text.isEmpty { body(0..<text.count, false) }
            return true
        }
        return ExpressionMatcher.with(
            text, program, effort ?? ExpressionEffort(bytes: text.count)
        ) {
            Self.forEachStretch(of: text, from: start, by: &$0, body)
        }
    }

    private static func forEachStretch(
        of text: UnsafeBufferPointer<UInt8>, from start: Int,
        by matcher: inout ExpressionMatcher,
        _ body: (_ stretch: Range<Int>, _ isMatch: Bool) -> Void
    ) -> Bool {
        var end = 0
        var search = start
        var isFirst = true
        while search <= text.count, let match = matcher.firstMatch(from: search) {
            // An empty match right behind the last match does not count.
            if match.isEmpty, !isFirst, match.lowerBound == end {
                search = text.end(ofCharacterAt: search)
                continue
            }
            isFirst = false
            if match.lowerBound > end { body(end..<match.lowerBound, false) }
            body(match, true)
            end = match.upperBound
            search = end
        }
        guard !matcher.gaveUp else { return false }
        if end < text.count { body(end..<text.count, false) }
        return true
    }

    /// Runs of one character, and of one and then another, are what makes an expression go through
    /// all ways to divide them.
    private func checkSpeed() throws(ExpressionFlaw) {
        let samples = compiled.program.classes.samples.compactMap { Unicode.Scalar($0) }
        var left = ExpressionLimits.allProbeSteps
        for (index, scalar) in samples.enumerated() {
            let other = samples[(index + 1) % samples.count]
            for last in [scalar, other] {
                let run = String(repeating: Character(scalar), count: ExpressionLimits.probe)
                var text = run + String(last)
                let steps = min(ExpressionLimits.probeSteps, left)
                let effort = ExpressionEffort(steps: steps, laterSteps: steps)
                let isDone = text.withUTF8 {
                    forEachStretch(of: $0, effort: effort) { _, _ in }
                }
                guard isDone else { throw .tooSlow }
                left -= steps - effort.steps(forPieceOf: 0) + steps - effort.laterSteps
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The end of the character at `position`, or beyond the end of the text.
    fileprivate func end(ofCharacterAt position: Int) -> Int {
        guard position < count, self[position] >= 0x80 else { return position + 1 }
        return position + UTF8Reader.wideScalar(in: self, at: position).length
    }
}
