import Foundation
import FoundationModels
import Routing

/// The command line.
struct Arguments {
    static let help = """
        usage: Router [options]

        A chat over several models. Type a question; an empty line or Ctrl-D ends it, Ctrl-C stops an answer.

          --model FILE             a GGUF file or a Hugging Face folder; it is called "local"
          --adapter FOLDER         a LoRA adapter for it
          --server NAME=URL        a server of OpenAI's protocol; may be repeated
          --server-model MODEL     what the server before it is asked for
          --server-key-from NAME   the environment variable with its key
          --server-window TOKENS   of a prompt and its answer (4096)
          --simulate               also a provider "simulation" that repeats you, for a trial without models;
                                   it is asked only after /use simulation
          --use NAME               who is asked first; else by the order of the options
          --no-fallback            nobody else is asked if that one fails
          --private                nothing leaves this machine
          --instructions TEXT      what every model is told first
          --budget TOKENS          of a prompt and its answer, below the windows
          --answer-tokens TOKENS   of an answer (256)
          --patience SECONDS       from one piece of an answer to the next (30)
          --first-patience SECONDS until the first piece (120)
          --conversation FILE      where the conversation is kept and goes on the next time

        While chatting: /use NAME, /auto, /private, /forget, /routes, /help

        example: Router --model SmolLM2-135M-Instruct.gguf \\
                   --server house=http://127.0.0.1:8080/v1 --server-model jargon
        """

    private(set) var providers: [any Provider] = []
    private(set) var conversation = Conversation()
    private(set) var policy = RoutingPolicy()
    private(set) var memory = Memory()
    private(set) var patience = Patience()
    private(set) var file: ConversationFile?
    private(set) var wantsHelp = false

    private struct Server {
        var name: String
        var base: URL
        var model: String?
        var key: String?
        var window = 4096
    }

    /// What is wrong with a command line.
    struct Flaw: Error, CustomStringConvertible {
        var description: String
    }

    init(_ words: [String]) throws {
        var words = words[...]
        var model: String?
        var adapter: String?
        var order: [String] = []
        var servers: [Server] = []
        var simulates = false
        while let option = words.popFirst() {
            func value() throws -> String {
                // An option in the place of a value: somebody has forgotten the value.
                guard let value = words.popFirst(), !value.isEmpty, !value.hasPrefix("--") else {
                    throw Flaw(description: "\(option) needs a value")
                }
                return value
            }
            func number(_ range: ClosedRange<Int>) throws -> Int {
                let text = try value()
                guard let number = Int(text), range.contains(number) else {
                    throw Flaw(
                        description:
                            "\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not \(text)"
                    )
                }
                return number
            }
            func server(_ change: (inout Server) throws -> Void) throws {
                guard !servers.isEmpty else {
                    throw Flaw(description: "\(option) comes after the --server that it is for")
                }
                try change(&servers[servers.count - 1])
            }
            switch option {
            case "--help", "-h": wantsHelp = true
            case "--model":
                guard model == nil else { throw Flaw(description: "--model is there twice") }
                model = try value()
                order.append("local")
            case "--adapter": adapter = try value()
            case "--server":
                let text = try value()
                guard let sign = text.firstIndex(of: "="), sign > text.startIndex,
                    let base = URL(string: String(text[sign...].dropFirst()))
                else {
                    throw Flaw(description: "--server takes NAME=URL, not \(text)")
                }
                let name = String(text[..<sign])
                guard name.allSatisfy({ $0.isLetter || $0.isNumber || "-_.".contains($0) }),
                    !["local", SimulatedProvider().name].contains(name)
                else {
                    throw Flaw(
                        description: "a server cannot be called \(name): take letters and digits, "
                            + "and neither local nor \(SimulatedProvider().name)")
                }
                servers.append(Server(name: name, base: base))
                order.append(name)
            case "--server-model": try server { $0.model = try value() }
            case "--server-key-from":
                let name = try value()
                guard let key = ProcessInfo.processInfo.environment[name], !key.isEmpty else {
                    throw Flaw(description: "there is no environment variable \(name)")
                }
                try server { $0.key = key }
            case "--server-window": try server { $0.window = try number(64...16_777_216) }
            case "--simulate": simulates = true
            case "--use": policy.chosen = try value()
            case "--no-fallback": policy.fallsBack = false
            case "--private": conversation.isPrivate = true
            case "--instructions": conversation.instructions = try value()
            case "--budget": memory.budget = try number(64...16_777_216)
            case "--answer-tokens": memory.answerTokens = try number(1...1_048_576)
            case "--patience": patience.silence = .seconds(try number(1...86400))
            case "--first-patience": patience.beginning = .seconds(try number(1...86400))
            case "--conversation": file = ConversationFile(URL(filePath: try value()))
            default: throw Flaw(description: "there is no option \(option)")
            }
        }
        if wantsHelp { return }
        // Who waits longer for a piece waits longer for all of them.
        patience.whole = max(patience.whole, patience.beginning + patience.silence * 10)
        for name in order {
            if let server = servers.first(where: { $0.name == name }) {
                guard let wanted = server.model else {
                    throw Flaw(
                        description:
                            "--server \(name) needs --server-model: see \(server.base)/models")
                }
                providers.append(
                    try ServerProvider(
                        name: name, base: server.base, model: wanted, key: server.key,
                        window: server.window))
            } else if let model {
                let loaded = try adapter.map {
                    try SystemLanguageModel.Adapter(fileURL: URL(filePath: $0))
                }
                providers.append(
                    LocalProvider(
                        name: name,
                        model: SystemLanguageModel(model: URL(filePath: model), adapter: loaded),
                        identity: "\(model) \(adapter ?? "")"))
            }
        }
        if simulates { providers.append(SimulatedProvider()) }
        guard !providers.isEmpty else {
            throw Flaw(description: "there is nobody to ask: name a --model or a --server")
        }
        if adapter != nil && model == nil { throw Flaw(description: "--adapter is for a --model") }
        if let stored = try file?.load() {
            let settings = conversation
            conversation = stored
            if !settings.instructions.isEmpty { conversation.instructions = settings.instructions }
            conversation.isPrivate = stored.isPrivate || settings.isPrivate
        }
    }
}
