import SkeinBasics
import SkeinJSON

/// Puts a child's name before each of its lines, however the bytes are split. Pure.
package struct LinePrefixer: Sendable {
    /// A longer line is passed on in pieces, which limits the memory for a child's endless line.
    static let longestLine = 1 << 16

    private let name: String
    private let format: Log.Format
    private var partial: [UInt8] = []

    package init(name: String, format: Log.Format) {
        self.name = name
        self.format = format
    }

    /// A child's line, as received and as shown.
    package struct Line: Sendable, Equatable {
        /// Without the line break.
        package var text: String
        /// With the name, and a line break.
        var shown: String
    }

    /// The lines that `bytes` complete.
    package mutating func lines(of bytes: some Sequence<UInt8>) -> [Line] {
        var lines: [Line] = []
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                partial.append(byte)
                if partial.count < Self.longestLine { continue }
            }
            lines.append(take())
        }
        return lines
    }

    /// A last line that has no line break.
    mutating func rest() -> Line? {
        partial.isEmpty ? nil : take()
    }

    private mutating func take() -> Line {
        if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
        let text = String(decoding: partial, as: UTF8.self)
        partial.removeAll(keepingCapacity: true)
        return Line(text: text, shown: shown(text))
    }

    private func shown(_ text: String) -> String {
        switch format {
        case .text: return "[\(name)] \(text)\n"
        case .json:
            let from = JSONValue.quoted("from") + ":" + JSONValue.quoted(name)
            // An object gets one more field; anything else, such as a crash report, becomes one.
            if text.hasPrefix("{\""), text.hasSuffix("}") {
                return "{" + from + "," + text.dropFirst() + "\n"
            }
            return JSONValue.fields([
                ("from", .text(name)), ("level", .text("info")), ("message", .text(text)),
            ]).written + "\n"
        }
    }
}
