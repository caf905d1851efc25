import Foundation

/// As it stood before SkeinJSON did its work: an oracle of `JSONTwins`, and deleted with it.
enum BeforePython {
    /// JSON as Python writes it: `NaN`, `Infinity` and `-Infinity` may stand where a number does.
    ///
    /// Foundation's reader refuses a whole file for one such word, also for one in a field that is not
    /// read, such as `"time_step_limit": [0.0, Infinity]` of transformers' config.json.
    struct PythonJSON {
        /// The text with a number in the place of each word that no Double can be: a field that is not read
        /// may have it, and a number that is read may not.
        private(set) var text: Data
        /// The keys of these, or of the lists that they are in; at most `mostKeys`.
        private(set) var keys: [String] = []

        private static let mostKeys = 5

        /// nil if there is no such word.
        ///
        /// - Parameter bytes: of the file.
        init?(_ bytes: UnsafeRawBufferPointer) {
            text = Data()
            var scanner = Scanner(bytes: bytes)
            var copied = 0
            while let word = scanner.nextWord() {
                if copied == 0 { text.reserveCapacity(bytes.count) }
                text.append(contentsOf: bytes[copied..<word.lowerBound])
                text.append(contentsOf: "1e999".utf8)
                copied = word.upperBound
                guard keys.count < Self.mostKeys, let key = scanner.key, !keys.contains(key)
                else { continue }
                keys.append(key)
            }
            guard copied > 0 else { return nil }
            text.append(contentsOf: bytes[copied...])
        }

        /// The same of bytes that are held.
        init?(_ data: Data) {
            guard let python = data.withUnsafeBytes({ PythonJSON($0) }) else { return nil }
            self = python
        }

        /// What is wrong with the text if a number that is read is none.
        var flaw: String {
            let names = keys.isEmpty ? "a number" : keys.map { "'\($0)'" }.joined(separator: " or ")
            return "\(names) is NaN or infinite, and a finite number is needed"
        }

        private struct Scanner {
            let bytes: UnsafeRawBufferPointer
            private var place = 0
            /// The last byte that is neither a blank nor in a string; a quote for a string.
            private var previous: UInt8 = 0
            private var string: Range<Int>?
            private var keyRange: Range<Int>?

            init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

            /// The last key before here.
            var key: String? {
                keyRange.map { String(decoding: bytes[$0].prefix(64), as: UTF8.self) }
            }

            private static let words = ["NaN", "Infinity", "-Infinity"].map { Array($0.utf8) }

            /// The next word that stands where a value does.
            mutating func nextWord() -> Range<Int>? {
                while place < bytes.count {
                    let byte = bytes[place]
                    switch byte {
                    case 0x20, 0x09, 0x0A, 0x0D: break
                    case UInt8(ascii: "\""):
                        skipString()
                        previous = byte
                        continue
                    case UInt8(ascii: ":"):
                        keyRange = string
                        previous = byte
                    case UInt8(ascii: "N"), UInt8(ascii: "I"), UInt8(ascii: "-"):
                        let isValue = [UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: ",")]
                            .contains(previous)
                        let start = place
                        previous = byte
                        guard isValue,
                            let word = Self.words.first(where: { bytes[start...].starts(with: $0) }
                            ),
                            endsValue(start + word.count)
                        else { break }
                        place += word.count
                        return start..<place
                    default: previous = byte
                    }
                    place += 1
                }
                return nil
            }

            /// Whether what ends a value comes next.
            private func endsValue(_ start: Int) -> Bool {
                let next = bytes[start...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
                return next.map {
                    [UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains($0)
                }
                    ?? false
            }

            private mutating func skipString() {
                place += 1
                let start = place
                while place < bytes.count {
                    let byte = bytes[place]
                    if byte == UInt8(ascii: "\"") {
                        string = start..<place
                        place += 1
                        return
                    }
                    place += byte == UInt8(ascii: "\\") ? 2 : 1
                }
                place = bytes.count
            }
        }
    }
}
