/// The rarer methods of texts.
extension TemplateInterpreter {
    mutating func callMore(
        _ name: String, of text: TemplateText, _ arguments: Arguments
    ) throws -> TemplateValue {
        let function = "\(name)()"
        switch name {
        case "replace":
            let bound = try bind(arguments, [], function, positionalOnly: 3, required: 2)
            var new = try required(bound[1], name)
            if text.isMarkup { new = try escaped(new) }
            let result = try replaced(text, try required(bound[0], name), by: new, bound[2])
            return .text(result.marked(text.isMarkup))
        case "splitlines":
            _ = try bind(arguments, [], function)
            return .list(try collection(text.lines.map { .text(text.slice($0)) }))
        case "isdigit", "isalpha", "isalnum", "isspace":
            _ = try bind(arguments, [], function)
            try charge(text.bytes.count)
            return .bool(
                !text.isEmpty && text.string.unicodeScalars.allSatisfy { Self.is($0, name) })
        case "join":
            let items = try bind(arguments, [], function, positionalOnly: 1, required: 1)[0]
            var result = TemplateText().marked(text.isMarkup)
            for (index, item) in try self.items(of: items ?? .none).enumerated() {
                if index > 0 { try append(text, to: &result) }
                // Markup takes items of any type.
                let part = text.isMarkup ? try self.text(of: item) : try required(item, name)
                try insert(part, into: &result)
            }
            return .text(result)
        case "rsplit":
            return try splitFromRight(text, arguments)
        default:
            let part = try bind(arguments, [], function, positionalOnly: 1, required: 1)[0]
            return try search(name, text, try required(part, name))
        }
    }

    private mutating func search(
        _ name: String, _ text: TemplateText, _ part: TemplateText
    ) throws -> TemplateValue {
        try charge(part.bytes.count)
        try charge(bytes: text.bytes.count)
        switch name {
        case "removeprefix":
            guard text.hasPrefix(part) else { return .text(text) }
            return .text(text.slice(part.bytes.count..<text.bytes.count))
        case "removesuffix":
            guard text.hasSuffix(part) else { return .text(text) }
            return .text(text.slice(0..<(text.bytes.count - part.bytes.count)))
        case "count":
            if part.isEmpty { return .integer(UTF8Scalars.count(text.bytes) + 1) }
            return .integer(text.split(separator: part, limit: .max).count - 1)
        case "find", "rfind":
            let found = position(of: part, in: text, fromRight: name == "rfind")
            return .integer(found.map { UTF8Scalars.count(Array(text.bytes[..<$0])) } ?? -1)
        case "partition", "rpartition":
            if part.isEmpty { throw fault(.emptySeparator) }
            let isRight = name == "rpartition"
            guard let found = position(of: part, in: text, fromRight: isRight) else {
                let empty = TemplateText().marked(text.isMarkup)
                let parts = [text, empty, empty]
                return .tuple(
                    try collection((isRight ? parts.reversed() : parts).map { .text($0) }))
            }
            let end = found + part.bytes.count
            return .tuple(
                try collection([
                    .text(text.slice(0..<found)), .text(part.marked(text.isMarkup)),
                    .text(text.slice(end..<text.bytes.count)),
                ]))
        default: throw fault(.notCallable(name))
        }
    }

    private func position(
        of part: TemplateText, in text: TemplateText, fromRight: Bool
    ) -> Int? {
        guard fromRight else { return BytePattern(part.bytes).firstMatch(in: text.bytes, from: 0) }
        let reversed = BytePattern(part.bytes.reversed())
            .firstMatch(in: text.bytes.reversed(), from: 0)
        return reversed.map { text.bytes.count - $0 - part.bytes.count }
    }

    /// `text.replace(old, new, count)`
    mutating func replaced(
        _ text: TemplateText, _ old: TemplateText, by new: TemplateText, _ count: TemplateValue?
    ) throws -> TemplateText {
        var limit = Int.max
        if let count, case .some = count.real {
            guard let number = count.number else {
                throw fault(.operand(function: "replace", type: count.typeName))
            }
            if number >= 0 { limit = number }
        }
        try charge(old.bytes.count)
        try charge(bytes: text.bytes.count)
        let parts =
            old.isEmpty
            ? text.gaps(limit: limit)
            : text.split(separator: old, limit: limit)
        var result = TemplateText()
        for (index, range) in parts.enumerated() {
            if index > 0 || (old.isEmpty && limit > 0) { try append(new, to: &result) }
            try append(text.slice(range), to: &result)
        }
        return result
    }

