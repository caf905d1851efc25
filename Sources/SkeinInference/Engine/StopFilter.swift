/// Cuts a text before the first of the texts that end it, however it comes in pieces: what may be
/// the beginning of one is held back until that is known.
///
/// The stop that is complete first ends the text; of those that a byte completes, the longest. Each byte
/// takes each stop's automaton (Knuth, Morris and Pratt) one step further, so the time grows with the
/// text and the number of stops, not with their lengths.
struct StopFilter: Sendable {
    private struct Stop: Sendable {
        let bytes: [UInt8]
        /// How much of the stop is still matched where its first i + 1 bytes go on otherwise.
        let fallback: [Int]
        /// How many of its bytes the text ends with.
        var matched = 0

        init(_ text: String) {
            bytes = Array(text.utf8)
            var fallback = [0]
            for byte in bytes.dropFirst() {
                var length = fallback[fallback.count - 1]
                while length > 0, bytes[length] != byte { length = fallback[length - 1] }
                fallback.append(bytes[length] == byte ? length + 1 : 0)
            }
            self.fallback = fallback
        }

        /// Whether the stop is complete with this byte.
        mutating func take(_ byte: UInt8) -> Bool {
            while matched > 0, bytes[matched] != byte { matched = fallback[matched - 1] }
            if bytes[matched] == byte { matched += 1 }
            return matched == bytes.count
        }
    }

    private var stops: [Stop]
    private var held: [UInt8] = []
    private(set) var isStopped = false

    /// `stops`: none is empty.
    init(_ stops: [String]) {
        self.stops = stops.map { Stop($0) }
    }

    /// The text that may be shown after `text` has come; nothing once it is stopped.
    mutating func take(_ text: String) -> String {
        if isStopped { return "" }
        if stops.isEmpty { return text }
        for byte in text.utf8 {
            held.append(byte)
            var longest = 0
            for index in stops.indices where stops[index].take(byte) {
                longest = max(longest, stops[index].bytes.count)
            }
            if longest > 0 {
                isStopped = true
                defer { held = [] }
                return String(decoding: held.dropLast(longest), as: UTF8.self)
            }
        }
        let shown = held.count - stops.reduce(0) { max($0, $1.matched) }
        defer { held.removeFirst(shown) }
        return String(decoding: held[..<shown], as: UTF8.self)
    }

    /// What was held back, when no more comes.
    mutating func rest() -> String {
        defer { held = [] }
        return String(decoding: held, as: UTF8.self)
    }
}
