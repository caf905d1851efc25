/// JSON texts in every form that RFC 8259 allows.
enum RandomJSON {
    static func text(using random: inout TestRandom) -> String {
        space(&random) + value(depth: 0, &random) + space(&random)
    }

    private static func pick<Item>(_ items: [Item], _ random: inout TestRandom) -> Item {
        items[Int.random(in: 0..<items.count, using: &random)]
    }

    private static func space(_ random: inout TestRandom) -> String {
        pick(["", "", "", " ", "\n", "\t ", "\r\n"], &random)
    }

    private static func value(depth: Int, _ random: inout TestRandom) -> String {
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

    private static func number(_ random: inout TestRandom) -> String {
        pick(["", "-"], &random)
            + pick(["0", "7", "10", "9223372036854775807", "123456789"], &random)
            + pick(["", "", ".5", ".0", ".125000"], &random)
            + pick(["", "", "e5", "E-3", "e+0"], &random)
    }

    private static func string(_ random: inout TestRandom) -> String {
        let parts = [
            "a", "Rome", " ", "é", "日本", "😀", "e\u{301}", "👩‍👩‍👧", "\\\"", "\\\\", "\\/", "\\n",
            "\\u00e9", "\\u0000", "\\ud83d\\ude00", "\\uFFFF", "{", "}", "[", "]", ",", ":", "true",
        ]
        let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in pick(parts, &random) }
        return "\"" + text.joined() + "\""
    }
}
