/// Python's two ways to put values into a text; HTML gets them escaped. Widths and precisions are not
/// supported.
extension TemplateInterpreter {
    /// `text.format(arguments)`: `{}`, `{0}` and `{name}`; `{{` and `}}` are braces.
    mutating func formatted(
        _ format: TemplateText, _ arguments: Arguments
    ) throws -> TemplateText {
        var result = TemplateText().marked(format.isMarkup)
        var (start, index, next) = (0, 0, 0)
        let bytes = format.bytes
        let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        while index < bytes.count {
            guard bytes[index] == open || bytes[index] == close else {
                index += 1
                continue
            }
            try append(format.slice(start..<index), to: &result)
            if index + 1 < bytes.count, bytes[index + 1] == bytes[index] {
                try append(format.slice(index..<(index + 1)), to: &result)
                index += 2
            } else {
                guard bytes[index] == open, let end = bytes[index...].firstIndex(of: close) else {
                    throw fault(.arguments(function: "format()"))
                }
                let field = format.slice((index + 1)..<end).string
                try insert(try text(of: value(of: field, &next, arguments)), into: &result)
                index = end + 1
            }
            start = index
        }
        try append(format.slice(start..<bytes.count), to: &result)
        return result
    }

    private func value(
        of field: String, _ next: inout Int, _ arguments: Arguments
    ) throws -> TemplateValue {
        let isName = field.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isLetterOrDigit }
        guard isName else {
            throw unsupported("the field \"\(TemplateError.excerpt(field))\" in format()")
        }
        if !field.isEmpty, field.utf8.first?.isDigit != true {
            if let found = arguments.keywords.first(where: { $0.name == field }) {
                return found.value
            }
            throw fault(.arguments(function: "format()"))
        }
        // As in Python, fields are counted or numbered, not both; -1: they are numbered.
        if field.isEmpty ? next < 0 : next > 0 { throw fault(.arguments(function: "format()")) }
        let position = field.isEmpty ? next : Int(field) ?? .max
        next = field.isEmpty ? next + 1 : -1
        guard position < arguments.positional.count else {
            throw fault(.arguments(function: "format()"))
        }
        return arguments.positional[position]
    }

    /// `text % value`, with one value for each directive of a tuple: `%s`, `%d` and `%%`.
    mutating func formatted(
        _ format: TemplateText, by given: TemplateValue
    ) throws -> TemplateText {
        var values = [given]
        if case .tuple(let tuple) = given { values = tuple.items }
        values.reverse()
        var result = TemplateText().marked(format.isMarkup)
        let bytes = format.bytes
        var start = 0
        while let index = bytes[start...].firstIndex(of: UInt8(ascii: "%")) {
            try append(format.slice(start..<index), to: &result)
            guard index + 1 < bytes.count else { throw fault(.arguments(function: "%")) }
            let directive = bytes[index + 1]
            start = index + 2
            if directive == UInt8(ascii: "%") {
                try append(format.slice(index..<(index + 1)), to: &result)
                continue
            }
            guard directive == UInt8(ascii: "s") || directive == UInt8(ascii: "d") else {
                throw unsupported("formatting with \"%\" and more than s and d")
            }
            guard let value = values.popLast() else { throw fault(.arguments(function: "%")) }
            if directive == UInt8(ascii: "s") {
                try insert(try text(of: value), into: &result)
            } else if let number = value.number
                ?? value.real.flatMap({ Int(exactly: $0.rounded(.towardZero)) })
            {
                try append(TemplateText(String(number)), to: &result)
            } else {
                // Markup reads the number of a text.
                if format.isMarkup, case .text = value {
                    throw unsupported("formatting of a safe text with \"%d\" and a text")
                }
                throw fault(.operand(function: "%d", type: value.typeName))
            }
        }
        try append(format.slice(start..<bytes.count), to: &result)
        guard values.isEmpty else { throw fault(.arguments(function: "%")) }
        return result
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
