/// The rarer filters: on numbers, on the order of items, on the words of a text.
extension TemplateInterpreter {
    mutating func filterMore(
        _ name: String, _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        switch name {
        case "replace":
            let bound = try bind(arguments, ["old", "new", "count"], name, required: 2)
            return .text(
                try replaced(
                    try text(of: value), try text(of: bound[0] ?? .none),
                    by: try text(of: bound[1] ?? .none), bound[2]))
        case "indent": return .text(try indented(try text(of: value), arguments))
        case "title":
            let text = try text(of: value)
            try charge(text.bytes.count)
            return .text(text.titledWords())
        case "escape", "e": return .text(try escaped(try text(of: value)))
        case "format":
            let format = try text(of: value)
            guard arguments.keywords.isEmpty else { throw unsupported("format with names") }
            return .text(
                try formatted(format, by: .tuple(try collection(arguments.positional))))
        case "wordcount":
            let text = try text(of: value)
            try charge(text.bytes.count)
            return .integer(PythonText.wordCount(String(decoding: text.bytes, as: UTF8.self)))
        case "map": return try map(value, arguments)
        case "sort", "unique", "min", "max": return try ordered(name, value, arguments)
        case "dictsort": return try dictSorted(value, arguments)
        case "reverse":
            if case .text(let text) = value {
                return .text(try reversed(text))
            }
            return generator(try items(of: value).reversed())
        case "sum": return try sum(value, arguments)
        case "batch": return try batch(value, arguments)
        case "attr":
            let name = try required(
                try bind(arguments, ["name"], "attr", required: 1)[0], "attr")
            // `attr` looks at attributes alone, and a dict has none but its methods.
            if case .mapping = value {
                return .undefined(hint: "'dict object' has no attribute '\(name.string)'")
            }
            return try attribute(name.string, of: value)
        default: return try number(name, value, arguments)
        }
    }

    // MARK: - Numbers

    private mutating func number(
        _ name: String, _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        if case .undefined(let hint) = value { throw undefined(hint) }
        switch name {
        case "abs":
            if case .float(let number) = value { return .float(number.magnitude) }
            guard let number = value.number, number != .min else {
                throw fault(.operand(function: name, type: value.typeName))
            }
            return .integer(abs(number))
        case "round":
            let bound = try bind(arguments, ["precision", "method"], name)
            return try rounded(value, precision: bound[0]?.number ?? 0, bound[1])
        case "int":
            let bound = try bind(arguments, ["default", "base"], name)
            if bound[1] != nil { throw unsupported("int with a base") }
            if case .longInteger = value { return value }
            if let number = value.number { return .integer(number) }
            let real = value.real ?? Self.double(value)
            if case .text(let text) = value, let whole = Int(Self.trimmed(text)) {
                return .integer(whole)
            }
            guard let real, let whole = Int(exactly: real.rounded(.towardZero)) else {
                return bound[0] ?? .integer(0)
            }
            return .integer(whole)
        case "float":
            let bound = try bind(arguments, ["default"], name)
            return (value.real ?? Self.double(value)).map { .float($0) } ?? bound[0] ?? .float(0)
        default:
            throw unsupported("the filter \"\(TemplateError.excerpt(name))\"")
        }
    }

    private static func trimmed(_ text: TemplateText) -> String {
        text.bytes.count > 64 ? "" : text.stripped(.both, characters: nil).string
    }

    private static func double(_ value: TemplateValue) -> Double? {
        guard case .text(let text) = value else { return nil }
        return Double(trimmed(text))
    }

    private func rounded(
        _ value: TemplateValue, precision: Int, _ method: TemplateValue?
    ) throws -> TemplateValue {
        var way = "common"
        if let method { way = try required(method, "round").string }
        guard let number = value.real, (0...15).contains(precision) else {
            throw fault(.operand(function: "round", type: value.typeName))
        }
        let scale = (0..<precision).reduce(1.0) { power, _ in power * 10 }
        switch way {
        case "common":
            if let whole = value.number { return .integer(whole) }
            return .float((number * scale).rounded(.toNearestOrEven) / scale)
        case "ceil": return .float((number * scale).rounded(.up) / scale)
        case "floor": return .float((number * scale).rounded(.down) / scale)
        default: throw fault(.arguments(function: "round"))
        }
    }

