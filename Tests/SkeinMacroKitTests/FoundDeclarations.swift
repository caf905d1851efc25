import Foundation

/// Declarations of structs, enums and actors in Swift files, found line by line and not by the
/// reader under test.
struct FoundDeclaration: Sendable {
    var file: String
    var keyword: String
    var name: String
    /// From its first line to the line that closes it.
    var source: String
    /// Names after `var`, `let` and `case` on lines of their own, one step deeper than the type.
    var members: [String] = []

    /// In the Swift files below a folder, in the order of their paths.
    static func below(_ folder: String, ending: String = ".swift") -> [FoundDeclaration] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        let files = (names ?? []).filter { $0.hasSuffix(ending) }.sorted()
        return files.flatMap { name in
            let text = try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)
            return declarations(of: text ?? "", file: name)
        }
    }

    static func declarations(of text: String, file: String) -> [FoundDeclaration] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let head =
            #/(?<indent> *)(?:[a-z@]+(?:\([a-z]+\))? )*(?<keyword>struct|enum|actor) (?<name>\w+).*\{/#
        return lines.indices.compactMap { start in
            guard let match = lines[start].wholeMatch(of: head) else { return nil }
            let indent = String(match.output.indent)
            let rest = lines[(start + 1)...]
            guard let end = rest.firstIndex(of: indent[...] + "}") else { return nil }
            return FoundDeclaration(
                file: file, keyword: String(match.output.keyword),
                name: String(match.output.name),
                source: lines[start...end].joined(separator: "\n") + "\n",
                members: members(in: lines[start..<end].dropFirst(), indent: indent))
        }
    }

    private static func members(in lines: ArraySlice<Substring>, indent: String) -> [String] {
        // Files are formatted: a member is four spaces deeper; interfaces use two.
        let member = #/ +(?:[a-z]+(?:\([a-z]+\))? )*(?:var|let|case) (?<name>\w+)(?:[:,( ].*)?/#
        return lines.compactMap { line in
            guard line.hasPrefix(indent + "    "), !line.hasPrefix(indent + "     "),
                let match = line.wholeMatch(of: member)
            else { return nil }
            return String(match.output.name)
        }
    }
}
