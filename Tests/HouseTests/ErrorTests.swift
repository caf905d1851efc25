import Foundation
import Testing

/// Errors do not vanish: where one is dropped, a comment says why nothing is lost. A catch that names
/// what it catches counts as told.
@Suite("errors that are dropped")
struct ErrorTests {
    private static let sources =
        URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        + "/Sources"

    private static func indentation(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }

    /// The part of a line before its comment; nil: it has none.
    private static func uncommented(_ line: Substring) -> Substring? {
        // A URL's slashes have no space after them.
        line.firstMatch(of: /\/\/[\/ ]|\/\*/).map { line[..<$0.range.lowerBound] }
    }

    /// Whether a comment gives a reason: documentation and headings do not, nor does one that points at
    /// another.
    private static func hasReason(_ lines: some Sequence<Substring>) -> Bool {
        lines.contains { line in
            guard let code = uncommented(line) else { return false }
            let comment = line[code.endIndex...]
            return !["///", "/**", "// MARK"].contains(where: comment.hasPrefix)
                && !comment.contains(/[Aa]s (?:said )?above/)
        }
    }

    /// Numbers of the lines that drop an error without a word, counted from 1.
    private static func faults(_ text: String) -> [Int] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { index in
            let line = lines[index]
            // Looking closely takes time.
            guard line.contains("try?") || line.contains("catch {") else { return false }
            let code = uncommented(line) ?? line
            let isTry = code.contains(/\btry\?/.wordBoundaryKind(.simple))
            let start = code.firstRange(of: /\bcatch \{/.wordBoundaryKind(.simple))?.upperBound
            guard isTry || start != nil, !hasReason(lines[max(0, index - 2)...index]) else {
                return false
            }
            guard !isTry, let start else { return true }
            let rest = lines[(index + 1)...].prefix {
                $0.isEmpty || indentation($0) > indentation(line)
            }
            let body = [line[start...]] + rest
            let telling = /\b(?:error|throw)\b/.wordBoundaryKind(.simple)
            return !hasReason(body) && !body.contains { $0.contains(telling) }
        }.map { $0 + 1 }
    }

    @Test("a comment says why nothing is lost, in the two lines before, or in the catch itself")
    func comments() throws {
        var count = 0
        for file in try FileManager.default.subpathsOfDirectory(atPath: Self.sources)
        where file.hasSuffix(".swift") {
            count += 1
            let text = try String(contentsOfFile: Self.sources + "/" + file, encoding: .utf8)
            for line in Self.faults(text) {
                Issue.record(
                    "Sources/\(file):\(line) drops an error: throw it on, make the absence a type, or say in a comment why nothing is lost"
                )
            }
        }
        #expect(count > 100)
    }

    @Test(
        "an error that is dropped is found, and one that is told of is not",
        arguments: [
            ("let a = try? b()", [1]), ("let a = try b()", []), ("let isRetry: Entry? = c", []),
            ("// Why.\nlet a =\n    try? b()", []), ("// Why.\n\n\nlet a = try? b()", [4]),
            ("/// What.\nlet a = try? b()", [2]), ("/** What. */\nlet a = try? b()", [2]),
            ("// MARK: - Things\nlet a = try? b()", [2]),
            ("// As above.\nlet a = try? b()", [2]), ("a(try? b(\"http://c\"))", [1]),
            ("do {\n} catch {\n    return nil\n}\n// After.", [2]),
            ("do {\n} catch {\n    // Why.\n    return nil\n}", []),
            ("do {\n} catch {\n    throw A.b\n}", []),
            ("do {\n} catch {\n    tell(error.what)\n}", []),
            ("do { try a() } catch {}", [1]), ("do {\n} catch A.b {\n    return nil\n}", []),
        ] as [(String, [Int])])
    func found(text: String, lines: [Int]) {
        #expect(Self.faults(text) == lines)
    }
}
