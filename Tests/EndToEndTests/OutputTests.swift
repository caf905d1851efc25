import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// Output directories that are taken, full or missing: what they hold stays as it is.
@Suite("output", .ownThreads)
struct OutputTests {
    private let run = ["--epochs", "2", "--checkpoint-every", "3"]

    @Test("a directory with something in it is left alone")
    func notEmpty() throws {
        try Workbench.with { bench in
            try bench.train("run", run)
            let before = try bench.digests(of: "run")
            let again = try SkeinProcess.run(bench.trainWords("run", run))
            Complaint(65, "not empty", "--resume").check(again)
            #expect(try bench.digests(of: "run") == before)

            try FileManager.default.createDirectory(
                atPath: bench.path("notes"), withIntermediateDirectories: true)
            try bench.write("mine", to: "notes/note.txt")
            for flags in [[], ["--resume"]] {
                let ending = try SkeinProcess.run(bench.trainWords("notes", run + flags))
                Complaint(65, "notes").check(ending)
                #expect(try bench.digests(of: "notes").keys.sorted() == ["note.txt"])
            }
        }
    }

    @Test("resuming a complete run changes nothing but its term")
    func complete() throws {
        try Workbench.with { bench in
            let first = try bench.train("run", run)
            let before = try bench.contents(of: "run")
            let again = try bench.train("run", run + ["--resume"])
            #expect(again.output == first.output)
            #expect(try bench.contents(of: "run") == before)

            // A kill between the last checkpoint and the removal of an old one leaves this.
            let checkpoints = bench.path("run/checkpoints/")
            try FileManager.default.copyItem(
                atPath: checkpoints + "step-000016", toPath: checkpoints + "step-000003")
            try bench.train("run", run + ["--resume"])
            #expect(try bench.contents(of: "run") == before)
        }
    }

    @Test("what differs from the resumed run is named, and nothing changes")
    func otherSettings() throws {
        try Workbench.with { bench in
            try bench.train("run", run)
            let before = try bench.digests(of: "run")
            var other = TinyModel()
            other.seed = 2
            try other.writeGGUF(to: bench.path("other.gguf"))
            let rows = try bench.write(Workbench.rows(39), to: "other.jsonl")
            let table: [(flags: [String], model: String?, data: String?, field: String)] = [
                ([], bench.path("other.gguf"), nil, "model (SHA-256)"),
                ([], nil, rows, "data (SHA-256)"),
                (["--valid-data", rows], nil, nil, "validation data (SHA-256)"),
                (["--learning-rate", "2e-4"], nil, nil, "learning-rate was 0.0001"),
                (["--rank", "4"], nil, nil, "rank was 8 and is now 4"),
                (["--seed", "9"], nil, nil, "seed was 0 and is now 9"),
                (["--shuffle", "off"], nil, nil, "shuffle was on"),
                (["--gradient-codec", "int8"], nil, nil, "gradient-codec was fp32"),
                (["--epochs", "1"], nil, nil, "epochs was 2 and is now 1"),
                (["--micro-batch-tokens", "64"], nil, nil, "micro-batch-tokens was 512"),
            ]
            for (flags, model, data, field) in table {
                let words = bench.trainWords("run", run + ["--resume"], model: model, data: data)
                let ending = try SkeinProcess.run(words + flags)
                Complaint(65, field, "run.json").check(ending)
                #expect(try bench.digests(of: "run") == before, "\(field)")
            }
            // How many threads compute and how often steps are reported may differ.
            try bench.train(
                "run", run + ["--resume", "--threads", "3", "--report-every", "7"])
        }
    }

    @Test("a second process is refused while the first works")
    func inUse() throws {
        try Workbench.with { bench in
            let endless = ["--epochs", "100000"]
            let first = try SkeinProcess(bench.trainWords("run", endless))
            try first.waitForError("step 2/")
            let second = try SkeinProcess.run(bench.trainWords("run", endless + ["--resume"]))
            Complaint(74, "another skein process").check(second)
            let third = try SkeinProcess.run(bench.trainWords("run", endless))
            Complaint(65, "not empty").check(third)
            #expect(first.isRunning)
            first.send(SIGKILL)
            #expect(try first.wait().wasKilled)
        }
    }

