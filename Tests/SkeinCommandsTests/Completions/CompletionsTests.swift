import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCommands

/// What shells are told of the commands. `Scripts/check-completions` asks real shells.
@Suite("shell completions") struct CompletionsTests {
    /// A command whose texts have all that a shell could take for its own.
    private static let odd = ArgumentTable(
        command: "odd",
        summary: "isn't `this` $(nice): \"quotes\", [brackets] and a \\ backslash",
        positional: Positional("WHAT: [A]", count: .one, choices: ["one", "two"], "one: or two"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    Option.required("model", .path("FILE"), "a file's [path]; *?~ $HOME `id`")
                        .description,
                    Option.optional("rank", .integer(1...4), "a number: 1 \\ 4").description,
                    Option("shuffle", .onOff, default: "on", "on, or $(off)").description,
                    Option.retired("former", .onOff, default: "on").description,
                ])
        ],
        example: "skein odd --model m one")

    /// `SKEIN_UPDATE_SNAPSHOTS=1 swift test --filter CompletionsTests` rewrites the files.
    @Test("a script equals its snapshot", arguments: CompletionsCommand.Shell.allCases)
    func snapshot(shell: CompletionsCommand.Shell) throws {
        let path = TestPaths.fixture("completions/odd.\(shell.rawValue)")
        let plain = ArgumentTable(command: "plain", summary: "is plain", groups: [], example: "")
        let script = CompletionsCommand.script(for: shell, tables: [Self.odd, plain])
        if ProcessInfo.processInfo.environment["SKEIN_UPDATE_SNAPSHOTS"] == "1" {
            try AtomicFile.write(script, to: path)
        }
        #expect(try script == String(contentsOfFile: path, encoding: .utf8))
    }

    @Test(
        "a script has every command and option, and none that is retired",
        arguments: CompletionsCommand.Shell.allCases)
    func complete(shell: CompletionsCommand.Shell) {
        let process = CapturedProcess()
        #expect(process.run("completions", shell.rawValue) == 0)
        #expect(process.error.isEmpty)
        let script = process.output
        func mentions(_ option: String) -> Bool {
            switch shell {
            case .bash: script.contains("'--\(option)'")
            case .zsh: script.contains("--\(option)=[") || script.contains("--\(option)[")
            case .fish: script.contains(" -l '\(option)'")
            }
        }
        let tables = CommandLineTool.skein.commands.map { $0.table }
        for table in tables { #expect(script.contains("\(table.command)")) }
        // An option may be retired in one command only.
        let options = tables.flatMap(\.options)
        let shown = Set(options.filter { !$0.isRetired }.map(\.name))
        for name in Set(options.map(\.name)) {
            #expect(mentions(name) == shown.contains(name), "\(name)")
        }
    }

    @Test(
        "bash offers what fits, and nothing where it cannot guess",
        arguments: [
            (["trai"], ["train"]), (["--v"], ["--version"]), (["help", "exp"], ["export"]),
            (["train", "--micro"], ["--micro-batch-tokens"]),
            (["train", "--shuffle", ""], ["on", "off"]),
            (["train", "--shuffle", "="], ["on", "off"]),
            (["train", "--shuffle", "=", "of"], ["off"]),
            (["train", "--rank", ""], []), (["train", ""], []), (["train", "--model", ""], []),
            (["completions", "zs"], ["zsh"]), (["completions", "--", "--he"], []),
            (["completions", "--", "--help", "fi"], ["fish"]),
            (["completions", ""], ["bash", "zsh", "fish"]), (["nosuch", "--"], []),
        ])
    func bash(words: [String], offered: [String]) throws {
        let process = CapturedProcess()
        #expect(process.run("completions", "bash") == 0)
        let line = (["skein"] + words).map(BashCompletions.quoted).joined(separator: " ")
        let script =
            process.output
            + "set -eu\nCOMP_WORDS=(\(line))\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_skein\n"
            + "for word in ${COMPREPLY[@]+\"${COMPREPLY[@]}\"}; do echo \"$word\"; done\n"
        #expect(try Self.output(of: script).split(separator: "\n").map(String.init) == offered)
    }

    /// What bash prints when it runs a script.
    private static func output(of script: String) throws -> String {
        let bash = Process()
        bash.executableURL = URL(fileURLWithPath: "/bin/bash")
        bash.arguments = ["--noprofile", "--norc", "-c", script]
        let pipe = Pipe()
        bash.standardOutput = pipe
        try bash.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        bash.waitUntilExit()
        #expect(bash.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }
}
