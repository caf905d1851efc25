/// Where texts and patterns end.
extension Lexer {
    /// - Parameters:
    ///   - quote: the place of the first quote.
    ///   - hashes: how many stand before it.
    ///   - depth: how many texts this one stands in.
    /// - Returns: the place behind the last quote and its hashes; where that is missing, the end of
    ///   the line, or of the source for a text of several lines.
    mutating func endOfText(_ quote: Int, hashes: Int, depth: Int) -> Int {
        guard depth < MacroLimits.textDepth else {
            if tooDeep == nil { tooDeep = quote }
            return bytes.count
        }
        let isLong = beginsLongText(quote, hashes: hashes)
        let quotes = isLong ? 3 : 1
        var place = quote + quotes
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                if run(of: "\"", at: place, limit: quotes) == quotes,
                    run(of: "#", at: place + quotes, limit: hashes) == hashes
                {
                    return place + quotes + hashes
                }
                place += 1
            case UInt8(ascii: "\\") where run(of: "#", at: place + 1, limit: hashes) == hashes:
                place += 1 + hashes
                if byte(place) == UInt8(ascii: "(") {
                    place = endOfInterpolation(place, depth: depth)
                } else if isLong || (byte(place) != 0x0A && byte(place) != 0x0D) {
                    place += 1
                }
            case 0x0A where !isLong, 0x0D where !isLong:
                return place
            default: place += 1
            }
        }
        return bytes.count
    }

    /// Three quotes begin a text of several lines, but for `#"""#`, which is a quote.
    private func beginsLongText(_ quote: Int, hashes: Int) -> Bool {
        guard run(of: "\"", at: quote, limit: 3) == 3 else { return false }
        guard hashes > 0 else { return true }
        var place = quote + 1
        while place < bytes.count, bytes[place] != 0x0A, bytes[place] != 0x0D {
            if bytes[place] == UInt8(ascii: "\""),
                run(of: "#", at: place + 1, limit: hashes) == hashes
            {
                return false
            }
            place += 1
        }
        return true
    }

    /// The place behind the closing parenthesis of the one that opens here.
    private mutating func endOfInterpolation(_ parenthesis: Int, depth: Int) -> Int {
        var place = parenthesis + 1
        var open = 1
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "("):
                open += 1
                place += 1
            case UInt8(ascii: ")"):
                open -= 1
                place += 1
                if open == 0 { return place }
            case UInt8(ascii: "\""):
                place = endOfText(place, hashes: 0, depth: depth + 1)
            case UInt8(ascii: "#"):
                let hashes = run(of: "#", at: place)
                place += hashes
                if byte(place) == UInt8(ascii: "\"") {
                    place = endOfText(place, hashes: hashes, depth: depth + 1)
                }
            case UInt8(ascii: "/") where byte(place + 1) == UInt8(ascii: "*"):
                place = endOfComment(place)
            default: place += 1
            }
        }
        return bytes.count
    }

    /// - Parameters:
    ///   - slash: the place of the first one.
    ///   - hashes: how many stand before it.
    /// - Returns: the place behind the last slash and its hashes, or nil if this is no pattern:
    ///   one without hashes stands on one line and neither begins nor ends with space.
    func endOfPattern(_ slash: Int, hashes: Int) -> Int? {
        var place = slash + 1
        if hashes == 0, [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "/")].contains(byte(place)) {
            return nil
        }
        let isLong = hashes > 0 && [0x0A, 0x0D].contains(byte(place))
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\\"): place += 1
            case UInt8(ascii: "/"):
                guard run(of: "#", at: place + 1, limit: hashes) == hashes else { break }
                if hashes == 0, [0x20, 0x09].contains(bytes[place - 1]) { return nil }
                return place + 1 + hashes
            case 0x0A where !isLong, 0x0D where !isLong: return nil
            default: break
            }
            place += 1
        }
        return isLong ? bytes.count : nil
    }
}