    @Test("an output that cannot be made is an I/O error")
    func unwritable() throws {
        try Workbench.with(rows: 3) { bench in
            // Below a file, and in /proc, where even root cannot make a directory.
            let ending = try SkeinProcess.run(bench.trainWords("rows.jsonl/run"))
            Complaint(74, "directory", "rows.jsonl/run", "a file, not a directory").check(ending)
            #expect(try bench.text(bench.data) == Workbench.rows(3))
            #if os(Linux)
                let words = bench.trainWords("", ["--output", "/proc/skein/run"])
                Complaint(74, "directory", "/proc/skein").check(try SkeinProcess.run(words))
            #endif
        }
    }

    @Test("past a limit of file sizes the run ends with status 74 and can be resumed")
    func fileSizeLimit() throws {
        try Workbench.with { bench in
            let long = ["--epochs", "24", "--checkpoint-every", "5", "--threads", "2"]
            try bench.train("whole", long)
            // 64 KiB hold every file of a checkpoint, but only a part of the ledger.
            let ending = try SkeinProcess.run(
                bench.trainWords("run", long), shell: "ulimit -f 128; exec \"$@\"")
            Complaint(74, "File too large", "ledger.jsonl", "ulimit -f").check(ending)
            let kept = try bench.result(of: "run").filter { $0.key.hasPrefix("checkpoints") }
            #expect(kept.count == 3 * 5)
            let last = try bench.train("run", long + ["--resume"])
            #expect(last.error.contains("resuming after step"))
            #expect(!last.error.contains("cannot be used"))
            #expect(try bench.result(of: "run") == bench.result(of: "whole"))
            try verifyLedger(bench, of: "run", steps: 192)
        }
    }

    @Test(
        "on a full disk the run ends with status 74, keeps its checkpoints and can be resumed",
        .enabled(if: FullDisk.isPossible, "needs the right to mount in a namespace of its own"))
    func fullDisk() throws {
        try Workbench.with { bench in
            try bench.train("whole", run)
            let ending = try FullDisk.run(
                bench.trainWords("disk/run", run), in: bench, then: "4m")
            #expect(ending.output.contains("first: 74"), "\(ending.output) \(ending.error)")
            #expect(ending.output.contains("second: 0"), "\(ending.error)")
            #expect(ending.error.contains("No space left on device"))
            #expect(ending.error.contains("--resume"))
            let whole = try bench.result(of: "whole")
            #expect(try bench.result(of: "disk.second") == whole)
            let kept = try bench.digests(of: "disk.first").filter {
                $0.key.hasPrefix("checkpoints/step-")
            }
            #expect(kept.count >= 5 && kept.count % 5 == 0, "\(kept.keys.sorted())")
        }
    }

    @Test("export and fuse leave nothing behind when the file grows too large, or on a full disk")
    func exports() throws {
        try Workbench.with { bench in
            try bench.train("run", ["--iterations", "1"])
            let adapter = ["--model", bench.model, "--adapter", bench.path("run/adapter")]
            try FileManager.default.createDirectory(
                atPath: bench.path("disk"), withIntermediateDirectories: true)
            let commands = [
                ["export", "--format", "peft"], ["export", "--format", "mlx"],
                ["export", "--format", "gguf"], ["fuse", "--format", "gguf", "--type", "F32"],
                ["fuse", "--format", "hf", "--type", "F32"],
            ]
            for command in commands {
                let words = command + adapter + ["--output", bench.path("disk/out")]
                let large = try SkeinProcess.run(words, shell: "ulimit -f 4; exec \"$@\"")
                Complaint(74, "File too large").check(large)
                #expect(try bench.digests(of: "disk").isEmpty, "\(command)")
                guard FullDisk.isPossible else { continue }
                let disk = bench.path("disk")
                let full = try SkeinProcess.run(
                    words,
                    shell:
                        "exec unshare -m sh -c 'mount -t tmpfs -o size=4k none \"$0\" || exit 1; "
                        + "\"$@\"; status=$?; ls -A \"$0\"; exit $status' '\(disk)' \"$@\"")
                Complaint(74, "No space left on device").check(full)
                #expect(full.output.isEmpty, "\(command): \(full.output)")
            }
        }
    }

    @Test("results that cannot be written are an I/O error; a reader that leaves is not")
    func standardOutput() throws {
        try Workbench.with(rows: 3) { bench in
            let words = [
                "generate", "--model", bench.model, "--prompt", "goose", "--max-tokens", "8",
            ]
            let full = try SkeinProcess.run(words, shell: "exec \"$@\" >/dev/full")
            Complaint(74, "No space left on device", "standard output").check(full)
            let gone = try SkeinProcess.run(
                words, shell: "{ \"$@\"; echo $? >&2; } | true")
            #expect(gone.error == "141\n" || gone.error == "0\n", "\(gone.error)")
        }
    }
}
