/// What a reader takes.
package struct JSONRules: Sendable {
    /// Which of the fields of one object that have the same name count. Names are the same when their
    /// bytes are, after their escapes are read.
    package enum Names: Sendable {
        /// A second one is a flaw.
        case refused
        /// As in Foundation's reader.
        case first
        /// As in most readers; it stands where the first one stood.
        case last
        /// All of them stay, and nothing is looked for.
        case all
    }

    /// Lists and objects in each other.
    package var depth: Int
    /// Bytes of the text.
    package var bytes: Int
    package var names: Names
    /// Whether a value that is no list or object is a level of the depth, as in most readers; else lists
    /// and objects alone are counted.
    package var leavesCount: Bool
    /// Whether a byte order mark may stand at the beginning.
    package var takesMark: Bool
    /// Whether `NaN`, `Infinity` and `-Infinity` are numbers, as for Python's reader.
    package var takesNonFinite: Bool
    /// Whether an escape may be half of a surrogate pair. Only for readers that make no texts of strings:
    /// no text has such a half, so that a replacement character would stand for it.
    package var takesHalves: Bool

    /// RFC 8259, and nothing else.
    package init(
        depth: Int, bytes: Int = .max, names: Names = .refused, leavesCount: Bool = true,
        takesMark: Bool = false, takesNonFinite: Bool = false, takesHalves: Bool = false
    ) {
        self.depth = depth
        self.bytes = bytes
        self.names = names
        self.leavesCount = leavesCount
        self.takesMark = takesMark
        self.takesNonFinite = takesNonFinite
        self.takesHalves = takesHalves
    }

    /// RFC 8259 with the depth, the mark and the first of equal names of Foundation's readers, which
    /// also take a comma before a bracket, UTF-16 and UTF-32.
    package static let foundation = JSONRules(
        depth: 512, names: .first, leavesCount: false, takesMark: true)

    /// What Python's `json.loads` takes.
    package static func python(depth: Int) -> JSONRules {
        JSONRules(depth: depth, names: .last, takesNonFinite: true)
    }
}
