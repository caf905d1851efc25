/// As it stood before SkeinJSON did its work: an oracle of `JSONTwins`, and deleted with it.
enum BeforeTables {
    /// Finds where a JSON value ends (RFC 8259, and `NaN`, `Infinity` and `-Infinity`, which Python writes).
    /// It keeps no value and does not recurse.
    struct JSONScanner {
        /// Where the text is no JSON.
        struct Problem: Error, Equatable {
            let offset: Int
            let expected: String
        }

        /// Whether a text is one JSON array.
        static func isArray(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
            var scanner = JSONScanner(text, at: 0)
            let start = scanner.blanks()
            guard start < text.count, text[start] == UInt8(ascii: "[") else { return false }
            do {
                _ = try scanner.value()
                return scanner.blanks() == text.count
            } catch {
                return false
            }
        }

        private let base: UnsafePointer<UInt8>
        private let count: Int
        private var place: Int

        /// - Parameters:
        ///   - bytes: text; UTF-8 is not checked.
        ///   - start: where the scanner stands.
        init(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) {
            base = bytes.baseAddress ?? Self.nothing
            count = bytes.count
            place = start
        }

        /// An address for a text without bytes, which is never read.
        private static var nothing: UnsafePointer<UInt8> { ("" as StaticString).utf8Start }

        /// Passes blanks.
        ///
        /// - Returns: the place of the next byte that is none; the end of the text if there is none.
        mutating func blanks() -> Int {
            while place < count, isBlank(base[place]) { place &+= 1 }
            return place
        }

        @inline(__always)
        private func isBlank(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
        }

        private func problem(_ expected: String) -> Problem {
            Problem(offset: place, expected: expected)
        }

        /// Passes one value, which starts here.
        ///
        /// - Returns: the place after it.
        mutating func value() throws(Problem) -> Int {
            /// For each array or object that is open, whether it is an object.
            var open: [Bool] = []
            while true {
                _ = blanks()
                guard place < count else { throw problem("a value") }
                switch base[place] {
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    let isObject = base[place] == UInt8(ascii: "{")
                    guard open.count < 512 else {
                        throw problem("at most \(512) arrays and objects in each other")
                    }
                    place &+= 1
                    let next = blanks()
                    if next < count,
                        base[next] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                    {
                        place &+= 1
                    } else {
                        open.append(isObject)
                        if isObject { try key() }
                        continue
                    }
                case UInt8(ascii: "\""): try string()
                case UInt8(ascii: "t"): try word("true")
                case UInt8(ascii: "f"): try word("false")
                case UInt8(ascii: "n"): try word("null")
                case UInt8(ascii: "N"): try word("NaN")
                case UInt8(ascii: "I"): try word("Infinity")
                default: try number()
                }
                // A value ends here, and with it the arrays and objects of which it is the last.
                while let isObject = open.last {
                    _ = blanks()
                    let byte = place < count ? base[place] : 0
                    if byte == UInt8(ascii: ",") {
                        place &+= 1
                        if isObject { try key() }
                        break
                    }
                    guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                        throw problem(isObject ? "a comma or }" : "a comma or ]")
                    }
                    place &+= 1
                    open.removeLast()
                }
                if open.isEmpty { return place }
            }
        }

        private mutating func key() throws(Problem) {
            _ = blanks()
            guard place < count, base[place] == UInt8(ascii: "\"") else { throw problem("a key") }
            try string()
            _ = blanks()
            guard place < count, base[place] == UInt8(ascii: ":") else { throw problem("a colon") }
            place &+= 1
        }

        private mutating func string() throws(Problem) {
            place &+= 1
            while place < count {
                let byte = base[place]
                switch byte {
                case UInt8(ascii: "\""):
                    place &+= 1
                    return
                case 0..<0x20: throw problem("no line break or other control character in a string")
                case UInt8(ascii: "\\"):
                    place &+= 1
                    guard place < count else { break }
                    switch base[place] {
                    case UInt8(ascii: "u"):
                        for _ in 0..<4 {
                            place &+= 1
                            guard place < count, isHexDigit(base[place]) else {
                                throw problem("four hexadecimal digits")
                            }
                        }
                    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"),
                        UInt8(ascii: "b"),
                        UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                        break
                    default: throw problem("an escape of JSON")
                    }
                    place &+= 1
                default: place &+= 1
                }
            }
            throw problem("the end of a string")
        }

        private func isHexDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
            default: false
            }
        }

        private mutating func word(_ word: StaticString) throws(Problem) {
            for index in 0..<word.utf8CodeUnitCount {
                guard place < count, base[place] == word.utf8Start[index] else {
                    throw problem("a value")
                }
                place &+= 1
            }
        }

        private mutating func number() throws(Problem) {
            if place < count, base[place] == UInt8(ascii: "-") { place &+= 1 }
            if place < count, base[place] == UInt8(ascii: "I") { return try word("Infinity") }
            if place < count, base[place] == UInt8(ascii: "0") {
                place &+= 1
            } else {
                try digits("a value")
            }
            if place < count, base[place] == UInt8(ascii: ".") {
                place &+= 1
                try digits("a digit")
            }
            if place < count, base[place] | 0x20 == UInt8(ascii: "e") {
                place &+= 1
                if place < count,
                    base[place] == UInt8(ascii: "+") || base[place] == UInt8(ascii: "-")
                {
                    place &+= 1
                }
                try digits("a digit")
            }
        }

        private mutating func digits(_ expected: String) throws(Problem) {
            let start = place
            while place < count, (0x30...0x39).contains(base[place]) { place &+= 1 }
            guard place > start else { throw problem(expected) }
        }
    }
}
