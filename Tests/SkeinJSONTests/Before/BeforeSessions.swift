/// As it stood before SkeinJSON did its work: an oracle of `JSONTwins`, and deleted with it.
enum BeforeSessions {
    /// Reads a JSON text (RFC 8259), or the beginning of one, in one pass.
    ///
    /// It keeps open arrays and objects in a list and never calls itself, so a deep text takes no stack.
    struct ContentReader {
        private let bytes: [UInt8]
        private let isWhole: Bool
        private var position = 0
        private var frames: [Frame] = []
        private var expected = Expected.value

        /// An array or object that is not closed.
        private struct Frame {
            var id: Int?
            var isObject: Bool
            var elements: [Content] = []
            var properties: [String: Content] = [:]
            var orderedKeys: [String] = []
            /// The name of the property whose value comes next.
            var key = ""

            /// The id of the value that comes next.
            var next: Int? { nil }

            mutating func add(_ content: Content) {
                if !isObject {
                    elements.append(content)
                } else if properties.updateValue(content, forKey: key) == nil {
                    orderedKeys.append(key)
                }
            }

            func content(isComplete: Bool) -> Content {
                Content(
                    isObject
                        ? .structure(properties: properties, orderedKeys: orderedKeys)
                        : .array(elements),
                    id: id, isComplete: isComplete)
            }
        }

        private enum Expected {
            case value
            case valueOrEnd
            case keyOrEnd
            case key
            case colon
            case commaOrEnd
            case nothing
        }

        /// A value or name; nil: the text ended before it did.
        private enum Piece {
            case whole(Content.Storage)
            case unfinished(Content.Storage?)
        }

        /// - Throws: `Flaw` if no JSON text begins so.
        static func read(
            _ bytes: [UInt8], id: Int?, isWhole: Bool
        ) throws(Flaw) -> Content {
            guard bytes.count <= 16 << 20 else {
                throw .tooLong(limit: 16 << 20)
            }
            var reader = ContentReader(bytes: bytes, isWhole: isWhole)
            // A byte order mark says nothing.
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
            return try reader.read(id)
        }

        private init(bytes: [UInt8], isWhole: Bool) {
            self.bytes = bytes
            self.isWhole = isWhole
        }

        private var malformed: Flaw { .malformedJSON(offset: position) }

        private mutating func read(
            _ id: Int?
        ) throws(Flaw) -> Content {
            /// What the text says, once its first value has ended.
            var result: Content?
            /// Takes a value that has ended.
            func end(_ content: Content) {
                if frames.isEmpty {
                    result = content
                    expected = .nothing
                } else {
                    frames[frames.count - 1].add(content)
                    expected = .commaOrEnd
                }
            }
            while true {
                skipSpace()
                guard position < bytes.count else { return result ?? unfinished(id, nil) }
                let byte = bytes[position]
                switch expected {
                case .nothing: throw malformed
                case .colon:
                    guard byte == UInt8(ascii: ":") else { throw malformed }
                    position += 1
                    expected = .value
                case .key, .keyOrEnd:
                    if byte == UInt8(ascii: "}"), case .keyOrEnd = expected {
                        position += 1
                        let frame = frames.removeLast()
                        end(frame.content(isComplete: true))
                        continue
                    }
                    guard byte == UInt8(ascii: "\"") else { throw malformed }
                    guard case .whole(.string(let key)) = try string() else {
                        return unfinished(id, nil)
                    }
                    frames[frames.count - 1].key = key
                    expected = .colon
                case .commaOrEnd:
                    let isObject = frames.last?.isObject == true
                    position += 1
                    if byte == UInt8(ascii: ",") {
                        expected = isObject ? .key : .value
                    } else if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                        let frame = frames.removeLast()
                        end(frame.content(isComplete: true))
                    } else {
                        position -= 1
                        throw malformed
                    }
                case .value, .valueOrEnd:
                    let own = frames.isEmpty ? id : frames.last?.next
                    if byte == UInt8(ascii: "]"), case .valueOrEnd = expected {
                        position += 1
                        let frame = frames.removeLast()
                        end(frame.content(isComplete: true))
                    } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                        guard frames.count < 256 else {
                            throw .tooDeep(limit: 256)
                        }
                        position += 1
                        let isObject = byte == UInt8(ascii: "{")
                        frames.append(Frame(id: own, isObject: isObject))
                        expected = isObject ? .keyOrEnd : .valueOrEnd
                    } else {
                        switch try scalar() {
                        case .whole(let storage): end(Content(storage, id: own))
                        case .unfinished(let storage):
                            return unfinished(
                                id, storage.map { Content($0, id: own, isComplete: false) })
                        }
                    }
                }
            }
        }

        /// What there is when the text ends inside of a value.
        ///
        /// - Parameters:
        ///   - id: of the whole.
        ///   - last: the beginning of the value inside of which it ends, if that says something.
        /// - Returns: the whole, not complete.
        private func unfinished(_ id: Int?, _ last: Content?) -> Content {
            var last = last
            for var frame in frames.reversed() {
                if let last { frame.add(last) }
                last = frame.content(isComplete: false)
            }
            return last ?? Content(.null, id: id, isComplete: false)
        }

        private mutating func skipSpace() {
            while position < bytes.count {
                switch bytes[position] {
                case 0x20, 0x09, 0x0A, 0x0D: position += 1
                default: return
                }
            }
        }

        private mutating func scalar() throws(Flaw) -> Piece {
            switch bytes[position] {
            case UInt8(ascii: "\""): try string()
            case UInt8(ascii: "t"): try word("true", .bool(true))
            case UInt8(ascii: "f"): try word("false", .bool(false))
            case UInt8(ascii: "n"): try word("null", .null)
            default: try number()
            }
        }

        private mutating func word(
            _ word: StaticString, _ storage: Content.Storage
        ) throws(Flaw) -> Piece {
            for index in 0..<word.utf8CodeUnitCount {
                guard position < bytes.count else { return .unfinished(nil) }
                guard bytes[position] == word.utf8Start[index] else { throw malformed }
                position += 1
            }
            return .whole(storage)
        }
    }

    struct Content {
        indirect enum Storage {
            case null
            case bool(Bool)
            case number(String)
            case string(String)
            case array([Content])
            case structure(properties: [String: Content], orderedKeys: [String])
        }

        var storage: Storage
        var isComplete: Bool

        init(_ storage: Storage, id: Int?, isComplete: Bool = true) {
            self.storage = storage
            self.isComplete = isComplete
        }
    }

    enum Flaw: Error, Equatable {
        case tooLong(limit: Int)
        case malformedJSON(offset: Int)
        case malformedText(offset: Int)
        case tooDeep(limit: Int)
    }
}

