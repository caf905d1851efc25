/// Hears what a pass finds, in the order of the text.
protocol JSONSink {
    mutating func open(isObject: Bool, at place: Int)
    mutating func close(before end: Int) throws(JSONFlaw)
    /// `content` is what stands between the quotes.
    mutating func name(_ content: Range<Int>, hasEscapes: Bool) throws(JSONFlaw)
    mutating func text(_ content: Range<Int>, hasEscapes: Bool) throws(JSONFlaw)
    mutating func number(_ place: Range<Int>) throws(JSONFlaw)
    mutating func word(_ word: JSONWord, _ place: Range<Int>) throws(JSONFlaw)
}

enum JSONWord {
    case null
    case yes
    case no
}

/// Goes through JSON (RFC 8259, and what the rules take besides) once, from a value's beginning to its
/// end, and does not recurse.
///
/// That a text ends early is the flaw `malformed` at its end, and no other flaw of that kind is there.
struct JSONPass<Sink: JSONSink> {
    /// When a number that the text ends with is one: `1` may still become `12`.
    enum LastNumber {
        case always
        /// If it is all that there is.
        case alone
        case never
    }

    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let rules: JSONRules
    private let lastNumber: LastNumber
    private(set) var position: Int
    /// Where the last string began, and whether it is a name. If the text ended in a string, it is this.
    private(set) var string = (quote: 0, isName: false, hasEnded: true)
    var sink: Sink

