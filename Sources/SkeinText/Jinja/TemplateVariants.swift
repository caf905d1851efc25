/// The renderings of one conversation that a run of a template does at once: each shows so many
/// messages from its beginning, with a prompt for an answer or without.
///
/// As long as all that the template has looked at is the same in all of them, they are one run. A
/// look that tells them apart (the list's length, `loop.last`, whether a prompt is added) goes on
/// with those that agree with the last one; the others are dropped here, and `SharedTemplateRun`
/// does the statement or iteration again for them.
struct TemplateVariants {
    /// How many messages each has: ascending.
    let counts: [Int]
    /// Those that the run still stands for: ascending, at least one.
    var active: ArraySlice<Int>
    /// Those that it stood for when it began and no longer does.
    var dropped: [Int] = []

    /// The one that decides: it has the most messages of those active.
    var last: Int { active[active.endIndex - 1] }

    /// Messages of the last one.
    var mostMessages: Int { counts[last] }

    /// Whether `holds` is true of what the last one has of a value; those of which the opposite is
    /// true are dropped.
    mutating func decide(_ varying: TemplateVarying, _ holds: (Int) -> Bool) -> Bool {
        let verdict = holds(varying.value(of: last, counts))
        var cursor = TemplateVarying.Cursor(varying)
        guard active.contains(where: { holds(cursor.value(of: $0, counts)) != verdict }) else {
            return verdict
        }
        cursor = TemplateVarying.Cursor(varying)
        var kept: [Int] = []
        for variant in active {
            if holds(cursor.value(of: variant, counts)) == verdict {
                kept.append(variant)
            } else {
                dropped.append(variant)
            }
        }
        active = kept[...]
        return verdict
    }

    /// Whether there are so many messages.
    mutating func decide(countIsAtLeast count: Int) -> Bool {
        guard mostMessages >= count else { return false }
        guard let first = active.first, counts[first] < count else { return true }
        let border = active.firstIndex { counts[$0] >= count } ?? active.endIndex
        dropped += active[..<border]
        active = active[border...]
        return true
    }

    /// Keeps those with as many messages as the last one.
    mutating func keepOneCount() { _ = decide(countIsAtLeast: mostMessages) }
}

/// A list that grows with the messages: the first item at place `x` of `items` is there when there
/// are more than `x + shift` messages.
struct TemplateGrowth {
    /// As many as the rendering with the most messages has.
    let items: [TemplateValue]
    /// The place of the first item that the list has.
    var first: Int
    let shift: Int
    /// Whether the list has them from the last to the first.
    var isReversed = false

    /// How many messages are there when the item at a place is.
    func count(withItemAt place: Int) -> Int { place + shift + 1 }

    /// The places of the items that there are with so many messages.
    func places(count: Int) -> Range<Int> {
        first..<max(first, min(items.count, count - shift))
    }
}

/// An integer or a truth that is not the same in all variants: `scale * messages + constant`, run by
/// run of variants.
struct TemplateVarying {
    struct Run: Equatable {
        /// The first variant; the run ends before the next one.
        var first: Int
        var scale: Int
        var constant: Int

        func isSame(as other: Run) -> Bool {
            scale == other.scale && constant == other.constant
        }
    }

    /// Constants beyond this are not kept, so that no sum overflows.
    private static let most = 1 << 40

    /// Ascending, at least one.
    private(set) var runs: [Run]
    /// 0 stands for false.
    var isBool = false

    init(_ runs: [Run], isBool: Bool = false) {
        self.runs = runs
        self.isBool = isBool
    }

    /// The number of messages, and `constant` more.
    ///
    /// - Returns: nil for a constant that is too large.
    init?(messagesAnd constant: Int) {
        guard constant.magnitude <= UInt(Self.most) else { return nil }
        runs = [Run(first: 0, scale: 1, constant: constant)]
    }

