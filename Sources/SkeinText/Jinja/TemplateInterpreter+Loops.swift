/// `for` loops.
extension TemplateInterpreter {
    mutating func run(_ syntax: TemplateLoopSyntax) throws {
        try run(syntax, over: try evaluate(syntax.items), depth: 0)
    }

    mutating func run(
        _ syntax: TemplateLoopSyntax, over iterable: TemplateValue, depth: Int
    ) throws {
        let loop = try begun(syntax, over: iterable, depth: depth)
        var hasRun = false
        while let item = try advance(loop) {
            if try iterate(loop, with: item, hasRun: &hasRun) { break }
        }
        try end(loop, hasRun: hasRun)
    }

    /// A loop before its first iteration.
    mutating func begun(
        _ syntax: TemplateLoopSyntax, over iterable: TemplateValue, depth: Int
    ) throws -> TemplateLoop {
        line = syntax.items.line
        if case .growing(let growth) = iterable, !growth.isReversed {
            let loop = TemplateLoop(
                source: growth.items, syntax: syntax, outerFrames: frames.count, depth: depth)
            loop.growth = growth
            loop.position = growth.first
            return loop
        }
        return TemplateLoop(
            source: try items(of: iterable), syntax: syntax, outerFrames: frames.count,
            depth: depth)
    }

    /// Runs the body for an item.
    ///
    /// - Returns: whether it leaves the loop.
    mutating func iterate(
        _ loop: TemplateLoop, with item: TemplateValue, hasRun: inout Bool
    ) throws -> Bool {
        try inFrame(["loop": .loop(loop)]) { interpreter in
            interpreter.line = loop.syntax.items.line
            try interpreter.assign(item, to: loop.target)
            try interpreter.run(loop.syntax.body)
        }
        // As in Jinja2, an iteration that is cut short does not count for `else`.
        if interruption == nil { hasRun = true }
        let isLeft = interruption == .leave
        interruption = nil
        return isLeft
    }

    /// What comes after the last iteration.
    mutating func end(_ loop: TemplateLoop, hasRun: Bool) throws {
        if !hasRun { try inFrame([:]) { try $0.run(loop.syntax.otherwise) } }
    }

    // MARK: - Items

    /// Moves to the next item; nil at the end.
    mutating func advance(_ loop: TemplateLoop) throws -> TemplateValue? {
        let item = try peek(loop)
        loop.ahead = nil
        guard let item else { return nil }
        loop.index0 += 1
        loop.previous = loop.current
        loop.current = item
        return item
    }

    /// The item after the current one, nil at the end.
    mutating func peek(_ loop: TemplateLoop) throws -> TemplateValue? {
        if loop.ahead == nil { loop.ahead = try pull(loop) }
        return loop.ahead
    }

    /// The loop's total number of items. Filters all those that remain.
    mutating func length(of loop: TemplateLoop) throws -> Int {
        if loop.reversedPlace != nil { throw SharedTemplateRun.Flaw.notShared }
        if let growth = loop.growth {
            variants?.keepOneCount()
            let end = growth.places(count: variants?.mostMessages ?? 0).upperBound
            loop.source.removeSubrange(max(end, loop.position)...)
            loop.growth = nil
        }
        if loop.filter != nil {
            var rest: [TemplateValue] = []
            while let item = try pull(loop) { rest.append(item) }
            loop.source = rest
            loop.position = 0
            loop.filter = nil
        }
        let left = loop.source.count - loop.position
        return loop.index0 + 1 + (loop.ahead == nil ? 0 : 1) + left
    }

    /// The next item that passes the filter, which sees the target and what is outside the loop.
    private mutating func pull(_ loop: TemplateLoop) throws -> TemplateValue? {
        while loop.position < loop.source.count {
            if let growth = loop.growth {
                let count = growth.count(withItemAt: loop.position)
                guard variants?.decide(countIsAtLeast: count) == true else { return nil }
            }
            let item = loop.source[loop.position]
            loop.position += 1
            try charge(1)
            guard let filter = loop.filter else { return item }
            let inner = Array(frames[loop.outerFrames...])
            frames.removeSubrange(loop.outerFrames...)
            let passes = try inFrame([:]) { interpreter in
                try interpreter.assign(item, to: loop.target)
                let passes = try interpreter.evaluate(filter)
                return interpreter.truth(of: passes)
            }
            frames += inner
            if passes { return item }
        }
        return nil
    }
}
