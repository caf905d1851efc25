import Foundation
import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTestSupport
import Synchronization

@testable import SkeinServe

/// A server with a tiny model on a port of its own, and what clients do with it.
final class ServeCase {
    let directory: String
    let model: ModelDirectory
    let server: OpenAIServer
    private let port: UInt16

    struct Answer {
        var status: Int
        var headers: [String: String]
        var text: String

        /// The body as JSON; an empty object if it is none.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }
        var choices: [[String: Any]] { json["choices"] as? [[String: Any]] ?? [] }
        var error: [String: Any] { json["error"] as? [String: Any] ?? [:] }
        /// The texts of a completion.
        var texts: [String] { choices.map { $0["text"] as? String ?? "?" } }
        /// The content of a chat.
        var content: String {
            (choices.first?["message"] as? [String: Any])?["content"] as? String ?? "?"
        }
        var finish: String { choices.first?["finish_reason"] as? String ?? "?" }
        var usage: [String: Any] { json["usage"] as? [String: Any] ?? [:] }
        var cachedTokens: Int {
            (usage["prompt_tokens_details"] as? [String: Any])?["cached_tokens"] as? Int ?? -1
        }
    }

    init(
        in directory: String, sources: ServeSources = ServeSources(),
        log: Log = Log(to: { _, _ in }),
        change: (inout OpenAIServer.Options) throws -> Void = { _ in }
    ) throws {
        self.directory = directory
        let path = directory + "/tiny.gguf"
        if !FileManager.default.fileExists(atPath: path) {
            var tiny = TinyModel()
            tiny.contextLength = 131_072
            try tiny.writeGGUF(to: path)
        }
        model = try ModelDirectory.open(path)
        var options = OpenAIServer.Options(listen: "127.0.0.1:0")
        options.threads = 2
        options.prefixBytes = 8 << 20
        options.context = 512
        options.logsRequests = false
        try change(&options)
        server = try OpenAIServer(
            model, options, sources: sources, log: log)
        port = UInt16(server.address.split(separator: ":").last ?? "") ?? 0
    }

    deinit { server.drain(grace: .seconds(30)) }

    /// Runs `body` with a server that ends with it.
    static func run(_ body: (ServeCase) throws -> Void) throws { try run({ _ in }, with: body) }

    static func run(
        _ change: (inout OpenAIServer.Options) throws -> Void, with body: (ServeCase) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try body(ServeCase(in: directory, change: change))
        }
    }

    func client(receiveBytes: Int32? = nil) throws -> HTTPClient {
        try HTTPClient(port: port, receiveBytes: receiveBytes)
    }

    func send(
        _ method: String, _ path: String, _ body: String = "", headers: [String] = [],
        to client: HTTPClient
    ) throws {
        let lines =
            ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)"]
            + (body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]) + headers
        try client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// One request on a connection of its own.
    func ask(
        _ method: String, _ path: String, _ body: String = "", headers: [String] = []
    ) throws -> Answer {
        let client = try client()
        try send(method, path, body, headers: headers, to: client)
        guard let response = try client.response(isHead: method == "HEAD") else {
            return Answer(status: 0, headers: [:], text: "")
        }
        return Answer(status: response.status, headers: response.headers, text: response.text)
    }

    func complete(_ fields: String) throws -> Answer {
        try ask("POST", "/v1/completions", "{\(fields)}")
    }

    func chat(_ fields: String) throws -> Answer {
        try ask("POST", "/v1/chat/completions", "{\(fields)}")
    }

    /// The chunks of a stream, without its end; nil: there was no `[DONE]`.
    func stream(_ path: String, _ fields: String) throws -> [[String: Any]]? {
        let client = try client()
        try send("POST", path, "{\"stream\":true,\(fields)}", to: client)
        var chunks: [[String: Any]] = []
        while let event = try client.event() {
            let data = event.hasPrefix("data: ") ? String(event.dropFirst(6)) : event
            if data == "[DONE]" { return chunks }
            chunks.append(
                (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any]
                    ?? ["bad": data])
        }
        return nil
    }

    /// A number of /metrics.
    func metric(_ name: String) throws -> Int {
        let text = try ask("GET", "/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) } ?? -1
    }

    /// Writes an adapter of the model as PEFT's files.
    @discardableResult
    func writeAdapter(
        _ name: String, seed: UInt64, rank: Int = 4, base: String? = nil
    ) throws -> String {
        try Self.writeAdapter(
            directory + "/" + name, model: model, seed: seed, rank: rank, base: base)
    }

    static func writeAdapter(
        _ path: String, model: ModelDirectory, seed: UInt64, rank: Int = 4, base: String? = nil,
        baseName: String = "tiny"
    ) throws -> String {
        let parameters = Self.parameters(model, seed: seed, rank: rank)
        var configuration = AdapterConfiguration(
            rank: rank, alpha: Double(2 * rank), dropout: 0, targetModules: ["q_proj", "v_proj"],
            baseModelName: baseName)
        if let base {
            configuration.origin = AdapterOrigin(
                base: AdapterOrigin.Base(name: "other", revision: nil, sha256: base), data: nil,
                recipe: nil)
        }
        try AdapterFiles.write(
            configuration: configuration,
            tensors: parameters.shape.layout.tensors(parameters.values), to: path)
        return path
    }

    private static func parameters(
        _ model: ModelDirectory, seed: UInt64, rank: Int
    ) -> AdapterParameters {
        let lora = LoRAConfiguration(
            rank: rank, scale: 2, dropout: 0, targets: [.query, .value],
            layers: 0..<model.configuration.layerCount)
        var adapter = AdapterParameters(
            shape: AdapterShape(lora, model: model.configuration), seed: seed)
        let noise = CentralDifference.numbers(
            adapter.values.count, seed: seed, stream: 1, spread: 0.2)
        adapter.values = zip(adapter.values, noise).map { $0 + $1 }
        return adapter
    }
}

/// What a server does now, and waits for it.
extension ServeCase {
    /// Fields of a completion that goes on until its client leaves; the context is long enough for it.
    static let endless = #""prompt":"the","max_tokens":90000,"ignore_eos":true"#

    var computedTokens: Int { server.figures.computedTokens }

    /// Waits until numbers of /metrics, named without `skein_serve_`, have these values.
    func wait(for values: [String: Int]) throws {
        try Deadline.wait {
            values.allSatisfy { name, value in
                (try? metric("skein_serve_\(name)")) == value
            }
        }
    }

    /// What is held of requests: empty, when all of them have ended.
    func leftovers() throws -> [String] {
        try ["requests_open", "answers_running", "answers_waiting", "cache_bytes"].filter {
            try metric("skein_serve_\($0)") != 0
        }
    }
}
