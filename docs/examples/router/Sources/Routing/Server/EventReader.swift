/// Reads a stream of server-sent events, in pieces that may end anywhere: the `data` of each event, as the
/// HTML standard (9.2.6) puts it together. What ends without an empty line is no event.
package struct EventReader {
    /// Bytes of an event, and of a line.
    package let limit: Int
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var lastWasReturn = false
    private var isFirstLine = true

    package init(limit: Int = 1 << 20) {
        self.limit = limit
    }

    /// - Throws: `ProviderFailure.malformed` for a line or an event beyond the limit, or one that is not UTF-8.
    package mutating func read(_ bytes: some Collection<UInt8>) throws(ProviderFailure) -> [String]
    {
        var events: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            let piece = rest[..<(end ?? rest.endIndex)]
            guard line.count + piece.count <= limit else {
                throw .malformed("a line of more than \(limit) bytes")
            }
            line += piece
            guard let end else {
                lastWasReturn = false
                break
            }
            // The second half of an end of line of two bytes.
            let isHalf =
                piece.isEmpty && lastWasReturn && rest[end] == UInt8(ascii: "\n")
            if !isHalf, let event = try endLine() { events.append(event) }
            lastWasReturn = rest[end] == UInt8(ascii: "\r")
            rest = rest[rest.index(after: end)...]
        }
        return events
    }

    private mutating func endLine() throws(ProviderFailure) -> String? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else {
            defer {
                data.removeAll(keepingCapacity: true)
                hasData = false
            }
            guard hasData else { return nil }
            guard let text = String(validating: data, as: UTF8.self) else {
                throw .malformed("an event that is not UTF-8")
            }
            return text
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        guard line[..<colon].elementsEqual("data".utf8) else { return nil }
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        guard data.count + value.count < limit else {
            throw .malformed("an event of more than \(limit) bytes")
        }
        if hasData { data.append(UInt8(ascii: "\n")) }
        data += value
        hasData = true
        return nil
    }
}
