import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

@testable import SkeinCommands

/// Flags are a contract: a change of help shows in the diff of Tests/Fixtures/help.
///
/// `SKEIN_UPDATE_SNAPSHOTS=1 swift test --filter HelpTests` rewrites these files.
@Suite struct HelpTests {
    static let tools = [CommandLineTool.skein, LabTool.tool]

    /// A command with many options has a page of those that matter first, and one of all.
    static let pages = tools.flatMap { tool in
        let tables = tool.commands.map { $0.table }
        return [tool.program.name] + tables.map(\.command)
            + tables.filter { !$0.first.isEmpty }.map { $0.command + whole }
    }
    private static let whole = "-all"

    static func text(of page: String) -> String {
        let process = CapturedProcess()
        let name = page.hasSuffix(whole) ? String(page.dropLast(whole.count)) : page
        let isProgram = tools.contains { $0.program.name == name }
        let tool = tools.first { tool in
            tool.program.name == name || tool.commands.contains { $0.table.command == name }
        }
        let words = isProgram ? [] : [name]
        let status = tool?.run(
            words + ["--help"] + (page.hasSuffix(whole) ? ["all"] : []), process.io())
        #expect(status == 0)
        #expect(process.error.isEmpty)
        return process.output
    }

    @Test("help equals its snapshot", arguments: pages)
    func snapshot(page: String) throws {
        let path = TestPaths.fixture("help/\(page).txt")
        let text = Self.text(of: page)
        if ProcessInfo.processInfo.environment["SKEIN_UPDATE_SNAPSHOTS"] == "1" {
            try AtomicFile.write(text, to: path)
        }
        #expect(try text == String(contentsOfFile: path, encoding: .utf8))
    }

    @Test("no line of help is longer than 100 columns", arguments: pages)
    func width(page: String) {
        for line in Self.text(of: page).split(separator: "\n") {
            #expect(line.count <= 100, "\(line)")
            #expect(line.last != " ", "\(line)")
        }
    }

    @Test(
        "the example of each command is accepted", arguments: tools.indices)
    func examples(index: Int) throws {
        let tool = Self.tools[index]
        for command in tool.commands {
            // A launcher may stand before it.
            let words = Self.shellWords(command.table.example).drop { $0 != tool.program.name }
            #expect(words.prefix(2) == [tool.program.name, command.table.command])
            let arguments = try ArgumentParser.parse(Array(words.dropFirst(2)), by: command.table)
            _ = try command.init(arguments)
        }
    }

    @Test("help <command> and -h show the same page")
    func ways() {
        for words in [["help", "train"], ["train", "-h"], ["train", "--rank", "x", "--help"]] {
            let process = CapturedProcess()
            #expect(CommandLineTool.skein.run(words, process.io()) == 0)
            #expect(process.output == Self.text(of: "train"))
        }
    }

    @Test("--help of a command with many options shows fifteen and how to see all")
    func short() {
        for table in CommandLineTool.skein.commands.map({ $0.table }) {
            let count = table.options.count { !$0.isRetired }
            #expect(table.first.isEmpty ? count <= 30 : table.first.count <= 15)
            if table.first.isEmpty { continue }
            let (short, all) = (Self.text(of: table.command), Self.text(of: table.command + "-all"))
            #expect(short.hasSuffix("--help all` shows all \(count) options.\n"))
            #expect(short.split(separator: "\n").count { $0.hasPrefix("  --") } <= 16)
            for option in table.options where !option.isRetired {
                #expect(all.contains("\n  --\(option.name)"), "\(option.name)")
                // What must be given is always shown.
                #expect(!option.isRequired || short.contains("\n  --\(option.name) "))
            }
            for words in [
                ["help", table.command, "all"], [table.command, "--help=all"],
                [table.command, "-h", "all"],
            ] {
                let process = CapturedProcess()
                #expect(CommandLineTool.skein.run(words, process.io()) == 0)
                #expect(process.output == all)
            }
        }
    }

    @Test("skein alone prints the overview on standard error, and is an error of usage")
    func alone() {
        let process = CapturedProcess()
        #expect(process.run() == 64)
        #expect(process.output.isEmpty)
        #expect(process.error == Self.text(of: "skein"))
    }

    @Test("the overview lists all commands, and none that do not exist")
    func overview() {
        let text = Self.text(of: "skein")
        for command in CommandLineTool.skein.commands {
            #expect(text.contains(command.table.summary))
        }
        #expect(!text.contains("\n  quantize "))
    }

    @Test("a word longer than a line gets its own line")
    func longWord() {
        let word = String(repeating: "x", count: 120)
        #expect(HelpText.wrapped("a \(word) b", indent: 2) == ["a", "  " + word, "  b"])
    }

    /// Words as a shell splits them; double quotes hold a word together.
    static func shellWords(_ line: String) -> [String] {
        line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap {
            $0.offset.isMultiple(of: 2)
                ? $0.element.split(separator: " ").map(String.init) : [String($0.element)]
        }
    }
}
