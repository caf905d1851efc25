/// Renders many beginnings of one conversation at once, in the time of a few renderings where the
/// template allows it.
///
/// A template that goes through the messages does the same for all conversations that begin with
/// them, until it looks at something that tells them apart. So all renderings are one run as long as
/// they agree (`TemplateVariants`); those that leave it begin again at the statement or the iteration
/// in which they left, from a copy of the interpreter as it was before. Runs that have become equal
/// but for integers are joined where another loop follows.
///
/// Each rendering does exactly what it does alone: the runs differ only in which renderings they
/// stand for. PublishedBeginningsTests compares both ways for each published template. What is not
/// the same is the count of steps, which may be higher here: after an error of a limit the caller
/// renders one by one.
struct SharedTemplateRun {
    /// Why the renderings cannot be done at once.
    enum Flaw: Error {
        /// The template holds something that cannot be copied, or its renderings have too little in common.
        case notShared
    }

    /// Steps of all runs, each counted once for all variants that it stood for. For tests.
    private(set) var work = 0
    private(set) var results: [Result<TemplateLog, TemplateError>?]
    /// Bytes that all runs have written, each counted once for all variants that it stood for.
    private var written = 0

    /// Renders a conversation.
    ///
    /// - Parameters:
    ///   - body: of the template.
    ///   - interpreter: with variables, variants and a log, before the first statement.
    /// - Throws: `Flaw`; `TemplateError.limit`.
    init(_ body: [TemplateStatement], _ interpreter: TemplateInterpreter) throws {
        results = Array(repeating: nil, count: interpreter.variants?.counts.count ?? 0)
        for run in try run(body, [interpreter], isFollowedByLoop: false) {
            guard let log = run.log else { continue }
            for variant in run.variants?.active ?? [] { results[variant] = .success(log) }
        }
    }

    /// Runs statements in runs that are at the same place.
    private mutating func run(
        _ statements: [TemplateStatement], _ runs: [TemplateInterpreter], isFollowedByLoop: Bool
    ) throws -> [TemplateInterpreter] {
        var runs = runs
        let lastLoop = statements.lastIndex(where: \.hasLoop) ?? -1
        for (index, statement) in statements.enumerated() {
            var next: [TemplateInterpreter] = []
            for run in runs { next += try self.run(statement, run) }
            if next.count > 1, isFollowedByLoop || index < lastLoop {
                next = Self.joined(next)
            }
            runs = next
        }
        return runs
    }

    private mutating func run(
        _ statement: TemplateStatement, _ start: TemplateInterpreter
    ) throws -> [TemplateInterpreter] {
        switch statement {
        case .choice(let branches, let otherwise):
            var chosen: [(branch: Int?, run: TemplateInterpreter)] = []
            for (branch, run) in try attempts(
                start,
                { (run: inout TemplateInterpreter) throws -> Int? in
                    try run.charge(1)
                    run.depth += 1
                    for (index, branch) in branches.enumerated() {
                        let test = try run.evaluate(branch.test)
                        if run.truth(of: test) { return index }
                    }
                    return nil
                })
            {
                chosen.append((branch, run))
            }
            var ended: [TemplateInterpreter] = []
            for branch in branches.indices.map({ Optional($0) }) + [nil] {
                let runs = chosen.filter { $0.branch == branch }.map(\.run)
                if runs.isEmpty { continue }
                ended += try run(
                    branch.map { branches[$0].body } ?? otherwise, runs, isFollowedByLoop: false)
            }
            return ended.map(Self.withoutStatement)
        case .loop(let syntax):
            var ended: [TemplateInterpreter] = []
            for ((before, iterable), run) in try attempts(
                start,
                { (run: inout TemplateInterpreter) throws -> (TemplateInterpreter, TemplateValue) in
                    let before = try run.copied()
                    try run.charge(1)
                    run.depth += 1
                    return (before, try run.evaluate(syntax.items))
                })
            {
                switch iterable {
                case .growing(let growth) where growth.isReversed && syntax.filter == nil:
                    ended += try backwards(syntax, over: growth, run).map(Self.withoutStatement)
                case .growing(let growth) where !growth.isReversed:
                    ended += try forwards(syntax, over: growth, run).map(Self.withoutStatement)
                default:
                    // From before the items: a generator gives them once.
                    var again = before
                    again.variants?.active = run.variants?.active ?? []
                    ended += try attempts(again) { try $0.run(statement) }.map(\.1)
                }
            }
            return ended
        default:
            return try attempts(start) { try $0.run(statement) }.map(\.1)
        }
    }

