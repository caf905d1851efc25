/// What of a request's schemas its answers are not held to.
struct DroppedParts: Sendable, Equatable {
    /// The first of them, by their places in the request, such as
    /// `response_format.json_schema.schema#/properties/a/not`.
    var places: [String] = []
    /// How many there are.
    var count = 0

    static func + (left: DroppedParts, right: DroppedParts) -> DroppedParts {
        DroppedParts(places: left.places + right.places, count: left.count + right.count)
    }

    /// The header that names them, as many as fit; nil if there is nothing to name. What is no visible
    /// ASCII character is percent-encoded.
    var header: (name: String, value: String)? {
        guard !places.isEmpty else { return nil }
        var value = ""
        var shown = 0
        for place in places {
            let text = place.utf8.map { byte in
                byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: ",")
                    ? String(UnicodeScalar(byte))
                    : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined()
            guard value.utf8.count + text.utf8.count <= Limits.droppedBytes else { break }
            value += (value.isEmpty ? "" : ", ") + text
            shown += 1
        }
        if shown < count {
            value +=
                "\(value.isEmpty ? "" : ", and ")\(count - shown) \(shown == 0 ? "parts" : "more")"
        }
        return ("X-Skein-Dropped", value)
    }
}
