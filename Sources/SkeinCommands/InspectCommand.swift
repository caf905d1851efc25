import SkeinBasics

/// `skein inspect`: describes a model, adapter, checkpoint or run directory.
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
        summary: "describes a model, adapter, checkpoint or run directory",
        positional: Positional(
            "PATH", count: .one, isPath: true,
            "a GGUF or safetensors file, or the folder of a model, adapter, checkpoint or run"
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
        let facts = try facts()
        if options.json {
            try io.print(json: facts.fields)
        } else {
            try io.write(facts.text)
        }
    }

    private func facts() throws -> Facts {
        let path = options.path
        let kind = try InspectedKind(path: path)
        if options.verifyLedger, kind != .run {
            throw CommandError.badInput(.noRun, place: path)
        }
        switch kind {
        case .model: return try Facts(modelAt: path)
        case .adapter: return try Facts(adapterAt: path)
        case .checkpoint: return try Facts(checkpointAt: path)
        case .safetensors: return try Facts(safetensorsAt: path)
        case .run:
            let paths = RunPaths(directory: path)
            var facts = try Facts(runAt: paths)
            if options.verifyLedger { try facts.addLedger(paths) }
            return facts
        }
    }
}
