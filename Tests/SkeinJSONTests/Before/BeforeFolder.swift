/// As it stood before SkeinJSON did its work: an oracle of `JSONTwins`, and deleted with it.
enum BeforeFolder {
    /// The members of a JSON object as texts, so that some can be changed and the others stay as they
    /// are, in their order and spelling.
    ///
    /// For text that a JSON reader has accepted; other text gives nil or members that are not JSON.
    struct JSONMembers {
        /// Keys as their bytes are in the text, without quotes.
        private(set) var members: [(key: String, value: String)] = []

        init?(_ text: String) {
            var scanner = Scanner(bytes: Array(text.utf8))
            guard let members = scanner.members() else { return nil }
            self.members = members
        }

        subscript(key: String) -> String? {
            members.first { $0.key == key }?.value
        }

        mutating func remove(_ key: String) { members.removeAll { $0.key == key } }

        /// Replaces the member's value, or adds it at the end.
        mutating func set(_ key: String, _ value: String) {
            if let index = members.firstIndex(where: { $0.key == key }) {
                members[index].value = value
            } else {
                members.append((key, value))
            }
        }

        /// The object, a member on each line.
        ///
        /// - Parameter indent: spaces before the object's end.
        /// - Returns: JSON.
        func text(indent: Int = 0) -> String {
            let space = String(repeating: " ", count: indent)
            let lines = members.map { "\(space)  \"\($0.key)\": \($0.value)" }
            return lines.isEmpty ? "{}" : "{\n" + lines.joined(separator: ",\n") + "\n\(space)}"
        }

        private struct Scanner {
            let bytes: [UInt8]
            var place = 0

            var next: UInt8? { place < bytes.count ? bytes[place] : nil }

            mutating func skipSpace() {
                while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { place += 1 }
            }

            mutating func take(_ character: Character) -> Bool {
                skipSpace()
                guard next == character.asciiValue else { return false }
                place += 1
                return true
            }

            mutating func members() -> [(key: String, value: String)]? {
                guard take("{") else { return nil }
                var members: [(key: String, value: String)] = []
                if take("}") { return members }
                repeat {
                    skipSpace()
                    let start = place
                    guard skipString() else { return nil }
                    let key = text(start + 1..<place - 1)
                    guard take(":") else { return nil }
                    skipSpace()
                    let valueStart = place
                    skipValue()
                    members.append((key, text(valueStart..<place)))
                } while take(",")
                return take("}") ? members : nil
            }

            func text(_ range: Range<Int>) -> String {
                String(decoding: bytes[range], as: UTF8.self)
            }

            mutating func skipString() -> Bool {
                guard next == UInt8(ascii: "\"") else { return false }
                place += 1
                while let byte = next {
                    place += byte == UInt8(ascii: "\\") ? 2 : 1
                    if byte == UInt8(ascii: "\"") { return true }
                }
                return false
            }

            /// To the end of a value: a comma or a closing bracket outside of strings and brackets.
            mutating func skipValue() {
                var depth = 0
                while let byte = next {
                    switch byte {
                    case UInt8(ascii: "\""):
                        if !skipString() { return }
                        if depth == 0 { return }
                        continue
                    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                    case UInt8(ascii: "}"), UInt8(ascii: "]"):
                        if depth == 0 { return trim() }
                        depth -= 1
                        if depth == 0 {
                            place += 1
                            return
                        }
                    case UInt8(ascii: ",") where depth == 0: return trim()
                    default: break
                    }
                    place += 1
                }
            }

            /// White space before what ends a value is not part of it.
            private mutating func trim() {
                while place > 0, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[place - 1]) { place -= 1 }
            }
        }
    }
}