    private mutating func sum(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        let bound = try bind(arguments, ["attribute", "start"], "sum")
        let attribute = try optionalText(bound[0], for: "sum")
        var total = bound[1] ?? .integer(0)
        let items = try items(of: value)
        try charge(items.count)
        // As in Python, where join is the way to do this.
        if case .text = total { throw fault(.operand(function: "sum", type: "str")) }
        for item in items {
            let part = try attribute.map { try descend($0, into: item) } ?? item
            total = try combine(total, .add, part)
        }
        return total
    }

    // MARK: - Texts

    private mutating func indented(
        _ text: TemplateText, _ arguments: Arguments
    ) throws -> TemplateText {
        let bound = try bind(arguments, ["width", "first", "blank"], "indent")
        var margin = TemplateText("    ")
        if let width = bound[0] {
            if case .text(let given) = width {
                margin = given
            } else {
                guard let count = width.number, count <= 64 else {
                    throw unsupported("this width of indent")
                }
                margin = TemplateText(String(repeating: " ", count: max(0, count)))
            }
        }
        if margin.isMarkup, !text.isMarkup { throw unsupported("indent by a safe text") }
        try charge(bytes: text.bytes.count)
        var result = bound[1]?.isTrue == true ? margin : TemplateText()
        result.isMarkup = text.isMarkup
        var lines = text.lines
        // A newline at the end begins an empty line.
        if text.bytes.last == .newline || text.isEmpty {
            lines.append(text.bytes.count..<text.bytes.count)
        }
        for (index, line) in lines.enumerated() {
            if index > 0 {
                try append(TemplateText("\n"), to: &result)
                if !line.isEmpty || bound[2]?.isTrue == true { try append(margin, to: &result) }
            }
            try append(text.slice(line), to: &result)
        }
        return result
    }

    /// The characters that HTML gives a meaning, as entities; HTML stays as it is.
    mutating func escaped(_ text: TemplateText) throws -> TemplateText {
        if text.isMarkup { return text }
        var result = text
        for (old, new) in [
            ("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ("\"", "&#34;"),
        ] {
            result = try replaced(result, TemplateText(old), by: TemplateText(new), nil)
        }
        return result.marked(true)
    }

    /// Appends `text`, escaped if `result` is HTML and it is not.
    mutating func insert(_ text: TemplateText, into result: inout TemplateText) throws {
        try append(result.isMarkup ? try escaped(text) : text, to: &result)
    }

    private mutating func reversed(_ text: TemplateText) throws -> TemplateText {
        try charge(text.bytes.count)
        var result = TemplateText().marked(text.isMarkup)
        for range in text.scalarRanges.reversed() { result.append(text.slice(range)) }
        return result
    }

    // MARK: - Items

    /// `map(attribute='a', default=x)`, `map('filter', arguments)`
    private mutating func map(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        guard value.isTrue else { return generator([]) }
        var results: [TemplateValue] = []
        if arguments.positional.isEmpty {
            let bound = try bind(arguments, ["attribute", "default"], "map", required: 1)
            let path = try text(of: bound[0] ?? .none)
            for item in try items(of: value) {
                let found = try descend(path, into: item)
                if case .undefined = found, let other = bound[1] {
                    results.append(other)
                } else {
                    results.append(found)
                }
            }
        } else {
            let name = try required(arguments.positional[0], "map").string
            guard TemplateVocabulary.filters.contains(name) else {
                throw unsupported("the filter \"\(TemplateError.excerpt(name))\"")
            }
            // It would go as deep as it has names.
            guard name != "map" else { throw unsupported("map of map") }
            var rest = arguments
            rest.positional.removeFirst()
            for item in try items(of: value) {
                try charge(1 + rest.positional.count)
                results.append(try concrete(filter(name, item, rest)))
            }
        }
        return generator(results)
    }

