import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCommands

@Suite struct DataCommandTests {
    /// Runs `skein data` on a tiny model in a directory with files.
    private func data(
        _ files: [(String, String)], _ words: [String], colours: Bool = false
    ) throws -> (status: Int32, output: String, error: String) {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            for (name, text) in files { try AtomicFile.write(text, to: directory + "/" + name) }
            let process = CapturedProcess()
            var io = process.io(log: process.log)
            io.coloursOutput = colours
            let words = words.map { $0.replacing("DIR", with: directory) }
            let status = CommandLineTool.skein.run(
                ["data", "--model", directory + "/tiny.gguf"] + words, io)
            return (
                status, process.output.replacing(directory, with: "DIR"),
                process.error.replacing(directory, with: "DIR")
            )
        }
    }

    private static let good = (0..<4).map {
        "{\"prompt\":\"the \($0)\",\"completion\":\"in \($0)\"}\n"
    }
    .joined()

    @Test("rows are shown as they will be trained, with their lengths, and nothing hurts")
    func human() throws {
        let found = try data(
            [("a.jsonl", Self.good)],
            ["DIR/a.jsonl", "--show", "1", "--check", "--validation-split", "0"])
        #expect(found.status == 0 && found.error.isEmpty, "\(found.error)")
        let lines = found.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix("DIR/a.jsonl:1: ") == true)
        #expect(found.output.contains(">>>in 0<|im_end|><<<"), "\(found.output)")
        #expect(!found.output.contains("in 1"))
        #expect(found.output.contains("tokens of a row:\n"))
        #expect(found.output.contains("█ 4\n"))
        #expect(found.output.hasSuffix("nothing in the data would silently hurt\n"))
        #expect(!found.output.contains("\u{1b}"))
        let coloured = try data([("a.jsonl", Self.good)], ["DIR/a.jsonl"], colours: true)
        #expect(coloured.output.contains("\u{1b}[32m>>>in 0<|im_end|><<<\u{1b}[0m"))
    }

    @Test("--check ends with status 65 and says what would hurt, and where")
    func check() throws {
        let text = Self.good + "{\"prompt\":\"the 0\",\"completion\":\"in 0\"}\n"
        let files = [("a.jsonl", text)]
        let found = try data(files, ["DIR/a.jsonl", "--validation-split", "0", "--check"])
        #expect(found.status == 65)
        #expect(
            found.output.contains(
                "would silently hurt:\n  1 row of 5 the same as an earlier one: each counts as often as "
                    + "it stands there\n    DIR/a.jsonl:5 = DIR/a.jsonl:1\n"))
        #expect(
            found.error.contains("1 thing in the data would silently hurt, the first: 1 row of 5"))
        // Without --check it is only shown.
        #expect(try data(files, ["DIR/a.jsonl", "--validation-split", "0"]).status == 0)
    }

    @Test(
        "a run with the defaults is told: its steps, its memory and, if a step is timed, its time")
    func advice() throws {
        let files = [("a.jsonl", Self.good)]
        let words = ["DIR/a.jsonl", "--validation-split", "0"]
        let timed = try data(files, words)
        #expect(timed.status == 0 && timed.error.contains("timing a step"), "\(timed.error)")
        #expect(
            timed.output.contains(
                "a run with the defaults:\n  10 steps, 10 epochs of 1: --batch-size 4 --learning-rate "
            ))
        #expect(timed.output.contains("\n  memory: about "))
        #expect(timed.output.contains("\n  time: about "))
        #expect(
            timed.output.contains("\n  4 training rows: more rows, or each in several wordings"))
        let quick = try data(files, words + ["--no-time"])
        #expect(quick.error.isEmpty && !quick.output.contains("time: about"))
        let json = try data(files, words + ["--no-time", "--json"])
        #expect(
            json.output.contains(
                #""advice":{"steps":10,"epochs":10,"batch_size":4,"learning_rate":"#))
        #expect(json.output.contains(#""seconds":null,"problem":null,"hints":["4 training rows: "#))
    }

    @Test("what would keep a run from beginning is told, and the rows are shown all the same")
    func wouldNotBegin() throws {
        let found = try data(
            [("a.jsonl", Self.good), ("b.jsonl", "")],
            ["DIR/a.jsonl", "--split-by", "prompt", "--validation-split", "0"])
        #expect(found.status == 0, "\(found.error)")
        #expect(found.output.contains("  it would not begin: "), "\(found.output)")
        #expect(found.output.contains("tokens of a row:"))
    }

    @Test("--json has the same facts for machines")
    func json() throws {
        let found = try data(
            [("a.csv", "q,a\nthe,in\n\"the\",re\n")],
            [
                "DIR/a.csv:2", "--field", "prompt=q", "--field", "completion=a", "--json", "--show",
                "1",
            ])
        #expect(found.status == 0, "\(found.error)")
        #expect(
            found.output.hasPrefix(
                #"{"files":[{"path":"DIR/a.csv","weight":2}],"rows":2,"bad_lines":0,"validation_rows":0,"#
            ), "\(found.output)")
        #expect(found.output.contains(#""examples":[{"place":"DIR/a.csv:2","tokens":"#))
        #expect(found.output.contains(#"{"text":"in<|im_end|>","trained":true}"#))
    }

    @Test("what a terminal would obey is not shown")
    func escapes() throws {
        let found = try data(
            [("a.jsonl", #"{"prompt":"the","completion":"in\u001b[31m\u0007"}"# + "\n")],
            ["DIR/a.jsonl"], colours: true)
        #expect(found.status == 0, "\(found.error)")
        #expect(!found.output.contains("\u{1b}[31m") && !found.output.contains("\u{7}"))
    }
}
