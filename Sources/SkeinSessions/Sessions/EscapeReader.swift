/// Reads JSON text as people read it: escapes inside of strings become the characters that they stand
/// for. Checks look at what is meant, not at how it is spelled.
struct EscapeReader {
    private enum Place {
        case outside, inside, escape
        /// Hexadecimal digits of `\u`, so far.
        case code(digits: Int, value: UInt32)
    }

    private var place = Place.outside
    /// The first half of a surrogate pair.
    private var high: UInt32?

    /// The next piece of the text; an escape may be cut anywhere.
    mutating func read(_ piece: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in piece.unicodeScalars { read(scalar, into: &out) }
        return String(out)
    }

    private mutating func read(_ scalar: Unicode.Scalar, into out: inout String.UnicodeScalarView) {
        switch place {
        case .outside:
            if scalar == "\"" { place = .inside }
            out.append(scalar)
        case .inside:
            if scalar == "\\" {
                place = .escape
                return
            }
            high = nil
            if scalar == "\"" { place = .outside }
            out.append(scalar)
        case .escape:
            if scalar == "u" {
                place = .code(digits: 0, value: 0)
                return
            }
            high = nil
            place = .inside
            switch scalar {
            case "n": out.append("\n")
            case "r": out.append("\r")
            case "t": out.append("\t")
            case "b": out.append("\u{8}")
            case "f": out.append("\u{C}")
            default: out.append(scalar)
            }
        case .code(let digits, let value):
            let next = value << 4 | UInt32(Character(scalar).hexDigitValue ?? 0)
            if digits < 3 {
                place = .code(digits: digits + 1, value: next)
                return
            }
            place = .inside
            append(next, to: &out)
        }
    }

    private mutating func append(_ code: UInt32, to out: inout String.UnicodeScalarView) {
        if (0xD800..<0xDC00).contains(code) {
            high = code
            return
        }
        defer { high = nil }
        if (0xDC00..<0xE000).contains(code) {
            guard let high else { return }
            let joined = 0x10000 + ((high - 0xD800) << 10 | (code - 0xDC00))
            if let scalar = Unicode.Scalar(joined) { out.append(scalar) }
        } else if let scalar = Unicode.Scalar(code) {
            out.append(scalar)
        }
    }
}
