import SkeinBasics

/// Text on a terminal: how many columns it takes, and what of it may be shown.
enum TerminalText {
    /// Columns of a text without control characters.
    static func columns(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + columns($1) }
    }

    /// The beginning of `text` in at most `limit` columns.
    static func prefix(_ text: String, columns limit: Int) -> String {
        var kept = String.UnicodeScalarView()
        var used = 0
        for scalar in text.unicodeScalars {
            used += columns(scalar)
            if used > limit { break }
            kept.append(scalar)
        }
        return String(kept)
    }

    /// `text`, at most `limit` columns wide, with a mark where it was cut.
    static func cut(_ text: String, columns limit: Int, mark: String) -> String {
        let start = text.prefix(max(0, limit) + 1)
        if start.endIndex == text.endIndex, columns(start) <= limit { return text }
        let room = limit - columns(mark)
        return room < 1
            ? prefix(text, columns: limit) : prefix(String(start), columns: room) + mark
    }

    /// `text` without anything that a terminal would obey or that has no width of its own: such
    /// characters, also marks that turn the direction of writing, become question marks.
    static func printable(_ text: String, limit: Int = 1000) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .spacingMark:
                // Terminals do not agree on the width of stacks of marks.
                continue
            default: kept.append(scalar.isVisible ? scalar : "?")
            }
        }
        return String(kept)
    }

    /// As xterm and the C library have it: wide for East Asian wide and full-width forms and emoji.
    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        if scalar.properties.generalCategory == .nonspacingMark { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
        0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
        0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
        0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
        0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
        0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
        0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18AFF, 0x1B000...0x1B2FB,
        0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A,
        0x1F200...0x1F320, 0x1F32D...0x1F64F, 0x1F680...0x1F6FF, 0x1F7E0...0x1F7EB,
        0x1F90C...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
