/// As it stood before SkeinJSON did its work: an oracle of `JSONTwins`, and deleted with it.
enum BeforeMacros {
    /// Reads JSON (RFC 8259) strictly, no deeper than `64`.
    ///
    /// The plugin has a reader of its own because it links nothing but the C library: every program
    /// that uses the package builds it first.
    struct JSONReader {
        /// Where a text stops being JSON.
        struct Flaw: Error, Equatable {
            var offset: Int
        }

        private let bytes: [UInt8]
        private var position = 0

        /// A whole text.
        ///
        /// - Throws: `Flaw` where it is no JSON, or too deep.
        static func read(_ bytes: [UInt8]) throws(Flaw) -> JSONValue {
            var reader = JSONReader(bytes: bytes)
            let value = try reader.value(depth: 0)
            reader.skipSpace()
            guard reader.position == bytes.count else { throw reader.flaw }
            return value
        }

        private init(bytes: [UInt8]) { self.bytes = bytes }

        private var flaw: Flaw { Flaw(offset: position) }

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

        private mutating func value(depth: Int) throws(Flaw) -> JSONValue {
            guard depth < 64 else { throw flaw }
            skipSpace()
            switch byte {
            case UInt8(ascii: "\""): return .text(try string())
            case UInt8(ascii: "{"): return .object(try object(depth: depth))
            case UInt8(ascii: "["):
                position += 1
                var values: [JSONValue] = []
                if take("]") { return .list(values) }
                repeat { values.append(try value(depth: depth + 1)) } while take(",")
                guard take("]") else { throw flaw }
                return .list(values)
            case UInt8(ascii: "n"): return try word("null", .null)
            case UInt8(ascii: "t"): return try word("true", .bool(true))
            case UInt8(ascii: "f"): return try word("false", .bool(false))
            default: return .number(try number())
            }
        }

        private mutating func word(
            _ word: StaticString, _ value: JSONValue
        ) throws(Flaw) -> JSONValue {
            let wanted = word.withUTF8Buffer { Array($0) }
            guard bytes[position...].starts(with: wanted) else { throw flaw }
            position += wanted.count
            return value
        }

        private mutating func object(
            depth: Int
        ) throws(Flaw) -> [(name: String, value: JSONValue)] {
            position += 1
            var fields: [(name: String, value: JSONValue)] = []
            if take("}") { return fields }
            repeat {
                skipSpace()
                guard byte == UInt8(ascii: "\"") else { throw flaw }
                let name = try string()
                guard take(":") else { throw flaw }
                fields.append((name, try value(depth: depth + 1)))
            } while take(",")
            guard take("}") else { throw flaw }
            return fields
        }

        private mutating func number() throws(Flaw) -> Double {
            let start = position
            while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || isSign(byte) {
                position += 1
            }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            guard position - start <= 400, let number = Double(text), number.isFinite else {
                throw Flaw(offset: start)
            }
            return number
        }

        private func isSign(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                true
            default: false
            }
        }

        private mutating func string() throws(Flaw) -> String {
            let start = position
            position += 1
            var text: [UInt8] = []
            while let byte {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let string = String(validating: text, as: UTF8.self) else {
                        throw Flaw(offset: start)
                    }
                    return string
                case UInt8(ascii: "\\"): try escape(into: &text)
                case 0..<0x20: throw Flaw(offset: position - 1)
                default: text.append(byte)
                }
            }
            throw flaw
        }

        private mutating func escape(into text: inout [UInt8]) throws(Flaw) {
            guard let kind = byte else { throw flaw }
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
                    guard bytes[position...].starts(with: "\\u".utf8) else { throw flaw }
                    position += 2
                    let low = try unit()
                    guard (0xDC00..<0xE000).contains(low) else { throw flaw }
                    code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
                }
                guard let scalar = Unicode.Scalar(code) else { throw flaw }
                text += Array(String(scalar).utf8)
            default: throw flaw
            }
        }

        /// Four hexadecimal digits.
        private mutating func unit() throws(Flaw) -> UInt32 {
            var value: UInt32 = 0
            for _ in 0..<4 {
                guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                    throw flaw
                }
                value = value << 4 | UInt32(digit)
                position += 1
            }
            return value
        }
    }

    /// A value of JSON, and how it is written.
    ///
    /// It says that it is Sendable because Swift 6.3.1, left to infer it, may end in a "circular
    /// reference", depending on the order of the files.
    enum JSONValue: Equatable, Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case text(String)
        case list([JSONValue])
        /// In the order in which they are written.
        case object([(name: String, value: JSONValue)])

        static func == (left: JSONValue, right: JSONValue) -> Bool { left.written == right.written }

        static func whole(_ number: Int) -> JSONValue { .number(Double(number)) }

        /// The first field of this name, or null for whatever is no object or has none.
        subscript(name: String) -> JSONValue {
            guard case .object(let fields) = self else { return .null }
            return fields.first { $0.name == name }?.value ?? .null
        }

        var text: String? {
            guard case .text(let text) = self else { return nil }
            return text
        }

        /// A number without a fraction that fits.
        var whole: Int? {
            guard case .number(let number) = self else { return nil }
            return Int(exactly: number)
        }

        /// The values of a list; none for whatever is no list.
        var list: [JSONValue] {
            guard case .list(let values) = self else { return [] }
            return values
        }

        /// The value as JSON in UTF-8.
        var written: [UInt8] {
            var bytes: [UInt8] = []
            write(into: &bytes, depth: 0)
            return bytes
        }

        /// Whatever is deeper than a reader takes is written as null.
        private func write(into bytes: inout [UInt8], depth: Int) {
            guard depth < 64 else {
                bytes += "null".utf8
                return
            }
            switch self {
            case .null: bytes += "null".utf8
            case .bool(let value): bytes += (value ? "true" : "false").utf8
            case .number(let value):
                if let whole = Int(exactly: value) {
                    bytes += "\(whole)".utf8
                } else {
                    bytes += (value.isFinite ? "\(value)" : "null").utf8
                }
            case .text(let text): Self.write(text, into: &bytes)
            case .list(let values):
                bytes.append(UInt8(ascii: "["))
                for (index, value) in values.enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    value.write(into: &bytes, depth: depth + 1)
                }
                bytes.append(UInt8(ascii: "]"))
            case .object(let fields):
                bytes.append(UInt8(ascii: "{"))
                for (index, field) in fields.enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    Self.write(field.name, into: &bytes)
                    bytes.append(UInt8(ascii: ":"))
                    field.value.write(into: &bytes, depth: depth + 1)
                }
                bytes.append(UInt8(ascii: "}"))
            }
        }

        private static func write(_ text: String, into bytes: inout [UInt8]) {
            bytes.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
                case 0..<0x20:
                    let digits = String(byte, radix: 16)
                    bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
                default: bytes.append(byte)
                }
            }
            bytes.append(UInt8(ascii: "\""))
        }
    }
}