    private mutating func ordered(
        _ name: String, _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        let isSort = name == "sort"
        let bound = try bind(
            arguments, (isSort ? ["reverse"] : []) + ["case_sensitive", "attribute"], name)
        let isExact = bound[isSort ? 1 : 0]?.isTrue == true
        let attribute = try optionalText(bound[isSort ? 2 : 1], for: name)
        let items = try items(of: value)
        try charge(items.count)
        var keys: [TemplateValue] = []
        for item in items {
            let key = try attribute.map { try descend($0, into: item) } ?? item
            keys.append(isExact ? key : try folded(key))
        }
        switch name {
        case "sort":
            let isReversed = bound[0]?.isTrue == true
            let order = try order(of: keys, isReversed: isReversed)
            return .list(try collection(order.map { items[$0] }))
        case "unique":
            var kept: [Int] = []
            for index in items.indices {
                var isNew = true
                for other in kept where try equals(keys[other], keys[index]) { isNew = false }
                if isNew { kept.append(index) }
            }
            return generator(kept.map { items[$0] })
        default:
            guard var best = items.indices.first else {
                return .undefined(hint: "No aggregated item, sequence was empty.")
            }
            for index in items.indices.dropFirst() {
                let isBetter =
                    name == "min"
                    ? try precedes(keys[index], keys[best], .less)
                    : try precedes(keys[best], keys[index], .greater)
                if isBetter { best = index }
            }
            return items[best]
        }
    }

    private mutating func dictSorted(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        let bound = try bind(arguments, ["case_sensitive", "by", "reverse"], "dictsort")
        guard case .mapping(let mapping) = value else {
            if case .undefined(let hint) = value { throw undefined(hint) }
            throw fault(.operand(function: "dictsort", type: value.typeName))
        }
        let by = try bound[1].map { try required($0, "dictsort").string } ?? "key"
        guard by == "key" || by == "value" else { throw fault(.arguments(function: "dictsort")) }
        var keys: [TemplateValue] = by == "key" ? mapping.keyValues : mapping.values
        if bound[0]?.isTrue != true { keys = try keys.map { try folded($0) } }
        let pairs = try pairs(of: mapping)
        let order = try order(of: keys, isReversed: bound[2]?.isTrue == true)
        return .list(try collection(order.map { pairs[$0] }))
    }

    /// A text in lower case, anything else as it is.
    private mutating func folded(_ key: TemplateValue) throws -> TemplateValue {
        guard case .text(let text) = key else { return key }
        return .text(try recased(text, "lower"))
    }

    /// The positions of `keys` in ascending order; equal ones stay in theirs, reversed or not.
    private mutating func order(of keys: [TemplateValue], isReversed: Bool) throws -> [Int] {
        var failure: (any Error)?
        let order = keys.indices.sorted { first, second in
            guard failure == nil else { return first < second }
            do {
                let (low, high) = isReversed ? (second, first) : (first, second)
                if try precedes(keys[low], keys[high], .less) { return true }
                if try precedes(keys[high], keys[low], .less) { return false }
            } catch {
                failure = error
            }
            return first < second
        }
        if let failure { throw failure }
        return order
    }

    private mutating func batch(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        let bound = try bind(arguments, ["linecount", "fill_with"], "batch", required: 1)
        guard let size = bound[0]?.number, size > 0 else {
            throw fault(.arguments(function: "batch"))
        }
        var batches: [TemplateValue] = []
        var rest = try items(of: value)[...]
        while !rest.isEmpty {
            var part = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            if let filler = bound[1], part.count < size, size <= TemplateLimits.items {
                part += [TemplateValue](repeating: filler, count: size - part.count)
            }
            batches.append(.list(try collection(part)))
        }
        return generator(batches)
    }
}

extension TemplateText {
    /// Jinja's `title`: words begin after white space, "-" and opening brackets.
    func titledWords() -> TemplateText {
        var result = ""
        var isInWord = false
        for scalar in string.unicodeScalars {
            let isBreak =
                UTF8Scalars.isSpace(scalar.value) || "-([{<".unicodeScalars.contains(scalar)
            result +=
                isInWord && !isBreak
                ? scalar.properties.lowercaseMapping : scalar.properties.uppercaseMapping
            isInWord = !isBreak
        }
        return TemplateText(result)
    }
}
