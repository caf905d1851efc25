import Foundation
import SkeinBasics
import SkeinJSON
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// A temporary directory with a tiny model and a few rows, and runs of the real `skein` in it.
struct Workbench {
    let directory: String

    var model: String { path("tiny.gguf") }
    var data: String { path("rows.jsonl") }

    /// Makes the bench, hands it to `body` and removes it afterwards.
    static func with(
        rows: Int = 40, model: TinyModel = TinyModel(), _ body: (Workbench) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let bench = Workbench(directory: directory)
            try model.writeGGUF(to: bench.model)
            try bench.write(Self.rows(rows), to: "rows.jsonl")
            try body(bench)
        }
    }

    func path(_ name: String) -> String { directory + "/" + name }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try AtomicFile.write(text, to: path(name))
        return path(name)
    }

    /// Prompt and completion rows of different lengths, a function of their number.
    static func rows(_ count: Int) -> String {
        let nouns = ["goose", "skein", "wind", "lake", "flock", "wing", "reed"]
        return (0..<count).map { i in
            let noun = nouns[i % nouns.count]
            let tail = (0...(i * 5 % 7)).map { nouns[(i + $0) % nouns.count] }
            return JSONValue.fields([
                ("prompt", .text("What is the \(noun) of \(i)?")),
                (
                    "completion",
                    .text("The \(noun) is for the \(tail.joined(separator: " and the ")).")
                ),
            ]).written + "\n"
        }.joined()
    }

    /// Rows of a prompt and two answers of different lengths, a function of their number.
    static func preferences(_ count: Int) -> String {
        let nouns = ["goose", "skein", "wind", "lake", "flock", "wing", "reed"]
        return (0..<count).map { i in
            func answer(_ start: Int, _ length: Int) -> String {
                (0...length).map { nouns[(start + $0) % nouns.count] }.joined(separator: " and ")
            }
            return JSONValue.fields([
                ("prompt", .text("What is \(i)?")),
                ("chosen", .text("The \(answer(i, i * 5 % 7)).")),
                ("rejected", .text("A \(answer(i + 3, i * 3 % 5)).")),
            ]).written + "\n"
        }.joined()
    }

    /// The words of `skein train` with the bench's model and rows, and the recipe of goldens.
    func trainWords(
        _ output: String, _ more: [String] = [], model: String? = nil, data: String? = nil
    ) -> [String] {
        [
            "train", "--model", model ?? self.model, "--data", data ?? self.data,
            "--output", path(output),
        ]
            + (more.contains("--init-adapter")
                ? TrainingConfiguration.fixedWordsBesideAdapter : TrainingConfiguration.fixedWords)
            + more
    }

    /// What a harness trains: the bench's model and rows.
    func work(model: String? = nil, data: String? = nil) throws -> Workload {
        Workload(
            program: SkeinProgram(path: try TestPaths.binary), model: model ?? self.model,
            data: data ?? self.data, directory: directory)
    }

    /// Trains to the end and expects success.
    @discardableResult
    func train(
        _ output: String, _ more: [String] = [], data: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> SkeinProcess.Ending {
        let ending = try SkeinProcess.run(trainWords(output, more, data: data))
        #expect(ending.status == 0, "\(ending.error)", sourceLocation: sourceLocation)
        return ending
    }

    /// SHA-256 of each file of a run's result: the adapter and every checkpoint.
    func result(of output: String) throws -> [String: String] {
        try digests(of: output).filter {
            $0.key.hasPrefix("adapter/") || $0.key.hasPrefix("checkpoints/")
        }
    }

    /// The same of all files of a run but its term, which each process that takes the directory raises.
    func contents(of output: String) throws -> [String: String] {
        try digests(of: output).filter { $0.key != "term" }
    }

    /// SHA-256 of each file below a directory, by its path in it.
    func digests(of name: String) throws -> [String: String] {
        var digests: [String: String] = [:]
        for file in try FileManager.default.subpathsOfDirectory(atPath: path(name)) {
            var isDirectory: ObjCBool = false
            let full = path(name) + "/" + file
            _ = FileManager.default.fileExists(atPath: full, isDirectory: &isDirectory)
            if isDirectory.boolValue { continue }
            digests[file] = SHA256.digest(of: try bytes(full)).description
        }
        return digests
    }

    func bytes(_ path: String) throws -> [UInt8] {
        try MappedFile(path: path).withBytes { Array($0) }
    }

    func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// The lines of metrics.jsonl without the fields that depend on a clock.
    func metrics(of output: String) throws -> [String] {
        try text(path(output) + "/metrics.jsonl").split(separator: "\n").map { line in
            var fields = try Self.object(String(line))
            fields["seconds"] = nil
            fields["tokens_per_second"] = nil
            let data = try JSONSerialization.data(withJSONObject: fields, options: .sortedKeys)
            return String(decoding: data, as: UTF8.self)
        }
    }

    static func object(_ text: String) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            "\(text)")
    }
}

extension SkeinProcess {
    /// Starts the `skein` that was built beside the tests.
    ///
    /// - Parameters:
    ///   - arguments: the words after `skein`.
    ///   - shell: a line of `sh` that runs first; it gets the binary and the arguments as "$@",
    ///     for instance `ulimit -f 10; exec "$@"`. nil starts the binary itself.
    ///   - isHeld: see the other initializer.
    ///   - program: the path of another program; nil: `skein`.
    /// - Throws: as the other initializer.
    convenience init(
        _ arguments: [String], shell: String? = nil, isHeld: Bool = false, by program: String? = nil
    ) throws {
        let path = try program ?? TestPaths.binary
        try self.init(
            SkeinProgram(path: shell == nil ? path : "/bin/sh"),
            (shell.map { ["-c", $0, "sh", path] } ?? []) + arguments, name: arguments.first,
            isHeld: isHeld)
    }

    /// Blocks until standard error contains `text` or the process has ended.
    func waitForError(_ text: String) throws {
        try wait(SkeinProcess.patience, for: "\"\(text)\"") { errorText.contains(text) }
    }

    /// Runs `skein`, or the program at a path, to its end.
    static func run(
        _ arguments: [String], shell: String? = nil, seconds: Double = SkeinProcess.patience,
        by program: String? = nil
    ) throws -> Ending {
        try SkeinProcess(arguments, shell: shell, by: program).wait(seconds: seconds)
    }
}

extension ClusterHarness {
    /// Starts a coordinator for `output` at a bench and waits until it listens.
    convenience init(
        _ bench: Workbench, _ output: String, _ options: [String] = [], data: String? = nil
    ) throws {
        try self.init(bench.work(data: data), output, options)
    }

    /// The bench where the run is.
    var bench: Workbench { Workbench(directory: work.directory) }

    /// Starts a worker of one thread: with another model or none, with a line of `sh` that runs
    /// first, dialling another address, or with more options.
    @discardableResult
    func startWorker(
        _ name: String, model: String?, shell: String? = nil, at place: String? = nil,
        _ options: [String] = []
    ) throws -> SkeinProcess {
        let worker = try SkeinProcess(
            ["worker", "--coordinator", place ?? address, "--name", name, "--threads", "1"]
                + (model.map { ["--model", $0] } ?? []) + options, shell: shell, isHeld: true)
        workers.append(worker)
        return worker
    }

    /// Leaves the present workers out of `finish`: their end has been checked.
    func forgetWorkers() { workers = [] }
}
