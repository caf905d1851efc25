import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// `skein serve` as a process.
@Suite("a server", .ownThreads)
struct ServeTests {
    /// The port in the line that says where it listens.
    private func port(of process: SkeinProcess) throws -> UInt16 {
        try process.waitForError("listening on http://127.0.0.1:")
        let line = process.errorText.split(separator: "\n").first { $0.contains("listening on ") }
        return try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
    }

    private func ask(_ port: UInt16, _ body: String) throws -> [String: Any] {
        let client = try HTTPClient(port: port)
        try client.send(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try Workbench.object(try #require(try client.response()).text)
    }

    @Test("an adapter that was just trained says over HTTP what generate says; SIGTERM is status 0")
    func serves() throws {
        try Workbench.with { bench in
            try bench.train("run", ["--epochs", "2", "--threads", "2"])
            let adapter = bench.path("run/adapter")
            let server = try SkeinProcess([
                "serve", "--model", bench.model, "--adapter", "mine=\(adapter)", "--listen",
                "127.0.0.1:0", "--threads", "2",
            ])
            let port = try port(of: server)
            for (model, words) in [("mine", ["--adapter", adapter]), ("tiny", [])] {
                let said = try SkeinProcess.run(
                    [
                        "generate", "--model", bench.model, "--prompt", "goose", "--max-tokens",
                        "16", "--temperature", "0.8", "--seed", "5", "--json",
                    ] + words)
                let wanted = try #require(try Workbench.object(said.output)["text"] as? String)
                let name = model == "tiny" ? "" : #""model":"mine","#
                let answer = try ask(
                    port,
                    #"{\#(name)"messages":[{"role":"user","content":"goose"}],"max_tokens":16,"#
                        + #""temperature":0.8,"seed":5}"#)
                let choice = (answer["choices"] as? [[String: Any]])?.first
                let message = choice?["message"] as? [String: Any]
                // `generate` writes special tokens, which a message leaves out.
                let content = try #require(message?["content"] as? String)
                #expect(
                    TinyVocabulary.specials.reduce(wanted) {
                        $0.replacingOccurrences(of: $1, with: "")
                    } == content)
            }
            server.send(SIGTERM)
            let ending = try server.wait()
            #expect(ending.status == 0, "\(ending.error)")
            #expect(ending.error.contains("again to stop at once"))
        }
    }

    @Test("what cannot be served is said, with what to do about it")
    func refused() throws {
        try Workbench.with { bench in
            for (words, complaint) in [
                (["--adapter", "=a"], Complaint(64, "NAME=PATH")),
                (["--context", "999999"], Complaint(64, "at most", "--context")),
                (["--adapter", "a=\(bench.path("none"))"], Complaint(65, "none")),
                (["--api-key-file", bench.path("none")], Complaint(74, "none")),
                (["--adapter-root", bench.path("none")], Complaint(74, "none")),
            ] {
                let ending = try SkeinProcess.run(
                    ["serve", "--model", bench.model, "--listen", "127.0.0.1:0"] + words)
                Complaint.$current.withValue(words.joined(separator: " ")) {
                    complaint.check(ending)
                }
            }
        }
    }
}
