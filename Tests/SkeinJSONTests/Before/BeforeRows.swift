import SkeinJSON

/// As it stood before SkeinJSON did its work: an oracle of `JSONTwins`, and deleted with it.
enum BeforeRows {
    /// Where and why a text is no JSON that was wanted. Offsets count bytes from 0.
    enum JSONFlaw: Error, Equatable {
        case malformed(offset: Int)
        /// The string that begins there is not UTF-8.
        case notUTF8(offset: Int)
        /// The name that begins there stands twice in its object.
        case repeatedName(offset: Int)
        case tooDeep(limit: Int)
        case tooLarge(limit: Int)
    }

    /// What a reader takes.
    struct JSONRules: Sendable {
        /// Lists and objects in each other.
        var depth: Int
        /// Bytes of the text.
        var bytes: Int
        /// Whether of fields with one name the last one counts, as in most readers; else they are a flaw.
        var takesLast: Bool
        /// Whether a byte order mark may stand at the beginning.
        var takesMark: Bool
        /// Whether `NaN`, `Infinity` and `-Infinity` are numbers, as for Python's reader.
        var takesNonFinite: Bool

        /// RFC 8259, and nothing else.
        init(
            depth: Int, bytes: Int = .max, takesLast: Bool = false, takesMark: Bool = false,
            takesNonFinite: Bool = false
        ) {
            self.depth = depth
            self.bytes = bytes
            self.takesLast = takesLast
            self.takesMark = takesMark
            self.takesNonFinite = takesNonFinite
        }

        /// What Python's `json.loads` takes.
        static func python(depth: Int) -> JSONRules {
            JSONRules(depth: depth, takesLast: true, takesNonFinite: true)
        }
    }

    /// Reads JSON (RFC 8259) strictly, no deeper than it is told.
    struct JSONReader {
        private let bytes: UnsafeBufferPointer<UInt8>
        private let rules: JSONRules
        private var position = 0

        /// A whole text.
        static func read(
            _ bytes: UnsafeRawBufferPointer, _ rules: JSONRules
        ) throws(JSONFlaw) -> JSONValue {
            guard bytes.count <= rules.bytes else { throw .tooLarge(limit: rules.bytes) }
            var reader = JSONReader(bytes: bytes.bindMemory(to: UInt8.self), rules: rules)
            if rules.takesMark, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
            let value = try reader.value(depth: 0)
            reader.skipSpace()
            guard reader.position == bytes.count else { throw reader.malformed }
            return value
        }

        /// The same.
        static func read(_ bytes: [UInt8], _ rules: JSONRules) throws(JSONFlaw) -> JSONValue {
            try bytes.withUnsafeBufferPointer { (bytes) throws(JSONFlaw) in
                try read(UnsafeRawBufferPointer(bytes), rules)
            }
        }

        private init(bytes: UnsafeBufferPointer<UInt8>, rules: JSONRules) {
            self.bytes = bytes
            self.rules = rules
        }

        private var malformed: JSONFlaw { .malformed(offset: position) }

        private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

        private mutating func skipSpace() {
            while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                position += 1
            }
        }

