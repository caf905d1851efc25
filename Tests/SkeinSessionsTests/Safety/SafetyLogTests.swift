import Foundation
import SkeinSessions
import Testing

@Suite("Safety logs")
struct SafetyLogTests {
    /// A folder that is removed at the end.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("skein-safety-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func file(_ name: String) -> URL { url.appendingPathComponent(name) }
    }

    private static let line = SafetyLog.Line(
        time: Date(timeIntervalSince1970: 0), prompt: "a \"b\"\nc", response: nil,
        fired: ["DenyList: x"])
    private static let text =
        #"{"time":"1970-01-01T00:00:00.000Z","prompt":"a \"b\"\nc","response":null,"#
        + #""fired":["DenyList: x"]}"# + "\n"

    private static func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    @Test("Each line is an object of its own, in a file for its owner alone")
    func lines() throws {
        let folder = try Folder()
        let file = folder.file("log.jsonl")
        let log = try SafetyLog(fileURL: file)
        #expect(log.fileURL == file)
        try log.append(Self.line)
        var other = Self.line
        other.response = "yes"
        try log.append(other)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == Self.text + Self.text.replacing("null", with: #""yes""#))
        #expect(try Self.mode(file) == 0o600)
    }

    @Test("A log that is there already is continued, and closed to others")
    func continuing() throws {
        let folder = try Folder()
        let file = folder.file("log.jsonl")
        try Data("before\n".utf8).write(to: file)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: file.path)
        let first = try SafetyLog(fileURL: file)
        let second = try SafetyLog(fileURL: file)
        try first.append(Self.line)
        try second.append(Self.line)
        try first.append(Self.line)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == "before\n" + Self.text + Self.text + Self.text)
        #expect(try Self.mode(file) == 0o600)
    }

    @Test("Lines of many writers stay whole")
    func writers() async throws {
        let folder = try Folder()
        let file = folder.file("log.jsonl")
        let logs = [try SafetyLog(fileURL: file), try SafetyLog(fileURL: file)]
        let prompt = String(repeating: "long ", count: 2000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<20 {
                        var line = Self.line
                        line.prompt = prompt
                        line.fired = ["\(number)"]
                        try logs[number % 2].append(line)
                    }
                }
            }
            try await group.waitForAll()
        }
        let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 160)
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            #expect(object?["prompt"] as? String == prompt)
        }
    }

    @Test("What cannot be a log is a typed error")
    func refusal() throws {
        let folder = try Folder()
        #expect(throws: SafetyLogError.notAFile(path: folder.url.path)) {
            try SafetyLog(fileURL: folder.url)
        }
        let missing = folder.file("none/log.jsonl")
        #expect(
            throws: SafetyLogError.failed(operation: "open", path: missing.path, code: ENOENT)
        ) {
            try SafetyLog(fileURL: missing)
        }
        #expect(throws: SafetyLogError.notAFile(path: "/dev/null")) {
            try SafetyLog(fileURL: URL(fileURLWithPath: "/dev/null"))
        }
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        #expect(throws: SafetyLogError.notAFile(path: pipe.path)) {
            try SafetyLog(fileURL: pipe)
        }
        let error = SafetyLogError.notAFile(path: "/dev/null")
        #expect(error.errorDescription == "/dev/null: a safety log must be a regular file")
        #expect(error.recoverySuggestion == "give the name of a file")
    }
}
