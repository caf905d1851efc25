/// Cuts a text before the first of the texts that end it, however it comes in pieces: what may be
/// the beginning of one is held back until that is known.
struct StopFilter: Sendable {
    private let stops: [[UInt8]]
    private var held: [UInt8] = []
    private(set) var isStopped = false

    /// `stops`: none is empty.
    init(_ stops: [String]) {
        self.stops = stops.map { Array($0.utf8) }
    }

    /// The text that may be shown after `text` has come; nothing once it is stopped.
    mutating func take(_ text: String) -> String {
        if isStopped { return "" }
        if stops.isEmpty { return text }
        held += Array(text.utf8)
        if let end = firstStop() {
            isStopped = true
            defer { held = [] }
            return String(decoding: held[..<end], as: UTF8.self)
        }
        let shown = held.count - heldBack()
        defer { held.removeFirst(shown) }
        return String(decoding: held[..<shown], as: UTF8.self)
    }

    /// What was held back, when no more comes.
    mutating func rest() -> String {
        defer { held = [] }
        return String(decoding: held, as: UTF8.self)
    }

    private func firstStop() -> Int? {
        stops.compactMap { stop -> Int? in
            guard held.count >= stop.count else { return nil }
            return (0...(held.count - stop.count)).first { held[$0...].starts(with: stop) }
        }.min()
    }

    /// Bytes of the longest end that is the beginning of a stop.
    private func heldBack() -> Int {
        stops.reduce(0) { most, stop in
            let longest = min(stop.count - 1, held.count)
            guard longest > most else { return most }
            return (most + 1...longest).last { held.suffix($0).elementsEqual(stop.prefix($0)) }
                ?? most
        }
    }
}
