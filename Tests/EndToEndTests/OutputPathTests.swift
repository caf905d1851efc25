import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// Paths that a user may type: short ones, links, devices, pipes.
@Suite("paths that flags name", .ownThreads)
struct OutputPathTests {
    private func kind(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0, "\(path): \(errno)")
        return status.st_mode & S_IFMT
    }

    private func generate(_ bench: Workbench, logits: String) -> [String] {
        ["generate", "--model", bench.model, "--raw", "--prompt", "goose", "--logits", logits]
    }

    @Test(
        "an output whose last part is one character",
        arguments: ["x", "y/", "ü", "-", "q//r", "a/b/c", "./z"])
    func short(output: String) throws {
        try Workbench.with(rows: 8) { bench in
            var words = bench.trainWords("", ["--iterations", "1"])
            let place = try #require(words.firstIndex(of: "--output"))
            words.replaceSubrange(place...(place + 1), with: ["--output=\(output)"])
            let shell = "cd '\(bench.directory)'; exec \"$@\""
            let ending = try SkeinProcess.run(words, shell: shell)
            #expect(ending.status == 0, "\(output): \(ending.error)")
            let weights = bench.path(output) + "/adapter/adapter_model.safetensors"
            #expect(FileManager.default.fileExists(atPath: weights))

            guard !output.hasSuffix("/") else { return }
            let file = output.replacingOccurrences(of: "q//r", with: "q//s") + "l"
            let short = try SkeinProcess.run(
                generate(bench, logits: String(file.suffix(1))), shell: shell)
            #expect(short.status == 0, "\(short.error)")
            #expect(FileManager.default.fileExists(atPath: bench.path("l")))
        }
    }

    @Test("a device, a named pipe and what a link points to get the bytes of a file")
    func special() throws {
        try Workbench.with(rows: 3) { bench in
            func run(_ path: String, shell: String? = nil) throws {
                let ending = try SkeinProcess.run(generate(bench, logits: path), shell: shell)
                #expect(ending.status == 0, "\(path): \(ending.error)")
            }
            try run(bench.path("file"))
            let whole = try bench.bytes(bench.path("file"))
            #expect(whole.count > 1000)

            let pipe = bench.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            try run(pipe, shell: "cat '\(pipe)' >'\(bench.path("read"))' & \"$@\" && wait")
            #expect(try bench.bytes(bench.path("read")) == whole)
            #expect(try kind(pipe) == S_IFIFO)

            try bench.write("old", to: "target")
            #expect(symlink("target", bench.path("link")) == 0)
            try run(bench.path("link"))
            #expect(try bench.bytes(bench.path("target")) == whole)
            #expect(try kind(bench.path("link")) == S_IFLNK)

            // A null device of the test's own, where the system lets it make one: major 1, minor 3.
            let device = bench.path("null")
            if mknod(device, S_IFCHR | 0o666, 1 << 8 | 3) == 0 {
                let descriptor = open(device, O_WRONLY)
                if descriptor >= 0 {
                    close(descriptor)
                    try run(device)
                    #expect(try kind(device) == S_IFCHR)
                }
            }
            let refused = try SkeinProcess.run(generate(bench, logits: bench.directory))
            Complaint(74, "this is a directory", bench.directory, "give a file").check(refused)
        }
    }

    @Test("a named pipe as data is refused as one, without waiting for its writer")
    func pipeAsData() throws {
        try Workbench.with(rows: 3) { bench in
            let pipe = bench.path("rows.pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let ending = try SkeinProcess.run(bench.trainWords("run", data: pipe))
            Complaint(74, "a named pipe", "rows.pipe", "to a file").check(ending)
        }
    }

    @Test("a file too large for memory is an I/O error with its size")
    func noMemoryForFile() throws {
        try Workbench.with(rows: 3) { bench in
            // It takes no bytes on the disk, and far more memory than the program itself needs.
            let data = try bench.write("", to: "large.jsonl")
            #expect(truncate(data, 7 << 30) == 0)
            let ending = try SkeinProcess.run(
                bench.trainWords("run", data: data), shell: "ulimit -v 4000000; exec \"$@\"")
            Complaint(74, "allocate the \(7 << 30) bytes", "large.jsonl", "ulimit -v")
                .check(ending)
        }
    }

    @Test(
        "weights too large for memory are an I/O error with what was needed",
        .enabled(if: TestPaths.model != nil, "needs SKEIN_TEST_MODEL"))
    func noMemoryForWeights() throws {
        try Workbench.with(rows: 3) { bench in
            // 540 MB of weights as fp32; the program and the mapped file have 250 to 350.
            let words = [
                "evaluate", "--model", try #require(TestPaths.model), "--data", bench.data,
                "--weights", "resident", "--threads", "1",
            ]
            let ending = try SkeinProcess.run(words, shell: "ulimit -v 600000; exec \"$@\"")
            Complaint(74, "bytes for weights", "ulimit -v")
                .check(ending, isPlaced: false)
        }
    }
}
