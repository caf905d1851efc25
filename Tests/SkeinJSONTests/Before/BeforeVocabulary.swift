import Foundation
import SkeinJSON

/// As it stood before SkeinJSON did its work: an oracle of `JSONTwins`, and deleted with it.
enum BeforeVocabulary {
    /// The pieces and ids of `model.vocab`, read from the bytes of a tokenizer.json.
    ///
    /// Not through a dictionary of `String`, which is how Foundation's decoder holds an object: two
    /// pieces that Unicode calls canonically equivalent (K and the Kelvin sign) are one key there and
    /// two tokens here. The decoder has already accepted the JSON; this only finds its way through it.
    struct VocabularyScanner {
        private let bytes: UnsafeBufferPointer<UInt8>
        private var position = 0

        /// The entries in the order of the file; nil when there are none, or they are not UTF-8.
        static func entries(of json: Data) -> [(piece: String, id: Int)]? {
            json.withUnsafeBytes { raw in
                var scanner = VocabularyScanner(bytes: raw.bindMemory(to: UInt8.self))
                return scanner.vocabulary()
            }
        }

        private init(bytes: UnsafeBufferPointer<UInt8>) {
            self.bytes = bytes
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        }

        private mutating func vocabulary() -> [(piece: String, id: Int)]? {
            guard enter("model"), enter("vocab"), take("{") else { return nil }
            var entries: [(piece: String, id: Int)] = []
            if take("}") { return entries }
            repeat {
                guard let piece = string(), take(":"), let id = number() else { return nil }
                entries.append((piece, id))
            } while take(",")
            return take("}") ? entries : nil
        }

        /// Moves to the value of the first member `key` of the object that begins here; Foundation,
        /// too, keeps the first of equal keys.
        private mutating func enter(_ key: StaticString) -> Bool {
            guard take("{") else { return false }
            while let name = string(), take(":") {
                if name.utf8.elementsEqual(key.description.utf8) { return true }
                skipValue()
                guard take(",") else { return false }
            }
            return false
        }

        private mutating func skipSpace() {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
                position += 1
            }
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
                return false
            }
            position += 1
            return true
        }

        private mutating func number() -> Int? {
            skipSpace()
            let start = position
            while position < bytes.count, !Self.endsNumber(bytes[position]) { position += 1 }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            // 7.0 and 7e0 are whole numbers, too.
            return JSONValue.number(text).integer
        }

        private static func endsNumber(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
                || byte <= 0x20
        }

        private mutating func skipValue() {
            var depth = 0
            skipSpace()
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    skipString()
                    if depth == 0 { return }
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    position += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    // The end of the object that contains a number or a word.
                    if depth == 0 { return }
                    depth -= 1
                    position += 1
                    if depth == 0 { return }
                case UInt8(ascii: ",") where depth == 0: return
                default: position += 1
                }
            }
        }

        private mutating func skipString() {
            position += 1
            while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
                position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
            position += 1
        }

        private mutating func string() -> String? {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
            let start = position + 1
            skipString()
            guard position <= bytes.count else { return nil }
            let content = UnsafeBufferPointer(rebasing: bytes[start..<(position - 1)])
            return content.contains(UInt8(ascii: "\\"))
                ? Self.unescaped(content) : String(validating: content, as: UTF8.self)
        }

        private static func unescaped(_ content: UnsafeBufferPointer<UInt8>) -> String? {
            var out: [UInt8] = []
            // UTF-16 units of consecutive \u escapes: a pair of them is one scalar.
            var units: [UInt16] = []
            var index = 0
            func flush() {
                out += String(decoding: units, as: UTF16.self).utf8
                units.removeAll()
            }
            while index < content.count {
                guard content[index] == UInt8(ascii: "\\"), index + 1 < content.count else {
                    flush()
                    out.append(content[index])
                    index += 1
                    continue
                }
                let kind = content[index + 1]
                if kind == UInt8(ascii: "u") {
                    guard index + 6 <= content.count,
                        let unit = UInt16(
                            String(decoding: content[(index + 2)..<(index + 6)], as: UTF8.self),
                            radix: 16)
                    else { return nil }
                    units.append(unit)
                    index += 6
                    continue
                }
                flush()
                guard let byte = escapes[kind] else { return nil }
                out.append(byte)
                index += 2
            }
            flush()
            return String(validating: out, as: UTF8.self)
        }

        private static let escapes: [UInt8: UInt8] = [
            UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F,
            UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A,
            UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
        ]
    }
}
