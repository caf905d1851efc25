import Basics

/// `skein inspect`: what a model, adapter, checkpoint or run directory is.
struct InspectCommand: Command {
    struct Options: Sendable, Equatable {
        var path: String
        var verifyLedger: Bool
        var json: Bool
    }

    static let verifyLedger = Option.flag(
        "verify-ledger", "check that each micro-batch of a run was counted exactly once")

    static let table = ArgumentTable(
        command: "inspect",
        summary: "tells what a model, adapter, checkpoint or run directory is",
        positional: Positional(
            "PATH", count: .one, "a GGUF file, or the folder of a model, adapter, checkpoint or run"
        ),
        groups: [
            OptionGroup(
                title: "what",
                options: [verifyLedger.description, SharedFlags.json.description])
        ],
        example: "skein inspect run --verify-ledger")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            path: arguments.positionals[0], verifyLedger: arguments[Self.verifyLedger],
            json: arguments[SharedFlags.json])
    }

    func run(_ io: CommandIO) throws {
        throw CommandError.notWired(command: Self.table.command)
    }
}
