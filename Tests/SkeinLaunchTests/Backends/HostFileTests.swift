import SkeinBasics
import Testing

@testable import SkeinLaunch

@Suite struct HostFileTests {
    @Test("hosts are read with their keys; comments and blank lines are skipped")
    func hosts() throws {
        let file = try HostFile(
            """
            # the rack
            me@10.0.0.7 threads=8 model=/models/m.gguf\t skein=/opt/skein name=w1  # the fast one

              backup\r
            ssh://me@h.example:2222 threads=1
            """, path: "f")
        #expect(
            file.hosts == [
                HostFile.Host(
                    destination: "me@10.0.0.7", threads: 8, model: "/models/m.gguf",
                    skein: "/opt/skein", name: "w1"),
                HostFile.Host(destination: "backup", name: "backup"),
                HostFile.Host(
                    destination: "ssh://me@h.example:2222", threads: 1, name: "h.example-2222"),
            ])
    }

    private static let threads = "a whole number from 1 to 1024"
    private static let bad: [(String, HostFileError)] = [
        ("", .noHosts(path: "f")), ("# none\n\n", .noHosts(path: "f")),
        ("a\n-oProxyCommand=x", .badHost("-oProxyCommand=x", path: "f", line: 2)),
        ("threads=2", .badHost("threads=2", path: "f", line: 1)),
        ("me@", .badHost("me@", path: "f", line: 1)),
        ("hä", .badHost("hä", path: "f", line: 1)),
        ("a thread=2", .unknownKey("thread", path: "f", line: 1, suggestion: "threads")),
        ("a b", .unknownKey("b", path: "f", line: 1, suggestion: nil)),
        ("a threads=1 threads=2", .repeatedKey("threads", path: "f", line: 1)),
        (
            "\n\na threads=0",
            .badValue(key: "threads", value: "0", accepted: threads, path: "f", line: 3)
        ),
        ("a model=", .badValue(key: "model", value: "", accepted: "a path", path: "f", line: 1)),
        (
            "a name=x/y",
            .badValue(
                key: "name", value: "x/y",
                accepted: "1 to 64 letters, digits, dots, dashes and underscores, but not local",
                path: "f", line: 1)
        ),
        ("me@a\nyou@a", .repeatedName("a", path: "f", line: 2, first: 1)),
        ("a name=b\n\nb", .repeatedName("b", path: "f", line: 3, first: 1)),
        (
            (0...256).map { "h\($0)" }.joined(separator: "\n"),
            .tooMany(path: "f", limit: 256)
        ),
    ]

    @Test("each wrong line has its own error, with the line's number", arguments: bad.indices)
    func errors(index: Int) {
        let (text, error) = Self.bad[index]
        #expect(throws: error) { try HostFile(text, path: "f") }
        #expect(error.explanation.status == .badData)
        #expect(!error.explanation.what.isEmpty && !error.explanation.remedy.isEmpty)
        #expect(error.explanation.place.hasPrefix("f"))
    }
}
