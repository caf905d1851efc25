import Foundation
import SkeinBasics
import SkeinHub
import SkeinJSON

/// What Skein asks of an MLflow tracking server: version 2.0 of its REST API.
struct MLflowServer: Sendable {
    /// A number at a step.
    struct Metric: Sendable, Equatable {
        var key: String
        var value: Double
        /// Milliseconds since 1970.
        var time: Int
        var step: Int
    }

    typealias Pair = (key: String, value: String)

    enum Status: String, Sendable, Codable {
        case running = "RUNNING"
        case finished = "FINISHED"
        case failed = "FAILED"
        case killed = "KILLED"
    }

    /// Scheme, host, port and path, without a slash at the end.
    let url: String
    private let exchange: @Sendable (ExchangeRequest) throws -> ExchangeAnswer

    /// - Parameters:
    ///   - text: a URL without a name, a password or a query.
    ///   - exchange: sends a request and waits for its answer, for a bounded time.
    /// - Throws: `MLflowError.badURL`.
    init(
        _ text: String, exchange: @escaping @Sendable (ExchangeRequest) throws -> ExchangeAnswer
    ) throws {
        url = try Self.checked(text)
        self.exchange = exchange
    }

    static func checked(_ text: String) throws -> String {
        guard text.utf8.count <= Limits.urlBytes, let url = URL(string: text),
            let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.user == nil, url.password == nil,
            url.query == nil, url.fragment == nil, (1...65535).contains(url.port ?? 80)
        else { throw MLflowError.badURL(text) }
        var checked = text
        while checked.hasSuffix("/") { checked.removeLast() }
        return checked
    }

    // MARK: - Experiments and runs

    /// The experiment of this name, made if need be.
    ///
    /// - Returns: its identifier.
    /// - Throws: `MLflowError`.
    func experiment(named name: String) throws -> String {
        if let known = try knownExperiment(name) { return known }
        do {
            let answer: Experiment = try post("experiments/create", [("name", .text(name))])
            return try identifier(answer.identifier)
        } catch MLflowError.refused(_, 400, let message) {
            // Another run may have made it meanwhile.
            if let known = try knownExperiment(name) { return known }
            throw MLflowError.refused(server: url, status: 400, message: message)
        }
    }

    private func knownExperiment(_ name: String) throws -> String? {
        struct Answer: Decodable { var experiment: Experiment }
        do {
            let answer: Answer = try get(
                "experiments/get-by-name", query: ("experiment_name", name))
            return try identifier(answer.experiment.identifier)
        } catch MLflowError.refused(_, 404, _) {
            return nil
        }
    }

    private struct Experiment: Decodable {
        var identifier: String
        enum CodingKeys: String, CodingKey { case identifier = "experiment_id" }
    }

    private struct RunAnswer: Decodable {
        struct Run: Decodable {
            struct Info: Decodable {
                var identifier: String
                enum CodingKeys: String, CodingKey { case identifier = "run_id" }
            }
            struct Data: Decodable {
                struct Metric: Decodable {
                    var key: String
                    var step: FlexibleInteger?
                }
                var metrics: [Metric]?
            }
            var info: Info
            var data: Data?
        }
        var run: Run
    }

    /// - Returns: the new run's identifier.
    /// - Throws: `MLflowError`.
    func makeRun(experiment: String, name: String, time: Int, tags: [Pair]) throws -> String {
        let answer: RunAnswer = try post(
            "runs/create",
            [
                ("experiment_id", .text(experiment)), ("run_name", .text(name)),
                ("start_time", .integer(time)), ("tags", Self.pairs(tags)),
            ])
        return try identifier(answer.run.info.identifier)
    }

    /// The run with a tag, if there is one.
    func run(experiment: String, tag: Pair) throws -> String? {
        struct Answer: Decodable { var runs: [RunAnswer.Run]? }
        let answer: Answer = try post(
            "runs/search",
            [
                ("experiment_ids", .list([.text(experiment)])),
                ("filter", .text("tags.`\(tag.key)` = '\(tag.value)'")),
                ("max_results", .integer(1)),
            ])
        return try (answer.runs?.first?.info.identifier).map(identifier)
    }