    private static func withoutStatement(_ run: TemplateInterpreter) -> TemplateInterpreter {
        var run = run
        run.depth -= 1
        return run
    }

    /// Does something in a run; again for the variants that it drops, until all have done it or
    /// failed.
    private mutating func attempts<Value>(
        _ start: TemplateInterpreter,
        _ body: (inout TemplateInterpreter) throws -> Value
    ) throws -> [(Value, TemplateInterpreter)] {
        var ended: [(Value, TemplateInterpreter)] = []
        var next: TemplateInterpreter? = start
        while var run = next {
            next = try run.needsCopy ? run.copied() : nil
            let (steps, bytes) = (run.steps, run.log?.byteCount ?? 0)
            defer { count(run, steps, bytes) }
            do {
                let value = try body(&run)
                next = next?.standing(forDroppedBy: &run)
                ended.append((value, run))
                try checkWork()
            } catch let error as TemplateError {
                next = next?.standing(forDroppedBy: &run)
                try fail(run, error)
            }
        }
        return ended
    }

    /// Counts what a run has done since it had so many steps and bytes.
    private mutating func count(_ run: TemplateInterpreter, _ steps: Int, _ bytes: Int) {
        work += run.steps - steps
        written += max(0, (run.log?.byteCount ?? 0) - bytes)
    }

    /// Renderings that have little in common are better done one by one: then one of them is in memory
    /// at a time.
    ///
    /// - Throws: `Flaw.notShared`.
    private func checkWork() throws {
        guard written <= TemplateLimits.sharedBytes, work <= TemplateLimits.sharedSteps else {
            throw Flaw.notShared
        }
    }

    private mutating func fail(_ run: TemplateInterpreter, _ error: TemplateError) throws {
        if case .limit = error { throw error }
        for variant in run.variants?.active ?? [] { results[variant] = .failure(error) }
    }

    // MARK: - Loops

    /// A loop through a list that grows: a variant leaves it after its last item.
    private mutating func forwards(
        _ syntax: TemplateLoopSyntax, over growth: TemplateGrowth, _ start: TemplateInterpreter
    ) throws -> [TemplateInterpreter] {
        var start = start
        let loop = try start.begun(syntax, over: .growing(growth), depth: 0)
        var ended: [TemplateInterpreter] = []
        var waiting = [(run: start, loop: loop, hasRun: false)]
        while let (first, firstLoop, hadRun) = waiting.popLast() {
            var (run, loop, hasRun) = (first, firstLoop, hadRun)
            var isLeft = false
            do {
                while !isLeft {
                    let (steps, bytes) = (run.steps, run.log?.byteCount ?? 0)
                    let before = try run.needsCopy ? run.copied() : nil
                    let loopBefore = before == nil ? loop : loop.copied()
                    let hadRun = hasRun
                    // Also when the iteration fails, others may not have come so far.
                    defer {
                        count(run, steps, bytes)
                        if let rest = before?.standing(forDroppedBy: &run) {
                            waiting.append((rest, loopBefore, hadRun))
                        }
                    }
                    guard let item = try run.advance(loop) else { break }
                    isLeft = try run.iterate(loop, with: item, hasRun: &hasRun)
                    try checkWork()
                }
            } catch let error as TemplateError {
                try fail(run, error)
                continue
            }
            if hasRun {
                ended.append(run)
            } else {
                ended += try attempts(run) { try $0.end(loop, hasRun: false) }.map(\.1)
            }
        }
        return ended
    }

