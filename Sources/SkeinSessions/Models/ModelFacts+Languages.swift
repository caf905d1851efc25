import SkeinBasics
import SkeinFormats

extension ModelFiles {
    /// Languages that a GGUF file's metadata names, or the front matter of a folder's README.md, as
    /// model cards of the Hub have it; none if neither does.
    var languages: [String] {
        if case .gguf(let metadata) = tokenizerSource {
            switch metadata["general.languages"] {
            case .strings(let names): return names.filter(Self.isLanguage)
            case .string(let name): return [name].filter(Self.isLanguage)
            default: return []
            }
        }
        // A card that cannot be read names no language; it is no part of the model.
        guard let card = try? MappedFile(path: FilePath.join(path, Self.card)) else { return [] }
        let text = card.withBytes { String(decoding: $0.prefix(Self.cardBytes), as: UTF8.self) }
        return Self.languages(ofCard: text)
    }

    /// The model card of a folder.
    static let card = "README.md"
    private static let cardBytes = 64 << 10

    /// `language: en`, or `language:` and a list below it.
    static func languages(ofCard text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst()?.trimmed == "---" else { return [] }
        var names: [String] = []
        var isInside = false
        for line in lines {
            if line.trimmed == "---" { break }
            if line.hasPrefix("language:") {
                isInside = true
                names += line.dropFirst(9).split { "[], \"'".contains($0) || $0.isWhitespace }
                    .map(String.init)
            } else if isInside, line.trimmed.hasPrefix("- ") {
                names.append(line.trimmed.dropFirst(2).filter { !"\"' ".contains($0) })
            } else if isInside {
                break
            }
        }
        return names.filter(isLanguage)
    }

    /// Whether a word is a language's code rather than "multilingual".
    private static func isLanguage(_ name: String) -> Bool {
        (2...3).contains(name.prefix { $0 != "-" && $0 != "_" }.count)
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-" || $0 == "_") }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        while text.first?.isWhitespace == true { text.removeFirst() }
        return String(text)
    }
}
