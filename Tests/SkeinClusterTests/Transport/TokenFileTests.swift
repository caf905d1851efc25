import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCluster

@Suite("token files")
struct TokenFileTests {
    private func file(
        _ text: String, mode: mode_t = 0o600, in directory: String
    ) throws -> String {
        let path = directory + "/" + UUID().uuidString
        try AtomicFile.write(text, to: path)
        #expect(chmod(path, mode) == 0)
        return path
    }

    private func problem(reading path: String) -> NodeError.TokenFileProblem? {
        let error = #expect(throws: NodeError.self) { try TokenFile(reading: path) }
        guard case .tokenFile(path, let problem) = error else { return nil }
        return problem
    }

    @Test(
        "one trailing newline is cut off and nothing else",
        arguments: [("", ""), ("\n", ""), ("\r\n", ""), ("\n\n", "\n"), (" ", " ")])
    func trims(ending: String, kept: String) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let secret = "0123456789abcdef"
            let token = try TokenFile(reading: file(secret + ending, in: directory))
            #expect(token.bytes == Array((secret + kept).utf8))
        }
    }

    @Test("a token may be read-only", arguments: [0o400, 0o600] as [mode_t])
    func goodModes(mode: mode_t) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = try file("0123456789abcdef", mode: mode, in: directory)
            #expect(try TokenFile(reading: path).bytes.count == 16)
        }
    }

    @Test(
        "a token that others may use is refused, with the command that mends it",
        arguments: [0o640, 0o604, 0o620, 0o601, 0o666, 0o777] as [mode_t])
    func badModes(mode: mode_t) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = try file("0123456789abcdef", mode: mode, in: directory)
            #expect(problem(reading: path) == .mode(found: UInt32(mode)))
            let explanation = NodeError.tokenFile(path: path, problem: .mode(found: UInt32(mode)))
                .explanation
            #expect(explanation.remedy == "chmod 600 \(path)")
            #expect(explanation.what.hasSuffix("0" + String(mode, radix: 8)))
        }
    }

    @Test("the length is bounded on both sides", arguments: [0, 15, 4097, 100_000])
    func length(count: Int) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = try file(String(repeating: "a", count: count), in: directory)
            #expect(problem(reading: path) == .length(found: count, expected: 16...4096))
        }
    }

    @Test("the longest token passes with its newline")
    func longest() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = try file(String(repeating: "a", count: 4096) + "\r\n", in: directory)
            #expect(try TokenFile(reading: path).bytes.count == 4096)
        }
    }

    @Test("what is not a regular file is refused, and a named pipe does not block")
    func notRegular() throws {
        try TestPaths.withTemporaryDirectory { directory in
            #expect(problem(reading: directory) == .notRegular)
            let pipe = directory + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            #expect(problem(reading: pipe) == .notRegular)
            #expect(
                problem(reading: directory + "/none") == .failed(operation: "open", code: ENOENT))
        }
    }

    @Test("a made token can be read, differs each time, and is not overwritten")
    func make() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (first, second) = (directory + "/a", directory + "/b")
            try TokenFile.make(at: first)
            try TokenFile.make(at: second)
            let token = try TokenFile(reading: first)
            #expect(token.bytes.count == 64)
            #expect(try TokenFile(reading: second) != token)
            #expect(throws: NodeError.tokenFile(path: first, problem: .exists)) {
                try TokenFile.make(at: first)
            }
            #expect(try TokenFile(reading: first) == token)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
        }
    }

    @Test("random bytes come in any count")
    func randomness() throws {
        for count in [0, 1, 256, 257, 1000] {
            #expect(try SystemRandomness.bytes(count).count == count)
        }
        let (first, second) = (try SystemRandomness.bytes(32), try SystemRandomness.bytes(32))
        #expect(first != second)
        for _ in 0..<100 {
            let fraction = try Randomness.system.fraction()
            #expect(fraction >= 0 && fraction < 1)
        }
    }
}