    /// The values of variants that are asked for in ascending order.
    struct Cursor {
        private let runs: [Run]
        private var index = 0

        init(_ varying: TemplateVarying) { runs = varying.runs }

        mutating func value(of variant: Int, _ counts: [Int]) -> Int {
            while index + 1 < runs.count, runs[index + 1].first <= variant { index += 1 }
            return runs[index].scale * counts[variant] + runs[index].constant
        }
    }

    private func index(of variant: Int) -> Int {
        var (low, high) = (0, runs.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].first <= variant { low = middle } else { high = middle }
        }
        return low
    }

    func run(of variant: Int) -> Run { runs[index(of: variant)] }

    func value(of variant: Int, _ counts: [Int]) -> Int {
        let run = run(of: variant)
        return run.scale * counts[variant] + run.constant
    }

    /// The one integer that it is in all variants, if it is one.
    var constant: Int? {
        guard let first = runs.first, first.scale == 0,
            runs.allSatisfy({ $0.isSame(as: first) })
        else { return nil }
        return first.constant
    }

    /// The sum with another one, or the difference.
    ///
    /// - Returns: nil if the result is too large.
    func combined(with other: TemplateVarying, isDifference: Bool) -> TemplateVarying? {
        var (sum, left, right): ([Run], Int, Int) = ([], 0, 0)
        let sign = isDifference ? -1 : 1
        while true {
            let (one, two) = (runs[left], other.runs[right])
            let run = Run(
                first: max(one.first, two.first), scale: one.scale + sign * two.scale,
                constant: one.constant + sign * two.constant)
            guard run.constant.magnitude <= UInt(Self.most), abs(run.scale) <= 1 << 16 else {
                return nil
            }
            if sum.last?.isSame(as: run) != true { sum.append(run) }
            let nextLeft = left + 1 < runs.count ? runs[left + 1].first : Int.max
            let nextRight = right + 1 < other.runs.count ? other.runs[right + 1].first : Int.max
            if nextLeft == .max, nextRight == .max { break }
            if nextLeft <= nextRight { left += 1 }
            if nextRight <= nextLeft { right += 1 }
        }
        return TemplateVarying(sum)
    }

    /// An integer as one that varies.
    ///
    /// - Returns: nil for one that is too large.
    static func constant(_ value: Int) -> TemplateVarying? {
        guard value.magnitude <= UInt(most) else { return nil }
        return TemplateVarying([Run(first: 0, scale: 0, constant: value)])
    }

    /// What is this one in some variants and another one in others.
    static func joined(
        _ one: TemplateVarying, of first: ArraySlice<Int>, _ other: TemplateVarying,
        of second: ArraySlice<Int>
    ) -> TemplateVarying {
        var runs: [Run] = []
        var (left, right) = (first.startIndex, second.startIndex)
        func append(_ run: Run, at variant: Int) {
            if runs.last?.isSame(as: run) == true { return }
            runs.append(Run(first: variant, scale: run.scale, constant: run.constant))
        }
        /// All of the variants of one side that come before `limit`, or all of them.
        func take(
            _ varying: TemplateVarying, _ variants: ArraySlice<Int>, from place: inout Int,
            upTo limit: Int
        ) {
            var index = varying.index(of: variants[place])
            var start = variants[place]
            while true {
                append(varying.runs[index], at: start)
                index += 1
                guard index < varying.runs.count, varying.runs[index].first < limit else { break }
                start = varying.runs[index].first
            }
            while place < variants.endIndex, variants[place] < limit { place += 1 }
        }
        while left < first.endIndex || right < second.endIndex {
            let oneNext = left < first.endIndex ? first[left] : Int.max
            let otherNext = right < second.endIndex ? second[right] : Int.max
            if oneNext < otherNext {
                take(one, first, from: &left, upTo: otherNext)
            } else {
                take(other, second, from: &right, upTo: oneNext)
            }
        }
        return TemplateVarying(runs)
    }
}
