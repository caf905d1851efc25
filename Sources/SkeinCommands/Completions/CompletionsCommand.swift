import SkeinBasics

/// `skein completions`: prints what a shell must read to complete the words of this tool.
struct CompletionsCommand: Command {
    enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    static let table = ArgumentTable(
        command: "completions",
        summary: "prints a script with which a shell completes command lines",
        positional: Positional(
            "SHELL", count: .one, choices: Shell.allCases.map(\.rawValue),
            "bash: put eval \"$(skein completions bash)\" into ~/.bashrc; zsh: put "
                + "eval \"$(skein completions zsh)\" into ~/.zshrc, below compinit; fish: run "
                + "skein completions fish >~/.config/fish/completions/skein.fish"),
        groups: [],
        example: "skein completions bash")

    private let shell: Shell

    init(_ arguments: ParsedArguments) throws {
        guard let shell = arguments.positionals.first.flatMap({ Shell(rawValue: $0) }) else {
            throw UsageError.missingPositional("SHELL", command: Self.table.command)
        }
        self.shell = shell
    }

    func run(_ io: CommandIO) throws {
        try io.write(
            Self.script(for: shell, tables: CommandLineTool.skein.commands.map { $0.table }))
    }

    /// The script for commands with these tables.
    static func script(for shell: Shell, tables: [ArgumentTable]) -> String {
        switch shell {
        case .bash: BashCompletions.script(tables)
        case .zsh: ZshCompletions.script(tables)
        case .fish: FishCompletions.script(tables)
        }
    }
}

/// What may stand where a value or an argument is wanted.
enum CompletedValue: Sendable, Equatable {
    case words([String])
    case files
    /// A number or a text that a shell cannot guess.
    case unknown

    init(choices: [String], isPath: Bool) {
        self = isPath ? .files : choices.isEmpty ? .unknown : .words(choices)
    }
}

extension OptionDescription {
    /// nil: it takes no value, or may stand without one, so that another option may follow.
    var completedValue: CompletedValue? {
        isFlag || bare != nil ? nil : CompletedValue(choices: choices, isPath: isPath)
    }
}

extension Positional {
    var completedValue: CompletedValue { CompletedValue(choices: choices, isPath: isPath) }
}

extension ArgumentTable {
    /// What a shell offers: retired options are accepted, but not advertised.
    var completedOptions: [OptionDescription] { options.filter { !$0.isRetired } }
}
