import Foundation
import SkeinTestSupport
import Testing

/// docs/API.md against its list and the sources. Whether types and defaults are what it says is for
/// `Scripts/api-table --check`, which needs a build.
@Suite("docs/API.md")
struct APIPageTests {
    private static let root = URL(fileURLWithPath: TestPaths.fixture("")).standardizedFileURL
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
    }

    /// Declarations of Apple's symbols as the page spells them, with what it says of each.
    private static func rows() throws -> [(symbol: String, status: String)] {
        try text("docs/API.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 6, cells[1].hasPrefix("`"), ["D", "P"].contains(cells[3]) else {
                return nil
            }
            return (cells[1].trimmingCharacters(in: ["`"]), cells[4])
        }
    }

    /// Declarations of the list, without what the page leaves out.
    private static func listed() throws -> [String] {
        var found: [String] = []
        var goesOn = false
        for line in try text("docs/api/foundation-models.txt").split(separator: "\n") {
            if let start = try #/^[a-z0-9.-]+ [DP] /#.prefixMatch(in: line) {
                found.append(String(line[start.range.upperBound...]))
                goesOn = true
            } else if goesOn, line.hasPrefix("    "),
                try #/^ +(differs|missing|note)\b/#.prefixMatch(in: line) == nil
            {
                found[found.count - 1] += " " + line.trimmingCharacters(in: .whitespaces)
            } else {
                goesOn = false
            }
        }
        return found.map {
            $0.replacing(#/ \{ get( async throws)? \}/#) { $0.output.1 ?? "" }
                .replacing("convenience ", with: "")
        }
    }

    @Test("Every symbol of the list has a row, in the list's order")
    func complete() throws {
        let rows = try Self.rows().map(\.symbol)
        #expect(rows == (try Self.listed()))
        #expect(rows.count > 300)
    }

    @Test("Every symbol that is said to be the same is in the sources")
    func same() throws {
        var sources = ""
        for room in ["Sources/SkeinSessions", "Sources/Skein"] {
            let folder = Self.root.appendingPathComponent(room).path
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder)
            where file.hasSuffix(".swift") {
                sources += try Self.text(room + "/" + file)
            }
        }
        let words = Set(sources.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        for row in try Self.rows() where row.status.hasPrefix("same") {
            let name = row.symbol.prefix { $0 != "(" && $0 != ":" && $0 != "<" }
                .split { $0 == " " || $0 == "?" }.last
            #expect(name.map(words.contains) == true, "\(row.symbol)")
        }
    }

    @Test("There is a row for each of the 27 disagreements of the sources")
    func disagreements() throws {
        let page = try Self.text("docs/API.md")
        for number in 1...27 {
            #expect(page.contains("\n| \(number) | "), "\(number)")
        }
    }
}
