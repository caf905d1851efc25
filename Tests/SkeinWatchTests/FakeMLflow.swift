import Foundation
import SkeinBasics
import SkeinHub

/// An MLflow server in memory, which can lose requests and answers.
final class FakeMLflow: @unchecked Sendable {
    enum Fault: CaseIterable {
        /// The request does not arrive.
        case request
        /// It is done, and the answer does not arrive.
        case answer
        /// The client ends with it.
        case killed
    }

    struct Killed: Error {}

    struct Metric: Decodable {
        var key: String
        var step: Int
        var value: Double
        /// Milliseconds since 1970.
        var timestamp: Int
    }

    struct Run {
        var tags: [String: String] = [:]
        var parameters: [String: String] = [:]
        var metrics: [Metric] = []
        var statuses: [String] = []
    }

    // `lock` guards everything.
    private let lock = NSLock()
    private var experiments: [String: String] = [:]
    private(set) var runs: [Run] = []
    private(set) var requests = 0
    /// What happens at which request, counted from 0.
    var faults: [Int: Fault] = [:]

    func exchange(_ request: ExchangeRequest) throws -> ExchangeAnswer {
        try lock.withLock {
            let fault = faults[requests]
            requests += 1
            if fault == .request { return .failed(problem: "nothing arrives") }
            let answer = try answer(request)
            switch fault {
            case .answer: return .failed(problem: "no answer")
            case .killed: throw Killed()
            default: return answer
            }
        }
    }

    private func answer(_ request: ExchangeRequest) throws -> ExchangeAnswer {
        let url = try known(URLComponents(string: request.url))
        let name = url.path.replacingOccurrences(of: "/api/2.0/mlflow/", with: "")
        let query = Dictionary(
            uniqueKeysWithValues: (url.queryItems ?? []).map { ($0.name, $0.value ?? "") })
        let body =
            try request.body.map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
            } ?? [:]
        func text(_ key: String) -> String { body[key] as? String ?? query[key] ?? "" }
        func pairs(_ key: String) -> [(String, String)] {
            (body[key] as? [[String: String]] ?? []).map { ($0["key"] ?? "", $0["value"] ?? "") }
        }
        switch name {
        case "experiments/get-by-name":
            guard let found = experiments[text("experiment_name")] else {
                return .answered(status: 404, body: #"{"message": "none"}"#)
            }
            return ok(#"{"experiment": {"experiment_id": "\#(found)"}}"#)
        case "experiments/create":
            experiments[text("name")] = "7"
            return ok(#"{"experiment_id": "7"}"#)
        case "runs/search":
            let key = text("filter").split(separator: "'").last.map(String.init)
            let found = runs.firstIndex { $0.tags["skein.key"] == key }
            return ok(
                found.map { #"{"runs": [{"info": {"run_id": "r\#($0)"}}]}"# } ?? #"{"x": 1}"#)
        case "runs/create":
            var run = Run()
            run.tags = Dictionary(uniqueKeysWithValues: pairs("tags"))
            runs.append(run)
            return ok(#"{"run": {"info": {"run_id": "r\#(runs.count - 1)"}}}"#)
        default: break
        }
        // JSONSerialization reads some numbers one digit off.
        struct Batch: Decodable { var metrics: [Metric]? }
        let batch = try request.body.map {
            try JSONDecoder().decode(Batch.self, from: Data($0.utf8))
        }
        return change(name, text, batch?.metrics ?? [], pairs)
    }

    private func change(
        _ name: String, _ text: (String) -> String, _ metrics: [Metric],
        _ pairs: (String) -> [(String, String)]
    ) -> ExchangeAnswer {
        guard let index = Int(text("run_id").dropFirst()), runs.indices.contains(index) else {
            return .answered(status: 404, body: #"{"message": "Run not found"}"#)
        }
        switch name {
        case "runs/get":
            var last: [String: Int] = [:]
            for metric in runs[index].metrics {
                last[metric.key] = max(last[metric.key] ?? 0, metric.step)
            }
            let metrics = last.map { #"{"key": "\#($0.key)", "step": \#($0.value)}"# }
            return ok(
                #"{"run": {"info": {"run_id": "r0"}, "data": {"metrics": ["#
                    + metrics.joined(separator: ",") + "]}}}")
        case "runs/log-batch":
            for (key, value) in pairs("params") { runs[index].parameters[key] = value }
            for (key, value) in pairs("tags") { runs[index].tags[key] = value }
            runs[index].metrics += metrics
            return ok("{}")
        case "runs/update":
            runs[index].statuses.append(text("status"))
            return ok(#"{"run_info": {}}"#)
        default: return .answered(status: 404, body: "")
        }
    }

    private func ok(_ body: String) -> ExchangeAnswer { .answered(status: 200, body: body) }

    private func known<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Killed() }
        return value
    }
}