    /// The last steps of a run's series, by their keys.
    func lastSteps(ofRun run: String) throws -> [String: Int] {
        let answer: RunAnswer = try get("runs/get", query: ("run_id", run))
        var steps: [String: Int] = [:]
        for metric in answer.run.data?.metrics ?? [] { steps[metric.key] = metric.step?.value ?? 0 }
        return steps
    }

    /// - Parameters:
    ///   - run: its identifier.
    ///   - metrics: of at most `Limits.recordsAtOnce` records.
    ///   - parameters: at most `Limits.parametersAtOnce`; they never change.
    ///   - tags: they replace those of the same key.
    /// - Throws: `MLflowError`.
    func log(
        run: String, metrics: [Metric] = [], parameters: [Pair] = [], tags: [Pair] = []
    ) throws {
        struct Answer: Decodable {}
        let _: Answer = try post(
            "runs/log-batch",
            [
                ("run_id", .text(run)),
                (
                    "metrics",
                    .list(
                        metrics.map {
                            .fields([
                                ("key", .text($0.key)), ("value", .decimal($0.value)),
                                ("timestamp", .integer($0.time)), ("step", .integer($0.step)),
                            ])
                        })
                ),
                ("params", Self.pairs(parameters)), ("tags", Self.pairs(tags)),
            ])
    }

    func set(_ status: Status, run: String, time: Int? = nil) throws {
        struct Answer: Decodable {}
        var fields: [(String, JSONValue)] = [
            ("run_id", .text(run)), ("status", .text(status.rawValue)),
        ]
        if let time { fields.append(("end_time", .integer(time))) }
        let _: Answer = try post("runs/update", fields)
    }

    // MARK: - Requests

    private static func pairs(_ pairs: [Pair]) -> JSONValue {
        .list(pairs.map { .fields([("key", .text($0.key)), ("value", .text($0.value))]) })
    }

    private func get<Answer: Decodable>(_ name: String, query: Pair) throws -> Answer {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let value = query.value.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return try ask(ExchangeRequest(.get, url: "\(path(name))?\(query.key)=\(value)"))
    }

    private func post<Answer: Decodable>(
        _ name: String, _ fields: [(String, JSONValue)]
    ) throws -> Answer {
        try ask(ExchangeRequest(.post, url: path(name), body: JSONValue.fields(fields).written))
    }

    private func path(_ name: String) -> String { url + "/api/2.0/mlflow/" + name }

    private func ask<Answer: Decodable>(_ request: ExchangeRequest) throws -> Answer {
        switch try exchange(request) {
        case .failed(let problem):
            throw MLflowError.unreachable(server: url, problem: Self.shown(problem))
        case .answered(200, let body):
            do {
                return try JSONTree.decode(Answer.self, from: body.utf8)
            } catch {
                throw MLflowError.badAnswer(
                    server: url, problem: "\(body.utf8.count) bytes that are not what was asked for"
                )
            }
        case .answered(let status, let body):
            // A proxy's page has no message of MLflow; the status is told in any case.
            let problem = try? JSONTree.decode(Problem.self, from: body.utf8)
            throw MLflowError.refused(
                server: url, status: status, message: Self.shown(problem?.message ?? ""))
        }
    }

    /// Identifiers go into URLs and files.
    private func identifier(_ text: String) throws -> String {
        guard MLflowState.isIdentifier(text) else {
            throw MLflowError.badAnswer(server: url, problem: "an identifier of strange characters")
        }
        return text
    }

    /// What a server says, for a line of a log.
    private static func shown(_ text: String) -> String {
        ForeignText.withoutControls(text, limit: Limits.messageCharacters, mark: " ")
    }
}

/// What MLflow answers instead of what was asked for.
private struct Problem: Decodable { var message: String? }

/// A 64-bit integer, which some JSON writers make a string.
private struct FlexibleInteger: Decodable {
    let value: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            value = try container.decode(Int.self)
        } catch DecodingError.typeMismatch {
            value = Int(try container.decode(String.self)) ?? 0
        }
    }
}
