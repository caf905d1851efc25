import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinNetwork
import SkeinTestSupport
import SkeinTraining
import SkeinWatch
import Testing

@testable import SkeinCommands

/// `skein status` of a run's folder and of its page, and `--watch`.
@Suite struct RunStatusTests {
    private static func command(_ words: String...) throws -> StatusCommand {
        try StatusCommand(ArgumentParser.parse(words, by: StatusCommand.table))
    }

    private static func withRun(
        iterations: Int? = 3, steps: Int = 3, _ body: (String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            let path = directory + "/run"
            try AtomicFile.makeDirectory(path)
            var configuration = TrainingConfiguration.fixed
            configuration.iterations = iterations
            try RunFile(
                version: "0.1.0", fingerprint: "engine 1", model: "m.gguf", data: "d.jsonl",
                modelDigest: "aa", dataDigest: "bb", configuration: configuration
            ).write(to: path + "/run.json")
            let metrics = try Metrics(path: path + "/metrics.jsonl", keepingThroughStep: 0)
            try metrics.append(ValidationMetrics(step: 0, epoch: 0, loss: 4, tokens: 4))
            for step in 1...steps {
                try metrics.append(
                    StepMetrics(
                        step: step, epoch: 1, loss: 5 - Double(step), tokens: 20, lossTokens: 8,
                        learningRate: 1e-4, gradientNorm: 1, seconds: 1, tokensPerSecond: 20,
                        workers: 1))
            }
            try metrics.append(ValidationMetrics(step: steps, epoch: 1, loss: 2.5, tokens: 4))
            try body(path)
        }
    }