    private mutating func splitFromRight(
        _ text: TemplateText, _ arguments: Arguments
    ) throws -> TemplateValue {
        let bound = try bind(arguments, ["sep", "maxsplit"], "rsplit()")
        guard let separator = try optionalText(bound[0], for: "rsplit") else {
            throw unsupported("rsplit without a separator")
        }
        if separator.isEmpty { throw fault(.emptySeparator) }
        try charge(separator.bytes.count)
        try charge(bytes: text.bytes.count)
        let limit = bound[1]?.number ?? -1
        let most = limit < 0 ? TemplateLimits.items : limit
        let end = text.bytes.count
        let reversed = TemplateText.reversedSplit(
            text.bytes, separator: separator.bytes, limit: most)
        let parts = reversed.reversed().map { (end - $0.upperBound)..<(end - $0.lowerBound) }
        return .list(try collection(parts.map { .text(text.slice($0)) }))
    }

    func required(_ value: TemplateValue?, _ function: String) throws -> TemplateText {
        guard case .text(let text)? = value else {
            throw fault(.operand(function: function, type: value?.typeName ?? "nothing"))
        }
        return text
    }

    /// Asks Swift's tables: texts that are trained on depend on them.
    private static func `is`(_ scalar: Unicode.Scalar, _ name: String) -> Bool {
        let isLetter =
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                .otherLetter:
                true
            default: false
            }
        let isDigit =
            scalar.properties.numericType == .decimal || scalar.properties.numericType == .digit
        switch name {
        case "isdigit": return isDigit
        case "isalpha": return isLetter
        case "isspace": return UTF8Scalars.isSpace(scalar.value)
        default: return isLetter || isDigit || scalar.properties.numericType != nil
        }
    }
}

extension TemplateText {
    /// `str.splitlines()` without line ends.
    var lines: [Range<Int>] {
        var lines: [Range<Int>] = []
        var (start, position) = (0, 0)
        while position < bytes.count {
            let end = position + UTF8Scalars.length(lead: bytes[position])
            switch UTF8Scalars.value(position, end, in: bytes) {
            case 0x0A...0x0D, 0x1C...0x1E, 0x85, 0x2028, 0x2029:
                lines.append(start..<position)
                let isPair =
                    bytes[position] == .carriageReturn && end < bytes.count
                    && bytes[end] == .newline
                position = isPair ? end + 1 : end
                start = position
            default: position = end
            }
        }
        if start < bytes.count { lines.append(start..<bytes.count) }
        return lines
    }

    /// The code points, each alone, as `replace("", new)` sees them: `new` goes before each one and
    /// at the end, at most `limit` times.
    func gaps(limit: Int) -> [Range<Int>] {
        var ranges = scalarRanges + [bytes.count..<bytes.count]
        if ranges.count > limit {
            let rest = max(limit - 1, 0)
            ranges = Array(ranges[..<rest]) + [ranges[rest].lowerBound..<bytes.count]
        }
        return ranges
    }

    /// The parts of the reversed bytes between reversed separators.
    static func reversedSplit(_ bytes: [UInt8], separator: [UInt8], limit: Int) -> [Range<Int>] {
        let reversed = Array(bytes.reversed())
        let pattern = BytePattern(Array(separator.reversed()))
        var parts: [Range<Int>] = []
        var start = 0
        while parts.count < limit, let found = pattern.firstMatch(in: reversed, from: start) {
            parts.append(start..<found)
            start = found + separator.count
        }
        parts.append(start..<reversed.count)
        return parts
    }

    /// `str.capitalize`
    func capitalized() -> TemplateText {
        guard let first = string.unicodeScalars.first else { return self }
        let rest = TemplateText(String(string.unicodeScalars.dropFirst())).lowercased()
        return TemplateText(
            bytes: Array(first.properties.titlecaseMapping.utf8) + rest.bytes)
    }

    /// `str.title`: a cased letter after one that is not cased begins a word.
    func titled() -> TemplateText {
        var result = ""
        var isInWord = false
        for scalar in string.unicodeScalars {
            result +=
                isInWord
                ? scalar.properties.lowercaseMapping : scalar.properties.titlecaseMapping
            isInWord = scalar.properties.isCased
        }
        return TemplateText(result)
    }
}
