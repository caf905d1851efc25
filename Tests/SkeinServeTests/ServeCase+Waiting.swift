import SkeinInference
import SkeinTestSupport

@testable import SkeinServe

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