        private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
            skipSpace()
            guard byte == UInt8(ascii: wanted) else { return false }
            position += 1
            return true
        }

        private mutating func takeWord(_ word: StaticString) -> Bool {
            let isThere = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
            if isThere { position += word.utf8CodeUnitCount }
            return isThere
        }

        private mutating func value(depth: Int) throws(JSONFlaw) -> JSONValue {
            guard depth < rules.depth else { throw .tooDeep(limit: rules.depth) }
            skipSpace()
            switch byte {
            case UInt8(ascii: "\""): return .text(try string())
            case UInt8(ascii: "{"): return .object(try object(depth: depth))
            case UInt8(ascii: "["):
                position += 1
                var items: [JSONValue] = []
                if take("]") { return .list(items) }
                repeat { items.append(try value(depth: depth + 1)) } while take(",")
                guard take("]") else { throw malformed }
                return .list(items)
            case .some(let byte) where byte == UInt8(ascii: "-") || Self.isDigit(byte):
                if rules.takesNonFinite, takeWord("-Infinity") { return .number("-Infinity") }
                return .number(try number())
            default:
                if takeWord("null") { return .null }
                if takeWord("true") { return .bool(true) }
                if takeWord("false") { return .bool(false) }
                if rules.takesNonFinite {
                    if takeWord("NaN") { return .number("NaN") }
                    if takeWord("Infinity") { return .number("Infinity") }
                }
                throw malformed
            }
        }

        /// Objects with more fields are looked up in a table; most have a few.
        private static let fewFields = 8

        private mutating func object(depth: Int) throws(JSONFlaw) -> [JSONField] {
            position += 1
            var fields: [JSONField] = []
            // By the bytes of the name: texts are equal in Swift when they look alike.
            var places: [[UInt8]: Int] = [:]
            if take("}") { return fields }
            repeat {
                skipSpace()
                guard byte == UInt8(ascii: "\"") else { throw malformed }
                let start = position
                let name = try string()
                guard take(":") else { throw malformed }
                let field = JSONField(name: name, value: try value(depth: depth + 1))
                let earlier =
                    fields.count <= Self.fewFields
                    ? fields.firstIndex { $0.name.isSame(as: name) } : places[Array(name.utf8)]
                if let earlier {
                    guard rules.takesLast else { throw .repeatedName(offset: start) }
                    fields[earlier] = field
                    continue
                }
                fields.append(field)
                if fields.count == Self.fewFields + 1 {
                    for (place, field) in fields.enumerated() {
                        places[Array(field.name.utf8)] = place
                    }
                } else if fields.count > Self.fewFields {
                    places[Array(name.utf8)] = fields.count - 1
                }
            } while take(",")
            guard take("}") else { throw malformed }
            return fields
        }

        private mutating func number() throws(JSONFlaw) -> String {
            let start = position
            if byte == UInt8(ascii: "-") { position += 1 }
            let whole = digits()
            guard whole == 1 || whole > 1 && bytes[position - whole] != UInt8(ascii: "0") else {
                throw malformed
            }
            if byte == UInt8(ascii: ".") {
                position += 1
                guard digits() > 0 else { throw malformed }
            }
            if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
                position += 1
                if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
                guard digits() > 0 else { throw malformed }
            }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private static func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }

        /// Takes digits and counts them.
        private mutating func digits() -> Int {
            let start = position
            while let byte, Self.isDigit(byte) { position += 1 }
            return position - start
        }

        private mutating func string() throws(JSONFlaw) -> String {
            let quote = position
            position += 1
            var text: [UInt8] = []
            var copied = position
            while let byte {
                switch byte {
                case UInt8(ascii: "\""):
                    let rest = bytes[copied..<position]
                    position += 1
                    let string: String?
                    if text.isEmpty {
                        string = String(validating: rest, as: UTF8.self)
                    } else {
                        text += rest
                        string = String(validating: text, as: UTF8.self)
                    }
                    guard let string else { throw .notUTF8(offset: quote) }
                    return string
                case UInt8(ascii: "\\"):
                    text += bytes[copied..<position]
                    position += 1
                    try escape(into: &text)
                    copied = position
                case 0..<0x20: throw malformed
                default: position += 1
                }
            }
            throw malformed
        }

        private mutating func escape(into text: inout [UInt8]) throws(JSONFlaw) {
            guard let kind = byte else { throw malformed }
            position += 1
            switch kind {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var code = try unit()
                if (0xD800..<0xDC00).contains(code) {
                    guard takeWord("\\u") else { throw malformed }
                    let low = try unit()
                    guard (0xDC00..<0xE000).contains(low) else { throw malformed }
                    code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
                }
                guard let scalar = Unicode.Scalar(code) else { throw malformed }
                text += String(scalar).utf8
            default: throw malformed
            }
        }

        /// Four hexadecimal digits.
        private mutating func unit() throws(JSONFlaw) -> UInt32 {
            var value: UInt32 = 0
            for _ in 0..<4 {
                let digit: UInt8
                switch byte {
                case .some(let byte) where Self.isDigit(byte): digit = byte - 0x30
                case .some(let byte) where (0x61...0x66).contains(byte | 0x20):
                    digit = (byte | 0x20) - 0x61 + 10
                default: throw malformed
                }
                value = value << 4 | UInt32(digit)
                position += 1
            }
            return value
        }
    }
}
