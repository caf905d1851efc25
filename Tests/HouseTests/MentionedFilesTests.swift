import Foundation
import Testing

/// Files that comments and documents name exist: a reader who follows a pointer finds something.
@Suite("files that are mentioned")
struct MentionedFilesTests {
    /// Files of other projects, named as the source of a formula or a format.
    private static let foreign: Set<String> = [
        "cblas.h", "driver/others/dynamic.c", "ggml.h", "docs/gguf.md", "ggml-common.h",
        "modeling_rope_utils.py", "jinja2/filters.py", "jinja2/tests.py", "jinja2/lexer.py",
        "jinja2/parser.py",
    ]

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Files of the project, as paths from its root.
    private static func files() throws -> [String] {
        try ["Sources", "Tests", "Scripts", "Cluster", "docs"].flatMap { room in
            try FileManager.default.subpathsOfDirectory(atPath: root + "/" + room).map {
                room + "/" + $0
            }
        } + ["README.md", "Package.swift"]
    }

    /// All that may be written for a file or folder: any run of the parts of its path.
    private static func names(of files: [String]) -> Set<String> {
        var names: Set<String> = []
        for file in files {
            let parts = file.split(separator: "/")
            for start in parts.indices {
                for end in parts.indices where end >= start {
                    names.insert(parts[start...end].joined(separator: "/"))
                }
            }
            // A decision may be named by its number.
            if file.hasPrefix("docs/decisions/") { names.insert(String(file.prefix(19))) }
        }
        return names
    }

    /// The part of a line that people read; nil when it has none.
    private static func prose(_ line: Substring, of file: String) -> Substring? {
        if file.hasSuffix(".md") { return line }
        if [".swift", ".c", ".h"].contains(where: file.hasSuffix) {
            return line.firstRange(of: "//").map { line[$0.upperBound...] }
        }
        let isScript = [".py", ".bash"].contains(where: file.hasSuffix)
        guard isScript || (file.hasPrefix("Scripts/") && !file.contains(".")) else { return nil }
        return line.firstRange(of: "#").map { line[$0.upperBound...] }
    }

    /// Names of files in a line, with or without their folders.
    private static func mentions(_ prose: Substring) -> [String] {
        // Most lines name no file, and looking closely takes time.
        guard prose.utf8.contains(0x2E) || prose.utf8.contains(0x2F) else { return [] }
        let name =
            #/
            [A-Za-z0-9_./+\-]* [A-Za-z0-9_+\-] \. (?: md | swift | c | h | py | bash ) \b
            | \b (?: Scripts | Sources | Tests | docs | Cluster ) / [A-Za-z0-9_./+\-]* [A-Za-z0-9_]
            /#
            .wordBoundaryKind(.simple)
        return prose.matches(of: name).map { match in
            var path = String(match.0)
            while path.hasPrefix("../") { path.removeFirst(3) }
            return path
        }
    }

    @Test("every file that a comment or a document names is there")
    func mentioned() throws {
        let files = try Self.files()
        let known = Self.names(of: files)
        var count = 0
        for file in files {
            guard !file.hasPrefix("Tests/Fixtures/") || file.hasSuffix(".md"),
                let data = FileManager.default.contents(atPath: Self.root + "/" + file)
            else { continue }
            let text = String(decoding: data, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() {
                for name in Self.prose(line, of: file).map(Self.mentions) ?? [] {
                    count += 1
                    #expect(
                        known.contains(name) || Self.foreign.contains(name),
                        "\(file):\(number + 1) names \(name), which is not there")
                }
            }
        }
        // If the search itself broke, it would find nothing wrong.
        #expect(count > 100, "\(count)")
    }

    @Test("a name that leads nowhere is found")
    func missing() throws {
        let known = Self.names(of: ["docs/LOG.md", "docs/decisions/0001-one-law.md"])
        let pointers = "LOG.md, docs/decisions/0001, docs/LOG.md and ../no" + "where.md."
        let line = Substring("    // See \(pointers)")
        let names = try #require(Self.prose(line, of: "a.swift").map(Self.mentions))
        #expect(names == ["LOG.md", "docs/decisions/0001", "docs/LOG.md", "nowhere.md"])
        #expect(names.filter { !known.contains($0) } == ["nowhere.md"])
    }

    @Test("the first part of the tour can be read in half an hour")
    func tour() throws {
        let tour = try String(contentsOfFile: Self.root + "/docs/TOUR.md", encoding: .utf8)
        let parts = tour.split(separator: "\n## ")
        let first = try #require(parts.first { $0.hasPrefix("Half an hour") })
        let files = first.matches(of: /`(Sources\/[A-Za-z0-9_.\/+-]+\.swift)`/).map { String($0.1) }
        #expect(files.count >= 6)
        let lines = try files.reduce(0) { sum, file in
            let text = try String(contentsOfFile: Self.root + "/" + file, encoding: .utf8)
            return sum + text.count { $0 == "\n" }
        }
        #expect(lines <= 1200, "\(lines) lines")
    }
}
