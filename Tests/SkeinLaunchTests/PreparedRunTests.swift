import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinLaunch

/// `run` of Scripts/lib/prepare.bash, by which scripts start `skein`.
@Suite("a script's run")
struct PreparedRunTests {
    /// A script that runs `skein`, which is a script, too.
    private static func start(_ directory: String, skein: String) throws -> ChildProcess {
        try ShellScript.write("cd '\(directory)'\n" + skein, at: directory + "/skein")
        let library = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Scripts/lib/prepare.bash").path
        let script = """
            set -euo pipefail; source '\(library)'; cd '\(directory)'; run ./skein; : >after
            """
        return try ChildProcess.start(["bash", "-c", script])
    }

    @Test(
        "a signal ends skein and then the script, whose status says which it was",
        arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)])
    func signalled(signal: Int32, status: Int32) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let script = try Self.start(
                directory,
                skein: """
                    trap ': >ended; exit 0' TERM
                    echo $$ >started.new; mv started.new started
                    while :; do sleep 0.02; done
                    """)
            defer { script.closeStreams() }
            let started = directory + "/started"
            try Deadline.wait { FileManager.default.fileExists(atPath: started) }
            script.send(signal)
            try Deadline.wait { script.ending() == .exited(status) }
            #expect(FileManager.default.fileExists(atPath: directory + "/ended"))
            #expect(!FileManager.default.fileExists(atPath: directory + "/after"))
            let text = try String(contentsOfFile: started, encoding: .utf8)
            let child = try #require(Int32(text.dropLast()))
            #expect(kill(child, 0) != 0)
        }
    }

    @Test("a skein that is killed gives the script the status that a shell gives it")
    func killed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let script = try Self.start(directory, skein: "kill -9 $$")
            defer { script.closeStreams() }
            try Deadline.wait { script.ending() == .exited(137) }
            #expect(!FileManager.default.fileExists(atPath: directory + "/after"))
        }
    }
}
