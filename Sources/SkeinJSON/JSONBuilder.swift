/// Makes values of what a pass finds.
struct JSONBuilder: JSONSink {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let names: JSONRules.Names
    /// The innermost list or object that is open.
    private var frame = Frame(isObject: false)
    /// Those around it, from the outside in; the first is none, and stands for the whole text.
    private var outer: [Frame] = []
    /// The value of the text, once it has ended.
    private(set) var result: JSONValue?

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ names: JSONRules.Names) {
        self.bytes = bytes
        self.names = names
    }

    private struct Frame {
        let isObject: Bool
        var items: [JSONValue] = []
        var fields: [JSONField] = []
        /// The name of the field whose value comes next, and where it begins.
        var name = ""
        var quote = 0
        var places = NameTable()

        init(isObject: Bool) { self.isObject = isObject }

        var value: JSONValue { isObject ? .object(fields) : .list(items) }
    }

    /// Adds a value to the frame.
    ///
    /// - Returns: its place; nil if it does not count.
    @discardableResult
    @inline(__always)
    private mutating func add(_ value: JSONValue) throws(JSONFlaw) -> Int? {
        if outer.isEmpty {
            result = value
            return nil
        }
        if frame.isObject { return try add(field: value) }
        frame.items.append(value)
        return frame.items.count - 1
    }

    private mutating func add(field value: JSONValue) throws(JSONFlaw) -> Int? {
        let field = JSONField(name: frame.name, value: value)
        if names != .all {
            frame.places.grow(to: frame.fields)
        }
        if names != .all, let earlier = frame.places.place(of: frame.name, in: frame.fields) {
            switch names {
            case .refused: throw JSONFlaw(.repeatedName, at: frame.quote)
            case .first: return nil
            default: frame.fields[earlier] = field
            }
            return earlier
        }
        if frame.fields.isEmpty { frame.fields.reserveCapacity(2) }
        frame.fields.append(field)
        return frame.fields.count - 1
    }

    /// What there is when the text has ended early.
    ///
    /// - Parameter last: the beginning of the value inside of which it ended, if that says something.
    /// - Returns: the value so far.
    /// - Throws: `JSONFlaw` of a repeated name.
    mutating func unfinished(_ last: JSONValue?) throws(JSONFlaw) -> JSONPartial {
        var last = last
        /// From the inside out.
        var spine: [Int] = []
        while let next = outer.popLast() {
            if let value = last {
                if let place = try place(of: value) {
                    spine.append(place)
                } else {
                    spine = []
                }
            }
            last = frame.value
            frame = next
        }
        return JSONPartial(value: last ?? .null, isComplete: false, spine: spine.reversed())
    }

    /// Adds a value to the frame, which is a list or an object.
    private mutating func place(of value: JSONValue) throws(JSONFlaw) -> Int? {
        if frame.isObject { return try add(field: value) }
        frame.items.append(value)
        return frame.items.count - 1
    }

    @inline(__always)
    private func content(_ place: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[place])
    }

    private func string(_ place: Range<Int>, _ hasEscapes: Bool) throws(JSONFlaw) -> String {
        guard let text = JSONLiteral.text(content(place), hasEscapes: hasEscapes) else {
            throw JSONFlaw(.notUTF8, at: place.lowerBound - 1)
        }
        return text
    }

    mutating func open(isObject: Bool, at place: Int) {
        outer.append(frame)
        frame = Frame(isObject: isObject)
    }

    mutating func close(before end: Int) throws(JSONFlaw) {
        let value = frame.value
        frame = outer.removeLast()
        try add(value)
    }

    mutating func name(_ content: Range<Int>, hasEscapes: Bool) throws(JSONFlaw) {
        frame.quote = content.lowerBound - 1
        frame.name = try string(content, hasEscapes)
    }

    mutating func text(_ content: Range<Int>, hasEscapes: Bool) throws(JSONFlaw) {
        try add(.text(try string(content, hasEscapes)))
    }

    mutating func number(_ place: Range<Int>) throws(JSONFlaw) {
        try add(.number(String(decoding: content(place), as: UTF8.self)))
    }

    mutating func word(_ word: JSONWord, _ place: Range<Int>) throws(JSONFlaw) {
        switch word {
        case .null: try add(.null)
        case .yes: try add(.bool(true))
        case .no: try add(.bool(false))
        }
    }
}
