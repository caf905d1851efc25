import SkeinBasics
import SkeinHub
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinServe
import SkeinText

/// `skein serve`: a model and its adapters behind OpenAI's protocol.
struct ServeCommand: Command {
    static let listen = Option<Endpoint>(
        "listen", .endpoint("127.0.0.1", 8080), default: "127.0.0.1:8080",
        "address to listen on; 0.0.0.0: every address of this machine; port 0: a free port")
    static let apiKeyFile = Option.optional(
        "api-key-file", .path("FILE"), absent: "no key is asked for",
        "file with one API key a line, readable only by its owner")
    static let corsOrigin = Option.optional(
        "cors-origin", .text("ORIGIN"), absent: "none",
        "site whose pages may ask from a browser, such as https://chat.example.org; *: any")
    static let allowedHosts = Option.optional(
        "allowed-host", .text("NAME"), absent: "names of this machine",
        "another name under which the server may be asked without a key, such as a proxy's; several: "
            + "once for each"
    ).repeatable { first, second in first + "\n" + second }
    static let adapters = Option.optional(
        "adapter", .text("[NAME=]PATH"),
        "adapter that requests can name as their model: a path, a run's folder, or "
            + "ORG/NAME[@revision][:file.gguf] of the Hub; without NAME= it is called as the folder; "
            + "several: once for each"
    ).repeatable { first, second in first + "\n" + second }
    static let adapterRoot = Option.optional(
        "adapter-root", .path("DIR"), absent: "clients name no paths",
        "directory below which clients may load adapters (/v1/load_lora_adapter) and name "
            + "checkpoints of runs (RUN@STEP, RUN@latest)")
    static let follow = Option.optional(
        "follow", .path("RUN"),
        "output directory of a run: its newest checkpoint is served under the directory's name")
    static let name = Option.optional(
        "name", .text("NAME"), absent: "the model file's name",
        "what requests call the base model")
    static let drain = Option<Duration>(
        "drain", .duration, default: "30s",
        "how long answers under way may take after SIGTERM")
    static let noRequestLog = Option.flag("no-request-log", "do not log each request")

    static let table = ArgumentTable(
        command: "serve",
        summary: "serves a model and its adapters to OpenAI clients",
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, name.description, adapters.description,
                    SharedFlags.anyBase.description, adapterRoot.description,
                ] + HostOptions.options.under(HostOptions.loaded) + [follow.description]),
            OptionGroup(
                title: "who",
                options: [
                    listen.description, apiKeyFile.description, corsOrigin.description,
                    allowedHosts.description,
                ]),
            ChatFlags.group,
            OptionGroup(
                title: "sampling, where a request does not say",
                options: SamplingFlags.defaults),
            OptionGroup(
                title: HostOptions.room.title,
                options: HostOptions.options.under(HostOptions.room) + [drain.description]),
            OptionGroup(
                title: HostOptions.machine.title,
                options: HostOptions.options.under(HostOptions.machine) + [
                    noRequestLog.description, SharedFlags.logFormat.description,
                ]),
        ],
        example: "skein serve --model model.gguf --adapter jargon=run",
        first: [
            "model", "name", "adapter", "adapter-root", "follow", "listen", "api-key-file",
            "cors-origin", "chat-template", "parallel", "context", "max-tokens", "temperature",
            "threads", "compute",
        ])

    let model: String
    let keyFile: String?
    let options: OpenAIServer.Options
    let grace: Duration

    init(_ arguments: ParsedArguments) throws {
        model = arguments[SharedFlags.model]
        keyFile = arguments[Self.apiKeyFile]
        grace = arguments[Self.drain]
        var options = OpenAIServer.Options(listen: arguments[Self.listen].text)
        options.name = arguments[Self.name]
        options.adapters = try arguments[Self.adapters].map { try Self.adapters(in: $0) } ?? []
        options.anyBase = arguments[SharedFlags.anyBase]
        options.adapterRoot = arguments[Self.adapterRoot]
        options.host = arguments.values()
        options.follow = arguments[Self.follow]
        options.corsOrigin = arguments[Self.corsOrigin]
        options.allowedHosts = try arguments[Self.allowedHosts].map { try Self.hosts(in: $0) } ?? []
        options.sampling = SamplingFlags.defaults(arguments)
        options.chat = arguments.chat
        options.logsRequests = !arguments[Self.noRequestLog]
        self.options = options
    }

    static func adapters(in text: String) throws -> [OpenAIServer.Options.NamedAdapter] {
        try text.split(separator: "\n").map { line in
            let border = line.firstIndex(of: "=")
            guard let border else {
                let path = String(line)
                let reference = HubInput.reference(path, as: .adapter)
                return .init(name: reference?.name ?? AdapterFormats.name(of: path), path: path)
            }
            guard border > line.startIndex, line.index(after: border) < line.endIndex else {
                throw UsageError.badValue(
                    option: "adapter", value: String(line),
                    accepted: "NAME=PATH, such as jargon=run, or a path", suggestion: nil)
            }
            return .init(
                name: String(line[..<border]), path: String(line[line.index(after: border)...]))
        }
    }

    static func hosts(in text: String) throws -> [String] {
        try text.split(separator: "\n").map { line in
            guard let endpoint = Endpoint(String(line)), endpoint.host == line else {
                throw UsageError.badValue(
                    option: "allowed-host", value: String(line),
                    accepted: "a host's name without its port, such as models.example.org",
                    suggestion: nil)
            }
            return endpoint.host
        }
    }

    private enum Phase: Sendable {
        case loading, serving, stopped
    }

    func run(_ io: CommandIO) throws {
        var options = options
        if let keyFile {
            options.keys = try APIKeys(
                text: BoundedInput.read(path: keyFile, limit: 1 << 20), path: keyFile)
            if let warning = APIKeys.warning(of: keyFile) { io.log.warning(warning) }
        }
        ComputeAdvice.warnOfSoftware(options.host.compute, io.log)
        let phase = Condition(Phase.loading)
        let log = io.log
        let door = try ServeDoor(options)
        io.interrupt.listen {
            if phase.change({ phase in
                let isLoading = phase == .loading
                if isLoading { phase = .stopped }
                return isLoading
            }) {
                // There is no answer to wait for, and what is being read is not stopped halfway.
                log.info("stopped while the model was being read")
                InterruptFlag.endAtOnce(.done)
            }
            // Before the server hears of it, which may be gone at once.
            log.info("finishing the answers under way; interrupt again to stop at once")
            phase.change { $0 = .stopped }
        }
        log.info(
            "reading the model; until it is there, requests to \(door.address) get 503",
            [("loading", .text(door.address))])
        let server = try OpenAIServer(
            ModelDirectory.open(model), options, door: door, log: log)
        phase.change { if $0 == .loading { $0 = .serving } }
        if !server.isLoopback, options.keys.isEmpty {
            log.warning(
                "any client that reaches \(server.address) may use the model: give --api-key-file")
        }
        log.info("listening on \(server.url)", [("url", .text(server.url))])
        _ = phase.wait { $0 == .stopped ? true : nil }
        if !server.drain(grace: grace) {
            log.warning("some answers were cut off after \(grace)")
        }
    }
}