    @Test("the argument is a run's folder, its page or its coordinator")
    func sources() throws {
        #expect(try Self.command("run").options.source == .folder("run"))
        #expect(try Self.command("a/b:1").options.source == .folder("a/b:1"))
        let endpoint = Endpoint(host: "127.0.0.1", port: 99)
        #expect(try Self.command("127.0.0.1:99").options.source == .coordinator(endpoint))
        #expect(
            try Self.command("--coordinator", "127.0.0.1:99").options.source
                == .coordinator(endpoint))
        let pages: [(String, String?)] = [
            ("http://127.0.0.1:99/", nil), ("http://127.0.0.1:99", nil),
            ("http://127.0.0.1:99/#token=ab%2B", "ab+"),
        ]
        for (text, token) in pages {
            guard case .page(let page) = try Self.command(text).options.source else {
                Issue.record("\(text)")
                continue
            }
            #expect(page.endpoint == endpoint)
            #expect(page.token == token)
        }
        for text in ["https://127.0.0.1:99/", "http://", "http://me@host:1/"] {
            #expect(throws: UsageError.self) { try Self.command(text) }
        }
        #expect(throws: UsageError.missing(["RUN"], command: "status")) { try Self.command() }
        #expect(
            throws: UsageError.excludesPositional(
                option: "coordinator", placeholder: "RUN", command: "status")
        ) { try Self.command("run", "--coordinator", "127.0.0.1:99") }
    }

    @Test("a run's folder tells how far it is, and whether a process has it")
    func folder() throws {
        try Self.withRun { (path: String) throws -> Void in
            #expect(try RunFolder(path: path).state == .complete)
            let lock = try DiskStore().lock(path + "/.lock")
            let running = try RunFolder(path: path)
            #expect(running.state == .running)
            withExtendedLifetime(lock) {}
            #expect(
                running.line
                    == "\(path)  step 3/3  running  loss 4.0000 -> 2.0000  validation loss 2.5000")
            #expect(
                running.text.contains("best validation loss 2.5000 after step 3, 4.0000 before"))
            let process = CapturedProcess()
            #expect(process.run("status", path, "--json") == 0)
            #expect(process.output.hasPrefix("{\"run\":{\"output\":\"\(path)\",\"step\":3,"))
        }
    }

    @Test("a run that was stopped says how it goes on, and one of unknown length does not guess")
    func stopped() throws {
        try Self.withRun(iterations: 9) { (path: String) throws -> Void in
            let folder = try RunFolder(path: path)
            #expect(folder.state == .stopped)
            #expect(folder.why.hasSuffix("skein train --resume --output \(path)"))
        }
        try Self.withRun(iterations: nil) { (path: String) throws -> Void in
            #expect(try RunFolder(path: path).state == .ended)
            try AtomicFile.makeDirectory(path + "/adapter")
            try AtomicFile.write("# Card\n| step | 2 of 3 |\n", to: path + "/adapter/README.md")
            #expect(try RunFolder(path: path).state == .complete)
        }
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            #expect(throws: WatchError.notARun(path: directory)) {
                try RunFolder(path: directory)
            }
        }
    }

    @Test("a page is asked for its status, with its token")
    func page() throws {
        let board = RunBoard()
        let token = Array("secret".utf8)
        let server = try StatusServer(
            board: board, options: StatusOptions(listen: "127.0.0.1:0", token: token))
        defer { server.stop() }
        let process = CapturedProcess()
        #expect(process.run("status", server.url + "#token=secret", "--why") == 0)
        #expect(process.output.contains("preparing"))
        let refused = CapturedProcess()
        #expect(refused.run("status", server.url) == 69)
        #expect(refused.error.contains("the page wants its token"), "\(refused.error)")
    }

    @Test("what is not the page of a run, or is cut off, is told as that")
    func answers() throws {
        let page = try #require(StatusPageAddress("http://127.0.0.1:9/"))
        func body(_ text: String) throws -> String {
            let answer = try #require(HTTPAsk.Answer(Array(text.utf8)))
            return String(
                decoding: try StatusPageQuery.body(of: answer, from: page), as: UTF8.self)
        }
        #expect(try body("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}\n") == "{}")
        for text in [
            "HTTP/1.1 200 OK\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
            "HTTP/1.1 404 No\r\n\r\n",
            "HTTP/1.1\r\n\r\n",
        ] {
            #expect(throws: NodeError.self, "\(text)") { try body(text) }
        }
    }

    private static func view(_ step: Int, _ reason: Waiting.Reason) throws -> StatusView {
        var run = RunSnapshot.Progress()
        (run.output, run.step, run.stepCount) = ("run", step, 2)
        let snapshot = RunSnapshot(run: run, waiting: Waiting(reason: reason, seconds: 1))
        return StatusView(snapshot, json: Array("{\(step)}".utf8))
    }

    private static func watched(
        redraws: Bool = false, form: StatusCommand.Form = .table, _ views: [StatusView],
        then error: NodeError? = nil
    ) throws -> String {
        var (rest, text, waits) = (views[...], "", 0)
        try StatusWatch(redraws: redraws, form: form).run(
            ask: {
                guard let view = rest.popFirst() else {
                    throw error ?? .noStatus(address: "", detail: "asked too often")
                }
                return view
            }, wait: { waits += 1 }, write: { text += $0 })
        return text
    }

    @Test("--watch tells each change once and stops when the run ends")
    func watch() throws {
        let views = try [
            Self.view(0, .starting), Self.view(0, .starting), Self.view(1, .starting),
            Self.view(2, .ended), Self.view(2, .ended),
        ]
        let lines = try Self.watched(views).split(separator: "\n")
        #expect(lines.map { $0.prefix(13) } == ["run  step 0/2", "run  step 1/2", "run  step 2/2"])
        #expect(try Self.watched(form: .json, views) == "{0}\n{0}\n{1}\n{2}\n")
        let drawn = try Self.watched(redraws: true, views)
        #expect(drawn.components(separatedBy: StatusWatch.home).count == 5)
    }

    @Test("a page that goes away after the last step is the end; before, it is an error")
    func gone() throws {
        let gone = NodeError.noStatus(address: "a", detail: "refused")
        #expect(
            try Self.watched([Self.view(2, .computingHere)], then: gone)
                .hasSuffix("the run has ended\n"))
        #expect(throws: gone) {
            try Self.watched([Self.view(1, .computingHere)], then: gone)
        }
    }
}
