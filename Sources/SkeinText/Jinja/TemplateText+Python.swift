/// The operations of Python's `str` that templates use. All but case changes keep origins.
extension TemplateText {
    /// Which ends `strip` works on.
    struct Sides: OptionSet {
        let rawValue: Int
        static let left = Sides(rawValue: 1)
        static let right = Sides(rawValue: 2)
        static let both: Sides = [.left, .right]
    }

    /// `str.strip`, `lstrip`, `rstrip`: without `characters`, or without white space when nil.
    func stripped(_ sides: Sides, characters: TemplateText?) -> TemplateText {
        let set = characters.map { Set($0.string.unicodeScalars.map(\.value)) }
        func isStripped(_ start: Int, _ end: Int) -> Bool {
            let value = UTF8Scalars.value(start, end, in: bytes)
            return set?.contains(value) ?? UTF8Scalars.isSpace(value)
        }
        var low = 0
        var high = bytes.count
        while sides.contains(.left), low < high {
            let end = low + UTF8Scalars.length(lead: bytes[low])
            guard isStripped(low, end) else { break }
            low = end
        }
        while sides.contains(.right), high > low {
            let start = UTF8Scalars.start(before: high, in: bytes)
            guard isStripped(start, high) else { break }
            high = start
        }
        return slice(low..<high)
    }

    /// The byte ranges of the code points.
    var scalarRanges: [Range<Int>] {
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            let end = position + UTF8Scalars.length(lead: bytes[position])
            ranges.append(position..<end)
            position = end
        }
        return ranges
    }

    /// The offset of code point `index`; the end of the text when there are fewer.
    func offset(ofScalar index: Int) -> Int {
        var position = 0
        var left = index
        while left > 0, position < bytes.count {
            position += UTF8Scalars.length(lead: bytes[position])
            left -= 1
        }
        return position
    }

    /// `str.split(separator, limit)`: at most `limit` cuts.
    func split(separator: TemplateText, limit: Int) -> [Range<Int>] {
        let pattern = BytePattern(separator.bytes)
        var parts: [Range<Int>] = []
        var start = 0
        while parts.count < limit, let found = pattern.firstMatch(in: bytes, from: start) {
            parts.append(start..<found)
            start = found + separator.bytes.count
        }
        parts.append(start..<bytes.count)
        return parts
    }

    /// `str.split(None, limit)`: the words between white space.
    func splitAtSpace(limit: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var position = UTF8Scalars.endOfSpace(from: 0, in: bytes)
        while position < bytes.count {
            if parts.count >= limit {
                // Python keeps the white space at the end of the part that it does not split.
                parts.append(position..<bytes.count)
                break
            }
            var end = position
            while end < bytes.count {
                let next = end + UTF8Scalars.length(lead: bytes[end])
                if UTF8Scalars.isSpace(UTF8Scalars.value(end, next, in: bytes)) { break }
                end = next
            }
            parts.append(position..<end)
            position = UTF8Scalars.endOfSpace(from: end, in: bytes)
        }
        return parts
    }

    func contains(_ other: TemplateText) -> Bool {
        BytePattern(other.bytes).firstMatch(in: bytes, from: 0) != nil
    }

    func hasPrefix(_ other: TemplateText) -> Bool { bytes.starts(with: other.bytes) }

    func hasSuffix(_ other: TemplateText) -> Bool {
        bytes.count >= other.bytes.count && bytes.suffix(other.bytes.count) == other.bytes[...]
    }

    /// `str.upper`. The origin is lost: these are no longer the message's own words.
    func uppercased() -> TemplateText {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for scalar in string.unicodeScalars {
            result += Array(scalar.properties.uppercaseMapping.utf8)
        }
        return TemplateText(bytes: result)
    }

    /// `str.lower`, with the final sigma of the Unicode standard (section 3.13), as Python has it.
    func lowercased() -> TemplateText {
        let scalars = Array(string.unicodeScalars)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (index, scalar) in scalars.enumerated() {
            let isFinal = scalar == "\u{3A3}" && Self.isFinalSigma(at: index, in: scalars)
            result += Array((isFinal ? "\u{3C2}" : scalar.properties.lowercaseMapping).utf8)
        }
        return TemplateText(bytes: result)
    }

    /// Whether a cased letter precedes the sigma and none follows it, case-ignorable ones aside.
    private static func isFinalSigma(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        let before = scalars[..<index].last { !$0.properties.isCaseIgnorable }
        let after = scalars[(index + 1)...].first { !$0.properties.isCaseIgnorable }
        return before?.properties.isCased == true && after?.properties.isCased != true
    }
}

/// A byte string to search for, in time linear in the text whatever the two contain (Knuth, Morris
/// and Pratt 1977): a hostile template must not cause a quadratic search.
struct BytePattern {
    private let needle: [UInt8]
    /// `border[i]`: length of the longest proper prefix of `needle[...i]` that is also its suffix.
    private let border: [Int]

    init(_ needle: [UInt8]) {
        self.needle = needle
        var border = [Int](repeating: 0, count: needle.count)
        var matched = 0
        for index in needle.indices.dropFirst() {
            while matched > 0, needle[index] != needle[matched] { matched = border[matched - 1] }
            if needle[index] == needle[matched] { matched += 1 }
            border[index] = matched
        }
        self.border = border
    }

    /// Where the first occurrence at or after `start` begins. An empty pattern occurs at `start`.
    func firstMatch(in bytes: [UInt8], from start: Int) -> Int? {
        if needle.isEmpty { return start }
        var matched = 0
        for index in start..<bytes.count {
            while matched > 0, bytes[index] != needle[matched] { matched = border[matched - 1] }
            if bytes[index] == needle[matched] { matched += 1 }
            if matched == needle.count { return index + 1 - matched }
        }
        return nil
    }
}