/// Numbers.
extension BeforeSessions.ContentReader {
    private mutating func number() throws(BeforeSessions.Flaw) -> Piece {
        let start = position
        if take("-"), position == bytes.count { return .unfinished(nil) }
        let whole = digits()
        // Neither `.5` nor `01`.
        guard whole == 1 || whole > 1 && bytes[position - whole] != UInt8(ascii: "0") else {
            if whole > 1 { position -= whole - 1 }
            throw malformed
        }
        if take(".") {
            if position == bytes.count { return .unfinished(nil) }
            guard digits() > 0 else { throw malformed }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if position == bytes.count { return .unfinished(nil) }
            guard digits() > 0 else { throw malformed }
        }
        // More digits may follow.
        if position == bytes.count, !(isWhole && frames.isEmpty) { return .unfinished(nil) }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        return .whole(.number(text))
    }

    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: wanted) else { return false }
        position += 1
        return true
    }

    /// Takes digits and counts them.
    private mutating func digits() -> Int {
        let start = position
        while position < bytes.count, 0x30...0x39 ~= bytes[position] { position += 1 }
        return position - start
    }
}

/// Strings.
extension BeforeSessions.ContentReader {
    private mutating func string() throws(BeforeSessions.Flaw) -> Piece {
        let start = position
        position += 1
        // What stands for itself is copied in one piece, up to the next escape.
        var copied = position
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                text += bytes[copied..<position]
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw .malformedText(offset: start)
                }
                return .whole(.string(string))
            }
            if byte == UInt8(ascii: "\\") {
                text += bytes[copied..<position]
                guard try escape(into: &text) else {
                    return .unfinished(.string(try beginning(text, start)))
                }
                copied = position
            } else if byte < 0x20 {
                throw malformed
            } else {
                position += 1
            }
        }
        text += bytes[copied...]
        return .unfinished(.string(try beginning(text, start)))
    }

    /// A text without the character at its end of which bytes are still to come.
    private func beginning(
        _ text: [UInt8], _ start: Int
    ) throws(BeforeSessions.Flaw) -> String {
        var whole = text[...]
        for (count, byte) in text.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
            let length =
                switch byte {
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                default: 1
                }
            if length > count + 1 { whole = text.dropLast(count + 1) }
            break
        }
        guard let string = String(validating: whole, as: UTF8.self) else {
            throw .malformedText(offset: start)
        }
        return string
    }

    /// Takes an escape; false: the text ended before it did.
    private mutating func escape(into text: inout [UInt8]) throws(BeforeSessions.Flaw) -> Bool {
        let start = position
        position += 1
        guard position < bytes.count else { return false }
        let kind = bytes[position]
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            position += 1
            guard var code = try unit() else { return false }
            if 0xD800..<0xDC00 ~= code {
                for wanted in "\\u".utf8 {
                    guard position < bytes.count else { return false }
                    guard bytes[position] == wanted else { throw .malformedText(offset: start) }
                    position += 1
                }
                guard let low = try unit() else { return false }
                guard 0xDC00..<0xE000 ~= low else { throw .malformedText(offset: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw .malformedText(offset: start) }
            text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            return true
        default: throw malformed
        }
        position += 1
        return true
    }

    /// Four hexadecimal digits; nil: the text ended before them.
    private mutating func unit() throws(BeforeSessions.Flaw) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count else { return nil }
            guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw malformed
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
