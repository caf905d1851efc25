/// Where and why a text is no JSON that was wanted.
package struct JSONFlaw: Error, Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// The byte at `offset` is the first that cannot belong: what stands before it may still become
        /// JSON, and with it, it cannot. At the end of the text, something is missing.
        case malformed(JSONExpected)
        /// The string that begins there is not UTF-8.
        case notUTF8
        /// The escape that begins there is half of a surrogate pair, and the other half is missing.
        case halfOfPair
        /// The name that begins there stands twice in its object.
        case repeatedName
        /// A list, an object or another value that begins there is in too many others.
        case tooDeep(limit: Int)
        case tooLarge(limit: Int)
    }

    package var kind: Kind
    /// Counts bytes from 0, those of a mark at the beginning too.
    package var offset: Int

    package init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// Place and kind, for people; the line, too, if the text has several.
    package func sentence(in text: some Collection<UInt8>) -> String {
        guard text.contains(0x0A) else { return sentence }
        return "line \(text.prefix(offset).count { $0 == 0x0A } + 1), " + sentence
    }

    /// Place and kind, for people.
    package var sentence: String {
        let what =
            switch kind {
            case .malformed(let expected): "\(expected.words) was expected"
            case .notUTF8: "the string is not UTF-8"
            case .halfOfPair: "the escape is half of a surrogate pair"
            case .repeatedName: "the name is in its object twice"
            case .tooDeep(let limit): "more than \(limit) lists and objects are in each other"
            case .tooLarge(let limit): "the text has more than \(limit) bytes"
            }
        return "byte \(offset): \(what)"
    }
}

/// What could have stood where a text stops being JSON.
package enum JSONExpected: Equatable, Sendable {
    case value
    case key
    case colon
    case commaOr(object: Bool)
    case digit
    case escape
    case hexadecimal
    case plainCharacter
    /// The end of a string.
    case end
    case nothing

    /// For a sentence that says what was expected.
    package var words: String {
        switch self {
        case .value: "a value"
        case .key: "a key"
        case .colon: "a colon"
        case .commaOr(object: true): "a comma or }"
        case .commaOr(object: false): "a comma or ]"
        case .digit: "a digit"
        case .escape: "an escape of JSON"
        case .hexadecimal: "four hexadecimal digits"
        case .plainCharacter: "no line break or other control character in a string"
        case .end: "the end of a string"
        case .nothing: "nothing after the value"
        }
    }
}