    /// A loop through such a list from its end, item by item: a variant joins it at its last item.
    private mutating func backwards(
        _ syntax: TemplateLoopSyntax, over growth: TemplateGrowth, _ start: TemplateInterpreter
    ) throws -> [TemplateInterpreter] {
        var start = start
        guard let variants = start.variants else { return [] }
        start.line = syntax.items.line
        let places = growth.places(count: variants.mostMessages)
        var ended: [TemplateInterpreter] = []
        var running: [(run: TemplateInterpreter, hasRun: Bool)] = []
        var waiting = variants.active
        /// The variants that have so many messages, or more.
        func entering(atLeast count: Int) throws -> TemplateInterpreter? {
            let border =
                (waiting.lastIndex { variants.counts[$0] < count } ?? waiting.startIndex - 1) + 1
            let active = waiting[border...]
            if active.isEmpty { return nil }
            waiting = waiting[..<border]
            var run = try start.copied()
            run.variants?.active = active
            return run
        }
        for place in places.reversed() {
            let count = growth.count(withItemAt: place)
            if let run = try entering(atLeast: count) { running.append((run, false)) }
            running = [false, true].flatMap { hasRun in
                Self.joined(running.filter { $0.hasRun == hasRun }.map(\.run))
                    .map { ($0, hasRun) }
            }
            var next: [(run: TemplateInterpreter, hasRun: Bool)] = []
            for (run, hadRun) in running {
                let iterations = try attempts(run) {
                    (run: inout TemplateInterpreter) throws -> (hasRun: Bool, isLeft: Bool) in
                    let loop = TemplateLoop(
                        source: [], syntax: syntax, outerFrames: run.frames.count, depth: 0)
                    loop.growth = growth
                    loop.reversedPlace = place
                    try run.charge(1)
                    var hasRun = hadRun
                    let isLeft = try run.iterate(
                        loop, with: growth.items[place], hasRun: &hasRun)
                    return (hasRun, isLeft)
                }
                for (iteration, run) in iterations {
                    if iteration.isLeft {
                        ended += try ending(run, syntax, hasRun: iteration.hasRun)
                    } else {
                        next.append((run, iteration.hasRun))
                    }
                }
            }
            running = next
        }
        if let run = try entering(atLeast: 0) { running.append((run, false)) }
        for (run, hasRun) in running { ended += try ending(run, syntax, hasRun: hasRun) }
        return ended
    }

    private mutating func ending(
        _ run: TemplateInterpreter, _ syntax: TemplateLoopSyntax, hasRun: Bool
    ) throws -> [TemplateInterpreter] {
        if hasRun { return [run] }
        let loop = TemplateLoop(
            source: [], syntax: syntax, outerFrames: run.frames.count, depth: 0)
        return try attempts(run) { try $0.end(loop, hasRun: false) }.map(\.1)
    }

    // MARK: - Joining

    /// How many runs one is compared with before it stays alone.
    private static let comparisons = 4

    /// Fewer runs, where some are equal but for integers.
    private static func joined(_ runs: [TemplateInterpreter]) -> [TemplateInterpreter] {
        var result: [TemplateInterpreter] = []
        for run in runs {
            let recent = result.indices.suffix(comparisons)
            if let index = recent.last(where: { index in
                guard let joined = result[index].joined(with: run) else { return false }
                result[index] = joined
                return true
            }) {
                // The one that was joined last is likely to be the next one's, too.
                result.append(result.remove(at: index))
            } else {
                result.append(run)
            }
        }
        return result
    }
}

extension TemplateStatement {
    /// Whether a loop is in it.
    var hasLoop: Bool {
        switch self {
        case .loop: true
        case .choice(let branches, let otherwise):
            branches.contains { $0.body.contains(where: \.hasLoop) }
                || otherwise.contains(where: \.hasLoop)
        case .capture(_, _, _, let body), .filtered(_, let body), .generation(let body),
            .with(_, let body):
            body.contains(where: \.hasLoop)
        case .callBlock: true
        case .text, .output, .assignment, .macro, .interruption: false
        }
    }
}
