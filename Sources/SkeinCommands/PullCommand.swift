import SkeinBasics
import SkeinHub
import SkeinJSON

/// `skein pull`: downloads a model or an adapter of the Hub into the cache that Python's tools have, too.
struct PullCommand: Command {
    static let table = ArgumentTable(
        command: "pull",
        summary: "downloads a model or adapter from the Hub and prints its path",
        positional: Positional(
            "ORG/NAME[@REVISION][:FILE]", count: .one,
            "the model or adapter; with FILE, one GGUF file (all of its parts) of the repository"),
        groups: [
            OptionGroup(
                title: "what",
                options: [SharedFlags.json.description, SharedFlags.logFormat.description])
        ],
        example: "skein pull HuggingFaceTB/SmolLM2-135M-Instruct")

    private let text: String
    private let json: Bool

    init(_ arguments: ParsedArguments) throws {
        text = arguments.positionals[0]
        json = arguments[SharedFlags.json]
    }

    func run(_ io: CommandIO) throws {
        guard let reference = HubReference(text) else { throw HubError.notAReference(text: text) }
        let path = try RepositoryNames.path(of: reference, as: nil, asksServer: true, io)
        if json {
            try io.print(json: [
                ("model", .text(reference.text)), ("path", .text(path)),
            ])
        } else {
            try io.print(path)
        }
    }
}
