import Foundation
import Testing

/// The edits by which Scripts/check-planted plants bugs fit the sources that stand here: a build of all of
/// them is the work of a night, and a stale edit is found at once.
@Suite("planted bugs")
struct PlantedTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    private struct Change {
        let path: String
        let old: String
        let new: String
    }

    private struct Edit {
        let name: String
        let head: [Substring]
        let changes: [Change]

        init(_ file: String) throws {
            name = String(file.dropLast(".edit".count))
            let text = try String(
                contentsOfFile: PlantedTests.root + "/Scripts/planted/" + file, encoding: .utf8)
            let parts = ("\n" + text).components(separatedBy: "\n--- ")
            head = parts[0].split(separator: "\n")
            changes = try parts.dropFirst().map { part in
                let path = part.prefix { $0 != "\n" }
                let rest = String(part.dropFirst(path.count + 1))
                let halves = rest.components(separatedBy: "\n+++\n")
                try #require(halves.count == 2, "\(file): \(path)")
                return Change(path: String(path), old: halves[0], new: halves[1])
            }
        }
    }

    private static func edits() throws -> [Edit] {
        let folder = root + "/Scripts/planted"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { $0 != "main.swift" }
            .map {
                try #require($0.hasSuffix(".edit"), "\($0)")
                return try Edit($0)
            }
    }

    @Test("there are 25 at least, and the old text of each change stands once in its source")
    func places() throws {
        let edits = try Self.edits()
        #expect(edits.count >= 25)
        for edit in edits {
            for change in edit.changes {
                #expect(change.path.hasPrefix("Sources/"), "\(edit.name): \(change.path)")
                let source = try String(
                    contentsOfFile: Self.root + "/" + change.path, encoding: .utf8)
                let count = source.components(separatedBy: change.old).count - 1
                #expect(
                    count == 1,
                    "\(edit.name): \(change.path) has its old text \(count) times: write it anew")
            }
        }
    }

    @Test("no two change the same text: one build has all of them")
    func overlaps() throws {
        var changed: [String: [(name: String, range: Range<String.Index>)]] = [:]
        for edit in try Self.edits() {
            for change in edit.changes {
                let source = try String(
                    contentsOfFile: Self.root + "/" + change.path, encoding: .utf8)
                // `places` tells of one that is not there.
                guard let range = source.range(of: change.old) else { continue }
                for other in changed[change.path] ?? [] where other.range.overlaps(range) {
                    Issue.record("\(edit.name) and \(other.name) change the same of \(change.path)")
                }
                changed[change.path, default: []].append((edit.name, range))
            }
        }
    }

    @Test("each says in a sentence what is wrong, and has a switch")
    func switches() throws {
        let edits = try Self.edits()
        for edit in edits {
            #expect(edit.head.first?.hasSuffix(".") == true, "\(edit.name)")
            let other = edit.head.dropFirst().first?.components(separatedBy: "in: ").last
            let changes =
                edit.changes.isEmpty
                ? edits.first { $0.name == other }?.changes ?? [] : edit.changes
            #expect(
                changes.contains { $0.new.contains("Planted.has(\"\(edit.name)\")") },
                "\(edit.name) is never switched on")
        }
    }

    @Test("no source has a switch itself: a release has no planted bug")
    func sources() throws {
        let folder = Self.root + "/Sources"
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder)
        where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
            #expect(!text.contains("Planted."), "\(file)")
        }
    }
}
