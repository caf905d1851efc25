/// What a run of a template has written so far, when other runs may share its beginning: a copy costs
/// nothing, and the first of two copies that goes on writing does so in place.
struct TemplateLog {
    /// A text, or what follows the beginning of another one.
    final class Part {
        /// Whose first bytes, up to `start`, come before this one's.
        let parent: Part?
        /// Bytes before this one's own.
        let start: Int
        fileprivate(set) var text = TemplateText()
        /// How many parts are before it.
        let depth: Int

        init(after parent: Part? = nil, start: Int = 0) {
            self.parent = parent
            self.start = start
            depth = parent.map { $0.depth + 1 } ?? 0
        }

        /// With those before its own.
        var byteCount: Int { start + text.bytes.count }

        /// For each message the first and the last of the runs of `text` that are from it.
        private(set) lazy var places: [Int: [Int]] = {
            var places: [Int: [Int]] = [:]
            for (index, run) in text.runs.enumerated() {
                if let origin = run.origin { places[origin, default: []].append(index) }
            }
            return places
        }()

        /// The bytes that `{% generation %}` blocks wrote in `text`: ascending, not adjacent.
        private lazy var generated: [Range<Int>] = text.generatedRanges.map {
            (start + $0.lowerBound)..<(start + $0.upperBound)
        }

        /// Those of them that begin before a place of the whole text.
        func generated(before end: Int) -> ArraySlice<Range<Int>> {
            var (low, high) = (0, generated.count)
            while low < high {
                let middle = (low + high) / 2
                if generated[middle].lowerBound < end { low = middle + 1 } else { high = middle }
            }
            return generated[..<low]
        }
    }

    /// Parts before another one: freeing them recurses as deep.
    private static let depth = 64

    private(set) var part = Part()
    private(set) var byteCount = 0

    mutating func append(_ text: TemplateText) {
        if text.isEmpty { return }
        // Another copy has written after this place.
        if part.byteCount != byteCount {
            let copy = part.depth < Self.depth ? nil : whole
            part = copy == nil ? Part(after: part, start: byteCount) : Part()
            if let copy { part.text = copy }
        }
        part.text.append(text)
        byteCount += text.bytes.count
    }

    /// The parts of the text, each with the bytes of the whole text that it has of it.
    var pieces: [(part: Part, range: Range<Int>)] {
        var pieces: [(Part, Range<Int>)] = []
        var (next, end): (Part?, Int) = (part, byteCount)
        while let part = next {
            if end > part.start {
                pieces.append((part, part.start..<end))
                end = part.start
            }
            next = part.parent
        }
        return pieces.reversed()
    }

    var whole: TemplateText {
        var text = TemplateText()
        for (part, range) in pieces { text.append(part.text.slice(0..<range.count)) }
        return text
    }

    /// Whether two texts are one.
    func isSame(as other: TemplateLog) -> Bool {
        guard byteCount == other.byteCount else { return false }
        let (own, others) = (pieces, other.pieces)
        return own.count == others.count
            && zip(own, others).allSatisfy { $0.part === $1.part && $0.range == $1.range }
    }
}

extension TemplateText {
    /// The bytes that `{% generation %}` blocks wrote: ascending, neither empty nor adjacent.
    var generatedRanges: [Range<Int>] {
        var (ranges, start): ([Range<Int>], Int) = ([], 0)
        for run in runs {
            if run.isGenerated {
                if let last = ranges.last, last.upperBound == start {
                    ranges[ranges.count - 1] = last.lowerBound..<run.end
                } else {
                    ranges.append(start..<run.end)
                }
            }
            start = run.end
        }
        return ranges
    }
}
