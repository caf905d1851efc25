/// A text that knows where its parts came from: UTF-8 bytes and runs of one origin each.
///
/// Bytes, not `String`, because the template's language is Python's: two texts are equal when
/// their code points are (Swift's `==` finds canonically equivalent texts equal), and a position
/// counts code points (Swift counts grapheme clusters). The bytes are always valid UTF-8, and runs
/// end on code point borders.
struct TemplateText: Sendable {
    /// The bytes from the end of the previous run up to `end`, all from one origin.
    struct Run: Sendable, Equatable {
        var end: Int
        /// The message whose content this is, nil for everything else.
        var origin: Int?
        /// Whether a `{% generation %}` block wrote this.
        var isGenerated = false

        func hasSource(of other: Run) -> Bool {
            origin == other.origin && isGenerated == other.isGenerated
        }
    }

    private(set) var bytes: [UInt8]
    /// None is empty, and two neighbours differ in origin.
    private(set) var runs: [Run]
    /// Whether this is HTML to Jinja (a `Markup`, as `|safe` makes it): its operators and methods
    /// escape what they put into it, and what they make is HTML, too. Filters do not, since
    /// transformers renders without autoescape. Tests/Fixtures/templates has what Jinja2 does.
    var isMarkup = false

    init() {
        bytes = []
        runs = []
    }

    init(_ string: String, origin: Int? = nil) {
        self.init(bytes: Array(string.utf8), origin: origin)
    }

    init(bytes: [UInt8], origin: Int? = nil) {
        self.bytes = bytes
        runs = bytes.isEmpty ? [] : [Run(end: bytes.count, origin: origin)]
    }

    /// The same text, HTML or not.
    func marked(_ isMarkup: Bool) -> TemplateText {
        var result = self
        result.isMarkup = isMarkup
        return result
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }
    var isEmpty: Bool { bytes.isEmpty }

    /// Appends `other`, merging its first run with the last one here if they share an origin.
    mutating func append(_ other: TemplateText) {
        let offset = bytes.count
        bytes.append(contentsOf: other.bytes)
        for run in other.runs {
            if let last = runs.last, last.hasSource(of: run) {
                runs[runs.count - 1].end = offset + run.end
            } else {
                runs.append(
                    Run(end: offset + run.end, origin: run.origin, isGenerated: run.isGenerated))
            }
        }
    }

    /// The bytes of `range` with their origins. Both ends must be code point borders.
    func slice(_ range: Range<Int>) -> TemplateText {
        guard !range.isEmpty else { return TemplateText().marked(isMarkup) }
        if range == 0..<bytes.count { return self }
        var result = TemplateText()
        result.isMarkup = isMarkup
        result.bytes = Array(bytes[range])
        var index = firstRun(endingAfter: range.lowerBound)
        while index < runs.count {
            let end = min(runs[index].end, range.upperBound)
            var run = runs[index]
            run.end = end - range.lowerBound
            result.runs.append(run)
            if end == range.upperBound { break }
            index += 1
        }
        return result
    }

    /// The same text, marked as written by a `{% generation %}` block.
    func generated() -> TemplateText {
        var result = TemplateText()
        result.bytes = bytes
        for var run in runs {
            run.isGenerated = true
            if let last = result.runs.last, last.hasSource(of: run) { result.runs.removeLast() }
            result.runs.append(run)
        }
        return result
    }

    /// The message that all of this text comes from, nil if there is no such message.
    var soleOrigin: Int? {
        guard let origin = runs.first?.origin else { return nil }
        return runs.allSatisfy { $0.origin == origin } ? origin : nil
    }

    private func firstRun(endingAfter offset: Int) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension TemplateText: Equatable {
    /// Whether the code points are the same; their origins do not matter.
    static func == (left: TemplateText, right: TemplateText) -> Bool {
        left.bytes == right.bytes
    }
}

/// UTF-8 read forwards and backwards. All functions expect valid UTF-8 and code point borders.
enum UTF8Scalars {
    /// Bytes of the code point that begins with `lead`.
    static func length(lead: UInt8) -> Int {
        lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    }

    /// Where the code point that ends before `end` begins.
    static func start(before end: Int, in bytes: [UInt8]) -> Int {
        var start = end - 1
        while start > 0, bytes[start] & 0xC0 == 0x80 { start -= 1 }
        return start
    }

    /// The code point of `bytes[start..<end]`.
    static func value(_ start: Int, _ end: Int, in bytes: [UInt8]) -> UInt32 {
        let lead = UInt32(bytes[start])
        switch end - start {
        case 1: return lead
        case 2: return (lead & 0x1F) << 6 | UInt32(bytes[start + 1] & 0x3F)
        case 3:
            return (lead & 0x0F) << 12 | UInt32(bytes[start + 1] & 0x3F) << 6
                | UInt32(bytes[start + 2] & 0x3F)
        default:
            return (lead & 0x07) << 18 | UInt32(bytes[start + 1] & 0x3F) << 12
                | UInt32(bytes[start + 2] & 0x3F) << 6 | UInt32(bytes[start + 3] & 0x3F)
        }
    }

    /// How many code points there are.
    static func count(_ bytes: [UInt8]) -> Int {
        bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }

    /// Whether Python's `str.isspace` holds, which is also `\s` in its regular expressions.
    /// (Swift's `isWhitespace` lacks U+001C to U+001F.)
    static func isSpace(_ value: UInt32) -> Bool {
        switch value {
        case 0x09...0x0D, 0x1C...0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F,
            0x205F, 0x3000:
            true
        default: false
        }
    }

    /// Where the white space that begins at `start` ends.
    static func endOfSpace(from start: Int, in bytes: [UInt8]) -> Int {
        var position = start
        while position < bytes.count {
            let end = position + length(lead: bytes[position])
            guard isSpace(value(position, end, in: bytes)) else { break }
            position = end
        }
        return position
    }

    /// Where the white space that ends at `end` begins, not before `limit`.
    static func startOfSpace(before end: Int, notBefore limit: Int, in bytes: [UInt8]) -> Int {
        var position = end
        while position > limit {
            let start = start(before: position, in: bytes)
            guard isSpace(value(start, position, in: bytes)) else { break }
            position = start
        }
        return position
    }
}
