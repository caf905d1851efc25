import SkeinBasics
import SkeinLaunch
import SkeinModels
import Testing

@testable import SkeinCommands

@Suite struct CommandLineToolTests {
    static let messages: [([String], Int32, String)] = [
        (
            ["trian"], 64,
            """
            error: there is no command "trian"
              at: skein
              fix: did you mean skein train?

            """
        ),
        (
            ["distribute"], 64,
            """
            error: there is no command "distribute"
              at: skein
              fix: give one of: train, coordinator, worker, launch, join, status, evaluate, generate, \
            serve, tokenize, data, export, fuse, inspect, report, sync, pull, completions

            """
        ),
        (
            ["bench", "step", "--model", "m"], 64,
            """
            error: there is no command "bench"
              at: skein
              fix: write skein-lab bench WHAT (`skein-lab bench --help` lists it); `swift build -c \
            release --product skein-lab` builds that program from the source

            """
        ),
        (
            ["train", "--batch-size", "x"], 64,
            """
            error: --batch-size takes a whole number from 1 to 65536, not "x"
              at: --batch-size
              fix: give it a whole number from 1 to 65536

            """
        ),
        (
            ["evaluate", "--model", "m", "--data", "d", "--compare", "--json"], 64,
            """
            error: --compare needs --adapter
              at: skein evaluate
              fix: add --adapter, or leave out --compare

            """
        ),
        (
            ["train", "--config", "/nowhere/c.json"], 74,
            """
            error: cannot open: No such file or directory
              at: /nowhere/c.json
              fix: check the path

            """
        ),
    ]

    @Test(
        "an error is printed on standard error and sets the status", arguments: messages.indices)
    func errors(index: Int) {
        let (words, status, text) = Self.messages[index]
        let process = CapturedProcess()
        #expect(CommandLineTool.skein.run(words, process.io()) == status)
        #expect(process.error == text)
        #expect(process.output.isEmpty)
    }

    private struct Strange: Error {}

    @Test("an error that does not explain itself is our bug")
    func internalError() {
        let explanation = ErrorReport.explanation(of: Strange())
        #expect(explanation.what == "internal error: Strange()")
        #expect(explanation.status == .internalError)
    }

    @Test("--log-format json prints an error as one JSON object")
    func jsonError() {
        let explanation = Explanation(
            what: "a \"b\"", place: "f:3", remedy: "mend it", status: .badData)
        #expect(
            ErrorReport.text(of: explanation, format: .json) == """
                {"level":"error","message":"a \\"b\\"","at":"f:3","fix":"mend it","status":65}

                """)
    }

    @Test("the version is printed")
    func version() {
        for words in [["--version"], ["-v"], ["-V"], ["train", "--version"]] {
            let process = CapturedProcess()
            #expect(CommandLineTool.skein.run(words, process.io()) == 0)
            #expect(process.output == "skein \(Version.text)\n")
        }
    }

    @Test("--version --json prints what launch asks a host for")
    func machine() throws {
        let process = CapturedProcess()
        #expect(CommandLineTool.skein.run(["--version", "--json"], process.io()) == 0)
        #expect(process.output.hasPrefix("{\"skein\":\"\(Version.text)\",\"system\":\""))
        let report = try #require(MachineReport(line: Array(process.output.utf8)))
        #expect(report.fingerprints["fp32"] == Engine.fingerprint(.fp32))
        #expect(report.fingerprints["bf16"] == Engine.fingerprint(.bf16))
        #expect(report.cores > 0 && (report.memoryBytes ?? 0) > 0)
        #expect(report.computeRates.keys.sorted() == ["bf16", "fp32", "int8"])
        #expect(report.computeRates.values.allSatisfy { $0 > 0 })
        #expect(report.hasAMXInt8 != nil)
        // A report is one line, and far shorter than what launch reads.
        #expect(process.output.utf8.count < 2000 && process.output.last == "\n")
    }

    @Test("an unknown processor level is refused, naming the variable and its value")
    func processorLevel() throws {
        try CommandLineTool.limitProcessor([:])
        try CommandLineTool.limitProcessor(["SKEIN_CPU_LEVEL": ""])
        let error = try #require(throws: UsageError.self) {
            try CommandLineTool.limitProcessor(["SKEIN_CPU_LEVEL": "AVX2"])
        }
        #expect(error.explanation.what.contains("SKEIN_CPU_LEVEL takes plain, fused, dotprod"))
        #expect(error.explanation.what.contains("not \"AVX2\""))
        #expect(error.explanation.status == .usage)
    }

    @Test("the program ends quietly when the reader of its output goes away")
    func closedOutput() {
        let process = CapturedProcess()
        var io = process.io()
        io.writeOutput = { _ in throw CommandError.outputClosed }
        #expect(CommandLineTool.skein.run(["--help"], io) == 141)
        #expect(process.error.isEmpty)
    }
}
