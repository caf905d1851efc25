import SkeinText

/// Follows the JSON of one call, byte by byte: `{"name": "...", "arguments": {...}}`.
///
/// The grammar has made sure of the form; this finds the parts.
struct CallReader: Sendable {
    private enum Place {
        /// Before the name's text: so many quotes are still to come.
        case beforeName(quotes: Int)
        case name
        case beforeArguments
        case arguments(depth: Int, inText: Bool, escaped: Bool)
        /// After the arguments.
        case done
        /// After the call.
        case complete
    }

    private var place = Place.beforeName(quotes: 3)
    private var nameBytes: [UInt8] = []
    private var pieces = UTF8Stream()
    /// Bytes so far.
    private(set) var count = 0

    /// Whether the call's last byte was read.
    var isComplete: Bool {
        if case .complete = place { return true }
        return false
    }

    /// What more bytes say: the name, when it is complete, and the text of arguments.
    mutating func read(_ bytes: some Sequence<UInt8>) -> (name: String?, arguments: String) {
        var name: String?
        var arguments: [UInt8] = []
        for byte in bytes {
            count += 1
            switch place {
            case .beforeName(let quotes):
                guard byte == UInt8(ascii: "\"") else { continue }
                place = quotes == 1 ? .name : .beforeName(quotes: quotes - 1)
            case .name:
                if byte == UInt8(ascii: "\"") {
                    name = String(decoding: nameBytes, as: UTF8.self)
                    place = .beforeArguments
                } else {
                    nameBytes.append(byte)
                }
            case .beforeArguments:
                guard byte == UInt8(ascii: "{") else { continue }
                arguments.append(byte)
                place = .arguments(depth: 1, inText: false, escaped: false)
            case .arguments(let depth, let inText, let escaped):
                arguments.append(byte)
                place = Self.next(byte, depth, inText, escaped)
            case .done: if byte == UInt8(ascii: "}") { place = .complete }
            case .complete: break
            }
        }
        return (name, pieces.text(of: arguments))
    }

    private static func next(
        _ byte: UInt8, _ depth: Int, _ inText: Bool, _ escaped: Bool
    ) -> Place {
        if inText {
            if escaped { return .arguments(depth: depth, inText: true, escaped: false) }
            return .arguments(
                depth: depth, inText: byte != UInt8(ascii: "\""),
                escaped: byte == UInt8(ascii: "\\"))
        }
        switch byte {
        case UInt8(ascii: "\""): return .arguments(depth: depth, inText: true, escaped: false)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return .arguments(depth: depth + 1, inText: false, escaped: false)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 1 { return .done }
            return .arguments(depth: depth - 1, inText: false, escaped: false)
        default: return .arguments(depth: depth, inText: false, escaped: false)
        }
    }
}