    /// - Parameters:
    ///   - bytes: the text; UTF-8 is for the sink to check.
    ///   - position: where it begins.
    ///   - rules: of which names, bytes and mark are not looked at.
    ///   - lastNumber: see there.
    ///   - sink: hears what is found.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, at position: Int, _ rules: JSONRules,
        lastNumber: LastNumber = .always, sink: Sink
    ) {
        // An address for a text without bytes, which is never read.
        base = bytes.baseAddress ?? ("" as StaticString).utf8Start
        count = bytes.count
        self.position = position
        self.rules = rules
        self.lastNumber = lastNumber
        self.sink = sink
    }

    private func flaw(_ expected: JSONExpected) -> JSONFlaw {
        JSONFlaw(.malformed(expected), at: position)
    }

    /// Passes blanks.
    @inline(__always)
    mutating func blanks() {
        while position < count {
            let byte = base[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position &+= 1
        }
    }

    @inline(__always)
    private func isNext(_ byte: UInt8) -> Bool { position < count && base[position] == byte }

    /// Passes blanks to the end of the text.
    mutating func end() throws(JSONFlaw) {
        blanks()
        guard position == count else { throw flaw(.nothing) }
    }

    /// Passes one value and the blanks before it.
    mutating func value() throws(JSONFlaw) {
        var open = Nesting()
        while true {
            blanks()
            guard position < count else { throw flaw(.value) }
            let byte = base[position]
            let isBracket = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
            guard open.count < rules.depth || !(isBracket || rules.leavesCount) else {
                throw JSONFlaw(.tooDeep(limit: rules.depth), at: position)
            }
            if isBracket {
                let isObject = byte == UInt8(ascii: "{")
                sink.open(isObject: isObject, at: position)
                position &+= 1
                blanks()
                if isNext(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    position &+= 1
                    try sink.close(before: position)
                } else {
                    open.push(isObject)
                    if isObject { try key() }
                    continue
                }
            } else {
                try leaf(byte, isAlone: open.count == 0)
            }
            // A value ends here, and with it the lists and objects of which it is the last.
            while true {
                guard open.count > 0 else { return }
                blanks()
                let byte = position < count ? base[position] : 0
                if byte == UInt8(ascii: ",") {
                    position &+= 1
                    if open.isObject { try key() }
                    break
                }
                guard byte == (open.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw flaw(.commaOr(object: open.isObject))
                }
                position &+= 1
                open.pop()
                try sink.close(before: position)
            }
        }
    }

    @inline(__always)
    private mutating func leaf(_ byte: UInt8, isAlone: Bool) throws(JSONFlaw) {
        switch byte {
        case UInt8(ascii: "\""):
            let start = position &+ 1
            let hasEscapes = try string(isName: false)
            try sink.text(start..<(position &- 1), hasEscapes: hasEscapes)
        case UInt8(ascii: "t"): try word("true", .yes)
        case UInt8(ascii: "f"): try word("false", .no)
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number(isAlone: isAlone)
        }
    }

    @inline(__always)
    private mutating func key() throws(JSONFlaw) {
        blanks()
        guard isNext(UInt8(ascii: "\"")) else { throw flaw(.key) }
        let start = position &+ 1
        let hasEscapes = try string(isName: true)
        try sink.name(start..<(position &- 1), hasEscapes: hasEscapes)
        blanks()
        guard isNext(UInt8(ascii: ":")) else { throw flaw(.colon) }
        position &+= 1
    }

    /// Passes a string, which begins here.
    ///
    /// - Returns: whether there are escapes in it.
    @inline(__always)
    private mutating func string(isName: Bool) throws(JSONFlaw) -> Bool {
        string = (position, isName, false)
        position &+= 1
        var hasEscapes = false
        while true {
            position = PlainBytes.end(base, from: position, count: count)
            guard position < count else { throw flaw(.end) }
            switch base[position] {
            case UInt8(ascii: "\""):
                position &+= 1
                string.hasEnded = true
                return hasEscapes
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape()
            default: throw flaw(.plainCharacter)
            }
        }
    }

    private mutating func escape() throws(JSONFlaw) {
        let start = position
        position &+= 1
        guard position < count else { throw flaw(.end) }
        switch base[position] {
        case UInt8(ascii: "n"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"),
            UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position &+= 1
        case UInt8(ascii: "u"):
            position &+= 1
            guard try unit(start, isLow: false) & 0xF800 == 0xD800, !rules.takesHalves else {
                return
            }
            for wanted in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
                guard position < count else { throw flaw(.end) }
                guard base[position] == wanted else { throw JSONFlaw(.halfOfPair, at: start) }
                position &+= 1
            }
            _ = try unit(start, isLow: true)
        default: throw flaw(.escape)
        }
    }

    /// Passes four hexadecimal digits, of which the first two say whether they are the second half of a
    /// pair.
    ///
    /// - Parameters:
    ///   - start: where the escape begins, or the first one of a pair.
    ///   - isLow: whether they must be the second half, or must not.
    /// - Returns: what they say.
    /// - Throws: where they are others.
    private mutating func unit(_ start: Int, isLow: Bool) throws(JSONFlaw) -> UInt32 {
        var value: UInt32 = 0
        for place in 0..<4 {
            guard position < count, let digit = JSONLiteral.hexadecimal(base[position]) else {
                throw flaw(.hexadecimal)
            }
            value = value << 4 | UInt32(digit)
            position &+= 1
            guard !rules.takesHalves else { continue }
            if isLow && place == 0 && value != 0xD || place == 1 && (value & 0xFC == 0xDC) != isLow
            {
                throw JSONFlaw(.halfOfPair, at: start)
            }
        }
        return value
    }

    private mutating func word(_ word: StaticString, _ value: JSONWord) throws(JSONFlaw) {
        let start = position
        try pass(word)
        try sink.word(value, start..<position)
    }

    private mutating func pass(_ word: StaticString) throws(JSONFlaw) {
        for index in 0..<word.utf8CodeUnitCount {
            guard isNext(word.utf8Start[index]) else { throw flaw(.value) }
            position &+= 1
        }
    }

    private mutating func number(isAlone: Bool) throws(JSONFlaw) {
        let start = position
        if isNext(UInt8(ascii: "-")) { position &+= 1 }
        if rules.takesNonFinite, isNext(UInt8(ascii: "I")) {
            try pass("Infinity")
        } else if rules.takesNonFinite, position == start, isNext(UInt8(ascii: "N")) {
            try pass("NaN")
        } else {
            try decimal()
            // More digits may follow.
            if position == count, lastNumber == .never || lastNumber == .alone && !isAlone {
                throw flaw(.digit)
            }
        }
        try sink.number(start..<position)
    }

    @inline(__always)
    private mutating func decimal() throws(JSONFlaw) {
        if isNext(UInt8(ascii: "0")) {
            position &+= 1
        } else {
            try digits(else: .value)
        }
        if isNext(UInt8(ascii: ".")) {
            position &+= 1
            try digits(else: .digit)
        }
        if position < count, base[position] | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            if isNext(UInt8(ascii: "+")) || isNext(UInt8(ascii: "-")) { position &+= 1 }
            try digits(else: .digit)
        }
    }

    @inline(__always)
    private mutating func digits(else expected: JSONExpected) throws(JSONFlaw) {
        let start = position
        while position < count, (0x30...0x39).contains(base[position]) { position &+= 1 }
        guard position > start else { throw flaw(expected) }
    }
}

/// For each list and object that is open, whether it is an object.
private struct Nesting {
    /// The last of them, the innermost in the lowest bit, and in words of 64 those before.
    private var bits: UInt64 = 0
    private var full: [UInt64] = []
    private(set) var count = 0

    /// Whether the innermost is an object.
    @inline(__always)
    var isObject: Bool { bits & 1 == 1 }

    @inline(__always)
    mutating func push(_ isObject: Bool) {
        if count & 63 == 0, count > 0 { full.append(bits) }
        bits = bits << 1 | (isObject ? 1 : 0)
        count &+= 1
    }

    @inline(__always)
    mutating func pop() {
        bits >>= 1
        count &-= 1
        if count & 63 == 0, let last = full.popLast() { bits = last }
    }
}
