/// A token of a template's source, with the line that it begins on.
struct TemplateToken: Sendable, Equatable {
    var kind: Kind
    var line: Int

    enum Kind: Sendable, Equatable {
        /// Literal text between tags, after white space control. UTF-8.
        case text([UInt8])
        /// `{{`
        case outputBegin
        /// `}}`
        case outputEnd
        /// `{%`
        case tagBegin
        /// `%}`
        case tagEnd
        case name(String)
        /// A string literal, its escapes resolved. UTF-8.
        case string([UInt8])
        case integer(Int)
        case float(Double)
        case symbol(Symbol)
        case end
    }

    /// Operators and punctuation.
    enum Symbol: String, Sendable, CaseIterable {
        case floorDivide = "//"
        case power = "**"
        case equal = "=="
        case notEqual = "!="
        case greaterOrEqual = ">="
        case lessOrEqual = "<="
        case add = "+"
        case subtract = "-"
        case divide = "/"
        case multiply = "*"
        case modulo = "%"
        case tilde = "~"
        case leftBracket = "["
        case rightBracket = "]"
        case leftParenthesis = "("
        case rightParenthesis = ")"
        case leftBrace = "{"
        case rightBrace = "}"
        case greater = ">"
        case less = "<"
        case assign = "="
        case dot = "."
        case colon = ":"
        case pipe = "|"
        case comma = ","
        case semicolon = ";"

        /// Longer symbols first, so that the longest match is found.
        static let longestFirst: [(symbol: Symbol, bytes: [UInt8])] =
            allCases.map { ($0, Array($0.rawValue.utf8)) }.sorted { $0.1.count > $1.1.count }
    }

    /// This token's name in errors.
    var described: String {
        switch kind {
        case .text: "text"
        case .outputBegin: "\"{{\""
        case .outputEnd: "\"}}\""
        case .tagBegin: "\"{%\""
        case .tagEnd: "\"%}\""
        case .name(let name): "\"\(TemplateError.excerpt(name))\""
        case .string: "a string"
        case .integer(let value): "the number \(value)"
        case .float(let value): "the number \(value)"
        case .symbol(let symbol): "\"\(symbol.rawValue)\""
        case .end: "the end of the template"
        }
    }
}
