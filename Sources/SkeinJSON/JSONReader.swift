/// Reads JSON (RFC 8259) strictly, no deeper than it is told.
package enum JSONReader {
    /// A whole text.
    package static func read(
        _ bytes: UnsafeRawBufferPointer, _ rules: JSONRules
    ) throws(JSONFlaw) -> JSONValue {
        let bytes = bytes.bindMemory(to: UInt8.self)
        var pass = JSONPass(
            bytes, at: try start(bytes, rules), rules, sink: JSONBuilder(bytes, rules.names))
        try pass.value()
        try pass.end()
        return pass.sink.result ?? .null
    }

    /// The same.
    package static func read(_ bytes: [UInt8], _ rules: JSONRules) throws(JSONFlaw) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (bytes) throws(JSONFlaw) in
            try read(UnsafeRawBufferPointer(bytes), rules)
        }
    }

    /// Where the text begins.
    private static func start(
        _ bytes: UnsafeBufferPointer<UInt8>, _ rules: JSONRules
    ) throws(JSONFlaw) -> Int {
        guard bytes.count <= rules.bytes else {
            throw JSONFlaw(.tooLarge(limit: rules.bytes), at: rules.bytes)
        }
        return rules.takesMark && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// A text, or the beginning of one, which may end anywhere, even inside of a character.
    ///
    /// - Parameters:
    ///   - bytes: of the text.
    ///   - isWhole: whether no more bytes follow: the text may be a number that ends where it does.
    ///   - rules: what is taken.
    /// - Returns: what the text says so far.
    /// - Throws: what no JSON begins with.
    package static func partial(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool, _ rules: JSONRules
    ) throws(JSONFlaw) -> JSONPartial {
        let bytes = bytes.bindMemory(to: UInt8.self)
        var pass = JSONPass(
            bytes, at: try start(bytes, rules), rules, lastNumber: isWhole ? .alone : .never,
            sink: JSONBuilder(bytes, rules.names))
        do {
            try pass.value()
            try pass.end()
            return JSONPartial(value: pass.sink.result ?? .null, isComplete: true, spine: [])
        } catch {
            guard case .malformed = error.kind, error.offset == bytes.count else { throw error }
        }
        var last: JSONValue?
        if !pass.string.hasEnded {
            let quote = pass.string.quote
            let content = UnsafeBufferPointer(rebasing: bytes[(quote + 1)...])
            guard let text = JSONLiteral.beginning(content) else {
                throw JSONFlaw(.notUTF8, at: quote)
            }
            if !pass.string.isName { last = .text(text) }
        }
        return try pass.sink.unfinished(last)
    }

    /// The same.
    package static func partial(
        _ bytes: [UInt8], isWhole: Bool, _ rules: JSONRules
    ) throws(JSONFlaw) -> JSONPartial {
        try bytes.withUnsafeBufferPointer { (bytes) throws(JSONFlaw) in
            try partial(UnsafeRawBufferPointer(bytes), isWhole: isWhole, rules)
        }
    }

    // MARK: - Places

    /// Where the next byte stands that is no blank; the end of the text if there is none.
    package static func blanks(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var pass = JSONPass(bytes, at: start, JSONRules(depth: 0), sink: NoSink())
        pass.blanks()
        return pass.position
    }

    /// Passes one value and the blanks before it, and makes nothing of it. UTF-8 is not checked, and of
    /// the rules neither names nor bytes count.
    ///
    /// - Parameters:
    ///   - bytes: in which the value stands.
    ///   - start: where to begin.
    ///   - rules: what is taken.
    /// - Returns: where the value ends.
    /// - Throws: where it is no JSON.
    package static func skip(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ rules: JSONRules
    ) throws(JSONFlaw) -> Int {
        var pass = JSONPass(bytes, at: start, rules, sink: NoSink())
        try pass.value()
        return pass.position
    }

    /// Where the members of an object stand, in their order, those of the same name too. UTF-8 is not
    /// checked.
    ///
    /// - Parameters:
    ///   - bytes: a whole text.
    ///   - rules: what is taken.
    /// - Returns: nil if it is another value than an object.
    /// - Throws: where it is no JSON.
    package static func members(
        of bytes: UnsafeRawBufferPointer, _ rules: JSONRules
    ) throws(JSONFlaw) -> [JSONMember]? {
        let bytes = bytes.bindMemory(to: UInt8.self)
        var pass = JSONPass(bytes, at: try start(bytes, rules), rules, sink: MemberList())
        try pass.value()
        try pass.end()
        return pass.sink.isObject ? pass.sink.members : nil
    }

    /// The text of a name of `members`.
    package static func string(
        _ bytes: UnsafeRawBufferPointer, _ place: Range<Int>
    ) throws(JSONFlaw) -> String {
        let content = UnsafeRawBufferPointer(rebasing: bytes[place])
        guard
            let text = JSONLiteral.text(
                content.bindMemory(to: UInt8.self), hasEscapes: content.contains(0x5C))
        else { throw JSONFlaw(.notUTF8, at: place.lowerBound - 1) }
        return text
    }
}

/// A text, or what it says so far.
package struct JSONPartial: Sendable, Equatable {
    /// Strings are as they stand, and lists and objects lack what has not begun. Null if nothing has.
    package var value: JSONValue
    /// Whether the text ended after its value.
    package var isComplete: Bool
    /// If it did not: the place of what is not complete in the value, the place of what is not complete
    /// in that, and so on. The rest is complete.
    package var spine: [Int]
}

/// Where a member of an object stands.
package struct JSONMember: Sendable, Equatable {
    /// What stands between the quotes.
    package var name: Range<Int>
    package var value: Range<Int>
}

private struct NoSink: JSONSink {
    mutating func open(isObject: Bool, at place: Int) {}
    mutating func close(before end: Int) {}
    mutating func name(_ content: Range<Int>, hasEscapes: Bool) {}
    mutating func text(_ content: Range<Int>, hasEscapes: Bool) {}
    mutating func number(_ place: Range<Int>) {}
    mutating func word(_ word: JSONWord, _ place: Range<Int>) {}
}

/// Collects the members of the outermost object.
private struct MemberList: JSONSink {
    var members: [JSONMember] = []
    var isObject = false
    private var depth = 0
    private var name = 0..<0
    private var start = 0

    private mutating func add(_ place: Range<Int>) {
        if depth == 1 { members.append(JSONMember(name: name, value: place)) }
    }

    mutating func open(isObject: Bool, at place: Int) {
        if depth == 0 { self.isObject = isObject }
        if depth == 1 { start = place }
        depth += 1
    }

    mutating func close(before end: Int) {
        depth -= 1
        add(start..<end)
    }

    mutating func name(_ content: Range<Int>, hasEscapes: Bool) {
        if depth == 1 { name = content }
    }

    mutating func text(_ content: Range<Int>, hasEscapes: Bool) {
        add((content.lowerBound - 1)..<(content.upperBound + 1))
    }

    mutating func number(_ place: Range<Int>) { add(place) }
    mutating func word(_ word: JSONWord, _ place: Range<Int>) { add(place) }
}
