import Foundation
import Testing

/// Counts that people read fit what they count: "1 epochs" alarms, and looks like carelessness.
@Suite("counts that people read")
struct CountTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Rooms whose sentences are about a run and its data, where any count may be one.
    private static let rooms = [
        "Cluster", "Commands", "Coordination", "Launch", "Rows", "Training", "Watch",
    ]

    /// Whether the number may not be one: it is a limit, or follows a word that wants several.
    private static func isSeveral(_ before: Substring, _ number: Substring) -> Bool {
        let limits = [
            "limit", "Limit", "most", "expected", "needed", "count(", "significant", "rate(",
        ]
        return ["of", "than", "to", "most", "least", "the"].contains(String(before))
            || limits.contains { number.contains($0) }
    }

    /// Lines of a file that count by hand.
    private static func faults(_ text: String) -> [String] {
        // A number in a text, and several things after it.
        let counted =
            #/
            (?<before> [a-z]* ) \x20? \\ \(
            (?<number> [^()"]* (?: \( [^()]* \) [^()"]* )* ) \) \x20
            (?: (?: bad | local | loss | more | trained | training | validation ) \x20 )?
            (?: answers | epochs | groups | items | layers | lines | micro-batches | pairs | recipes
            | requests | rounds | rows | sequences | steps | tensors | threads | tokens | workers )
            \b (?! /s )
            /#
            .wordBoundaryKind(.simple)
        return text.split(separator: "\n").filter { line in
            guard line.contains("\\("), !line.drop(while: { $0 == " " }).hasPrefix("//") else {
                return false
            }
            if line.contains("== 1 ? \"\" : \"") { return true }
            return line.matches(of: counted).contains { !isSeveral($0.before, $0.number) }
        }.map(String.init)
    }

    @Test("one thing is not several: what is counted in a sentence goes through Figures.count")
    func counts() throws {
        var count = 0
        for room in Self.rooms {
            let folder = Self.root + "/Sources/Skein" + room
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder)
            where file.hasSuffix(".swift") {
                count += 1
                let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
                let faults = Self.faults(text)
                #expect(faults.isEmpty, "\(room)/\(file): \(faults.joined(separator: "\n"))")
            }
        }
        #expect(count > 100)
    }

    @Test(
        "a count by hand is found, and a limit is not one",
        arguments: [
            (#"    "plan: \(steps) steps, 3 epochs""#, 1),
            (#"    "\(Figures.grouped(report.steps)) loss tokens""#, 1),
            (#"    "\(n) time\(n == 1 ? "" : "s")""#, 1), (#"    // "\(steps) steps""#, 0),
            (#"    "at most \(Limits.turns) rows", "3 of \(rows) rows""#, 0),
            (#"    "\(Figures.count(steps, "step")), \(pace) tokens/s""#, 0),
        ])
    func found(line: String, count: Int) {
        #expect(Self.faults(line).count == count)
    }
}
