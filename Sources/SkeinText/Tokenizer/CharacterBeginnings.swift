/// Which bytes of a text begin a character, where whatever is not UTF-8 is read as U+FFFD: once for as
/// many bytes as a character might have begun with (Unicode 16.0, section 3.9, "U+FFFD Substitution of
/// Maximal Subparts"), as `UTF8Stream` reads it.
struct CharacterBeginnings: Sendable {
    /// Bytes that the last character still lacks.
    private var lacking = 0
    /// Those that may come next.
    private var next = Self.continuations

    private static let continuations: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the next byte begins a character or stands for one.
    mutating func isBeginning(_ byte: UInt8) -> Bool {
        if lacking > 0, next.contains(byte) {
            lacking -= 1
            next = Self.continuations
            return false
        }
        // Unicode 16.0, table 3-7: well-formed UTF-8.
        switch byte {
        case 0xC2...0xDF: lacking = 1
        case 0xE0...0xEF: lacking = 2
        case 0xF0...0xF4: lacking = 3
        default: lacking = 0
        }
        switch byte {
        case 0xE0: next = 0xA0...0xBF
        case 0xED: next = 0x80...0x9F
        case 0xF0: next = 0x90...0xBF
        case 0xF4: next = 0x80...0x8F
        default: next = Self.continuations
        }
        return true
    }
}
