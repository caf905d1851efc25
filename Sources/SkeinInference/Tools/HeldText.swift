import SkeinText

/// Text on its way to the client, of which the end is held back while it may still become a call's
/// marker, and white space while a call may come after it.
struct HeldText: Sendable {
    private var stream: TokenText
    private var held: [UInt8] = []

    init(_ tokenizer: Tokenizer) {
        stream = TokenText(tokenizer, skippingSpecialTokens: true)
    }

    mutating func add(_ token: Int32) { held += stream.text(of: token).utf8 }

    /// The text that no longer needs to be held; `matched` bytes at its end may become a marker.
    /// `keepsSpace`: a call may come, before which white space is dropped.
    mutating func free(holding matched: Int, keepsSpace: Bool = true) -> String {
        var end = max(0, held.count - matched)
        if keepsSpace {
            let space = held[..<end].reversed().prefix { $0 == 0x20 || 0x09...0x0D ~= $0 }.count
            end -= min(space, ToolLimits.heldSpace)
        }
        // Bytes that are still on their way may have counted as part of a marker.
        while end > 0, end < held.count, held[end] & 0xC0 == 0x80 { end -= 1 }
        defer { held.removeFirst(end) }
        return String(decoding: held[..<end], as: UTF8.self)
    }

    /// The text before a marker that has just been completed, without white space at its end.
    mutating func textBefore(_ marker: some Collection<UInt8>) -> String {
        held += stream.rest().utf8
        // A tokenizer's special token is no text.
        if held.suffix(marker.count).elementsEqual(marker) { held.removeLast(marker.count) }
        let text = free(holding: 0)
        held = []
        return text
    }

    /// All that is held.
    mutating func rest() -> String {
        held += stream.rest().utf8
        defer { held = [] }
        return String(decoding: held, as: UTF8.self)
    }

    /// Forgets what is held.
    mutating func drop() {
        _ = stream.rest()
        held = []
    }
}
