import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinServe
import SkeinTestSupport
import Testing

@testable import SkeinCommands

/// A run's folder in the place of its adapter.
@Suite struct RunAdapterTests {
    private static func withRun(_ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            let run = directory + "/jargon"
            try AtomicFile.makeDirectory(run + "/adapter")
            try AtomicFile.write("{}", to: run + "/run.json")
            try AtomicFile.write("x", to: run + "/adapter/adapter_model.safetensors")
            try body(run)
        }
    }

    @Test("a run's folder means its adapter in every command that takes one")
    func commands() throws {
        var commands: [String] = []
        try Self.withRun { (run: String) throws -> Void in
            for command in CommandLineTool.skein.commands {
                for name in ["adapter", "init-adapter"] {
                    guard let option = command.table.option(named: name) else { continue }
                    commands.append(command.table.command)
                    let arguments = ParsedArguments(
                        table: command.table, texts: [name: run], positionals: ["x"])
                    let resolved = try RepositoryNames.resolved(
                        arguments, CapturedProcess().io())
                    let prefix = command.table.command == "serve" ? "jargon=" : ""
                    #expect(resolved.text(of: option) == prefix + run + "/adapter")
                }
            }
        }
        #expect(
            commands == [
                "train", "coordinator", "launch", "join", "evaluate", "generate", "serve",
                "export", "fuse",
            ])
    }

    @Test("serve calls an adapter without a name as the run, folder or file that it is of")
    func names() throws {
        try Self.withRun { (run: String) throws -> Void in
            func names(_ text: String) throws -> [String] {
                try ServeCommand.adapters(in: text).map(\.name)
            }
            #expect(try names(run) == ["jargon"])
            #expect(try names(run + "/") == ["jargon"])
            #expect(try names(run + "/adapter") == ["jargon"])
            #expect(try names("other=" + run) == ["other"])
            #expect(try names("some/peft\nsome/a.gguf\nx=y") == ["peft", "a", "x"])
            #expect(try names("org/name@main") == ["name"])
            #expect(throws: UsageError.self) { try names("=x") }
            #expect(throws: UsageError.self) { try names("x=") }
        }
    }

    @Test("a run that keeps no adapter yet is told from a folder of another kind")
    func none() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            try AtomicFile.write("{}", to: directory + "/run.json")
            for step in ["step-000050", "step-000100"] {
                try AtomicFile.makeDirectory(directory + "/checkpoints/" + step)
            }
            #expect(AdapterFormats.standard.place(directory) == directory)
            let error = #expect(throws: FormatError.self) {
                try AdapterFormats.standard.format(at: directory)
            }
            let what = error?.explanation.what ?? ""
            #expect(what.contains("a run that keeps no adapter yet"))
            #expect(what.contains(directory + "/checkpoints/step-000100"))
        }
    }
}
