/// JSON texts in every form that RFC 8259 allows.
package enum RandomJSON {
    package static func text(using random: inout some RandomNumberGenerator) -> String {
        space(&random) + value(depth: 0, &random) + space(&random)
    }

    /// A text in which one to three bytes are others, gone or added.
    package static func damaged(using random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = Array(text(using: &random).utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let marks = Array("{}[]\",:\\u0-.e tn/\n".utf8) + [0x00, 0xC3, 0xED, 0xFF]
            let mark = marks[Int.random(in: 0..<marks.count, using: &random)]
            switch Int.random(in: 0...2, using: &random) {
            case 0: bytes[place] = mark
            case 1: bytes.insert(mark, at: place)
            default: bytes.remove(at: place)
            }
        }
        return bytes
    }

    private static func pick<Item>(_ items: [Item], _ random: inout some RandomNumberGenerator)
        -> Item
    {
        items[Int.random(in: 0..<items.count, using: &random)]
    }

    private static func space(_ random: inout some RandomNumberGenerator) -> String {
        pick(["", "", "", " ", "\n", "\t ", "\r\n"], &random)
    }

    private static func value(depth: Int, _ random: inout some RandomNumberGenerator) -> String {
        let last = depth < 4 ? 7 : 4
        switch Int.random(in: depth == 0 ? 3...7 : 0...last, using: &random) {
        case 0: return pick(["true", "false", "null"], &random)
        case 1, 2: return number(&random)
        case 3, 4: return string(&random)
        case 5:
            let items = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                space(&random) + value(depth: depth + 1, &random) + space(&random)
            }
            return "[" + (items.isEmpty ? space(&random) : items.joined(separator: ",")) + "]"
        default:
            // Each name once: of two, the last counts, and the first would not only grow.
            let fields = (0..<Int.random(in: 0...4, using: &random)).map { place in
                let name = string(&random).dropLast() + "\(place)\""
                return space(&random) + name + space(&random) + ":" + space(&random)
                    + value(depth: depth + 1, &random) + space(&random)
            }
            return "{" + (fields.isEmpty ? space(&random) : fields.joined(separator: ",")) + "}"
        }
    }

    private static func number(_ random: inout some RandomNumberGenerator) -> String {
        pick(["", "-"], &random)
            + pick(["0", "7", "10", "9223372036854775807", "123456789"], &random)
            + pick(["", "", ".5", ".0", ".125000"], &random)
            + pick(["", "", "e5", "E-3", "e+0"], &random)
    }

    private static func string(_ random: inout some RandomNumberGenerator) -> String {
        let parts = [
            "a", "Rome", " ", "é", "日本", "😀", "e\u{301}", "👩‍👩‍👧", "\\\"", "\\\\", "\\/", "\\n",
            "\\u00e9", "\\u0000", "\\ud83d\\ude00", "\\uFFFF", "{", "}", "[", "]", ",", ":", "true",
        ]
        let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in pick(parts, &random) }
        return "\"" + text.joined() + "\""
    }
}
