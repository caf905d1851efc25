import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// A standard error that is no longer read: a stopped terminal, a pipe whose reader hangs.
@Suite("stuck logs", .ownThreads)
struct StuckLogTests {
    /// A shell that gives a process a named pipe as its standard error.
    private func shell(_ pipe: String) -> String { "exec \"$@\" 2>'\(pipe)'" }

    /// A named pipe that holds 4 KiB, and its reading end.
    private func pipe(_ bench: Workbench, _ name: String) throws -> (path: String, reading: Int32) {
        let path = bench.path(name)
        try #require(mkfifo(path, 0o600) == 0)
        let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reading >= 0)
        // F_SETPIPE_SZ
        _ = fcntl(reading, 1031, 4096)
        return (path, reading)
    }

    /// Reads the pipe until `text` has come.
    private func read(_ reading: Int32, until text: String) throws -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        try FaultBench.wait(seconds: 60, for: text) {
            let count = Foundation.read(reading, &chunk, chunk.count)
            if count > 0 { bytes += chunk[..<count] }
            return String(decoding: bytes, as: UTF8.self).contains(text)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("a cluster whose logs are not read goes on and ends with the right hash")
    func cluster() throws {
        try Workbench.with { bench in
            // As JSON: several lines for each micro-batch, and a pipe that is full at once.
            let coordinatorPipe = try pipe(bench, "coordinator.pipe")
            let workerPipe = try pipe(bench, "worker.pipe")
            defer {
                close(coordinatorPipe.reading)
                close(workerPipe.reading)
            }
            var words = bench.trainWords("run", FaultBench.run + ["--log-format", "json"])
            words[0] = "coordinator"
            words += ["--listen", "127.0.0.1:0"]
            let coordinator = try SkeinProcess(words, shell: shell(coordinatorPipe.path))
            let mark = "\"address\":\""
            let said = try read(coordinatorPipe.reading, until: mark)
            let rest = try #require(said.range(of: mark)).upperBound
            let address = String(said[rest...].prefix { $0 != "\"" })
            // From here on this one is not read either.
            let worker = try SkeinProcess(
                [
                    "worker", "--coordinator", address, "--name", "w", "--threads", "1",
                    "--model", bench.model, "--log-format", "json",
                ], shell: shell(workerPipe.path))
            #expect(try coordinator.wait(seconds: 120).status == 0)
            #expect(try worker.wait(seconds: 60).status == 0)
            try FaultBench.verify(bench, "run")
        }
    }

    @Test("an error that ends a process is still read by a slow reader")
    func lastWords() throws {
        try Workbench.with(rows: 3) { bench in
            let ends = try pipe(bench, "pipe")
            defer { close(ends.reading) }
            let process = try SkeinProcess(
                bench.trainWords("run", ["--rank", "0"]), shell: shell(ends.path))
            let said = try read(ends.reading, until: "fix:")
            #expect(said.contains("error: "))
            #expect(try process.wait().status == 64)
        }
    }
}
