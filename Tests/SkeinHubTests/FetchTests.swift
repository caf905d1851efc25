import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport
import Testing

@Suite("downloads from a Hub that fails", .ownThreads)
struct FetchTests {
    @Test("each fault that passes ends with the right file")
    func recovered() throws {
        try FakeHub.with { hub in
            for name in [
                "ok", "small", "cut", "cdn", "short", "long", "chunked", "nolength", "norange",
                "wrongonce", "busy", "pages", "twenty", "token",
            ] {
                let path = try hub.pull(name)
                #expect(try hub.digest(path + "/model.safetensors") == hub.digest, "\(name)")
                let names = try FileManager.default.contentsOfDirectory(atPath: path)
                #expect(
                    names.sorted() == [
                        "config.json", "generation_config.json", "model.safetensors",
                        "tokenizer.json",
                    ], "\(name)")
                let reference = HubReference(organization: "o", name: name)
                #expect(try hub.cache(reference).find() == path)
            }
        }
    }

    @Test("each fault that remains ends with an error that says which")
    func refused() throws {
        try FakeHub.with { hub in
            let repository = { (name: String) in "o/" + name }
            func expect(_ name: String, _ error: HubError, token: String? = "hf_good") {
                #expect(throws: error, "\(name)") { try hub.pull(name, token: token) }
            }
            expect("missing", .noRepository(reference: "o/missing", hasToken: true))
            expect("gated", .gated(repository: repository("gated"), hasToken: true))
            expect("token", .unauthorized(repository: "o/token", hasToken: false), token: nil)
            expect("token", .unauthorized(repository: "o/token", hasToken: true), token: "hf_x")
            expect("basic", .unauthorized(repository: "o/basic", hasToken: true))
            expect(
                "forbidden",
                .status(
                    place: "127.0.0.1:\(hub.port)/api/models/o/forbidden/revision/main", code: 403))
            expect(
                "trap",
                .badAnswer(
                    place: "127.0.0.1:\(hub.port)/api/models/o/trap/revision/main",
                    problem: "it ended the system's network code, as a Content-Length of nearly "
                        + "2^63 does"))
            expect("bidi", .badFileName(repository: "o/bidi", bytes: 13))
            expect("dots", .badFileName(repository: "o/dots", bytes: 18))
            expect("gguf", .onlyGGUF(repository: "o/gguf", files: ["q/a b.gguf"]))
            expect("r416", .wrongSize(file: "model.safetensors", expected: 3_000_000, found: 0))
            expect("endless", .tooManyFiles(repository: "o/endless"))
            expect(
                "portal",
                .badAnswer(
                    place: "model.safetensors", problem: "it has another length than the file"))
            expect(
                "dribble",
                .badAnswer(place: "model.safetensors", problem: "it comes in too small parts"))
            #expect(throws: HubError.noRevision(repository: "o/ok", revision: "v9")) {
                try hub.pull("ok", revision: "v9")
            }
            #expect(throws: HubError.noFile(repository: "o/ok", file: "b.gguf")) {
                try hub.pull("ok", file: "b.gguf")
            }
            #expect(!FileManager.default.fileExists(atPath: hub.directory + "/evil.json"))
        }
    }

    @Test(
        "what is here is continued, and a server that sends all of it from its beginning is right, too"
    )
    func continued() throws {
        try FakeHub.with { hub in
            let sound = try hub.pull("ok") + "/model.safetensors"
            let weights = try Data(contentsOf: URL(fileURLWithPath: sound))
            for (name, sent) in [("cdn", 2_400_000), ("norange", 3_000_000), ("whole", 3_000_000)] {
                let cache = hub.cache(HubReference(organization: "o", name: name))
                let partial = cache.partial(hub.digest)
                try AtomicFile.makeDirectory(FilePath.parent(of: partial))
                try weights.prefix(600_000).write(to: URL(fileURLWithPath: partial))
                let path = try hub.pull(name)
                #expect(try hub.digest(path + "/model.safetensors") == hub.digest, "\(name)")
                let requests = try hub.requests().filter {
                    $0.method == "GET" && $0.path.contains("/\(name)/")
                        && $0.path.contains("model.safetensors") && $0.sent > 1000
                }
                #expect(requests.map(\.sent) == [sent], "\(name)")
            }
            // A page of a proxy does not touch what is here.
            let partial = hub.cache(HubReference(organization: "o", name: "portal"))
                .partial(hub.digest)
            try AtomicFile.makeDirectory(FilePath.parent(of: partial))
            try weights.prefix(600_000).write(to: URL(fileURLWithPath: partial))
            #expect(throws: HubError.self) { try hub.pull("portal") }
            #expect(try Data(contentsOf: URL(fileURLWithPath: partial)) == weights.prefix(600_000))
        }
    }

    @Test(
        "what another tool left out is had, what is damaged is had again, and then no server is asked"
    )
    func completed() throws {
        try FakeHub.with { hub in
            let reference = HubReference(organization: "o", name: "ok")
            let cache = hub.cache(reference)
            let folder = try hub.pull("ok")
            #expect(try cache.findWhole() == folder)
            let commit = FilePath.name(of: folder)
            // As another tool leaves it.
            let record = FilePath.parent(of: FilePath.parent(of: folder)) + "/.skein/" + commit
            try FileManager.default.removeItem(atPath: record)
            try FileManager.default.removeItem(atPath: folder + "/generation_config.json")
            #expect(try cache.findWhole() == nil && cache.find() == folder)
            var variables = hub.environment
            variables["SKEIN_FETCH"] = try FakeHub.program
            let model = HubInput(environment: variables)
            func path(asksServer: Bool = false) throws -> String {
                try model.path(of: reference, as: .model, asksServer: asksServer) { _ in }
            }
            #expect(try path() == folder && cache.findWhole() == folder)
            let before = try hub.requests().count
            #expect(try path() == folder)
            #expect(try hub.requests().count == before)
            let weights = try FileHandle(forWritingTo: URL(fileURLWithPath: cache.blob(hub.digest)))
            try weights.write(contentsOf: Data("damage".utf8))
            try weights.close()
            _ = try path(asksServer: true)
            #expect(try hub.digest(folder + "/model.safetensors") == hub.digest)
            // Without a server, what seems whole is taken, and the user is told.
            try FileManager.default.removeItem(atPath: record)
            variables["HF_ENDPOINT"] = "http://127.0.0.1:9"
            let alone = HubInput(environment: variables)
            var warnings: [String] = []
            let found = try alone.path(
                of: reference, as: .model, asksServer: false, warn: { warnings.append($0) },
                progress: { _ in })
            #expect(found == folder && warnings.count == 1)
            #expect(throws: HubError.self) {
                try alone.path(of: reference, as: .model, asksServer: true) { _ in }
            }
        }
    }

    /// What is thrown besides facts that name a port or a digest.
    @Test(
        "each server that lies, hangs or never ends is given up",
        arguments: [
            ("over", "badAnswer"), ("otherrange", "badAnswer"), ("wrongalways", "wrongBytes"),
            ("loop", "tooManyRedirects"), ("down", "status"), ("hang", "network"),
            ("headers", "network"), ("body", "badAnswer"), ("empty", "network"),
        ])
    func givenUp(_ name: String, _ kind: String) throws {
        try FakeHub.with { hub in
            // Only who waits for a server that hangs need not wait long.
            let idle = name == "hang" ? 2 : nil
            let error = #expect(throws: HubError.self) { try hub.pull(name, idle: idle) }
            #expect(error.map { String(describing: $0).hasPrefix(kind) } == true, "\(error as Any)")
            #expect(!String(describing: error).contains("hf_good"))
        }
    }

    @Test("an adapter is had with its configuration, and only where one is wanted")
    func adapters() throws {
        try FakeHub.with { hub in
            let files = ["README.md", "adapter_config.json", "adapter_model.safetensors"]
            for kind in [HubKind.adapter, nil] {
                let path = try hub.pull("adapter", as: kind)
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: path).sorted() == files)
            }
            let cache = hub.cache(HubReference(organization: "o", name: "adapter"))
            #expect(try cache.findWhole(as: .adapter) != nil && cache.findWhole(as: .model) == nil)
            #expect(try cache.find() == cache.find(as: .adapter) && cache.find(as: .model) == nil)
            // One repository that is both: each is whole by itself.
            let both = hub.cache(HubReference(organization: "o", name: "both"))
            let path = try hub.pull("both", as: .adapter)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: path).sorted()
                    == Array(files[1...]))
            #expect(try both.findWhole(as: .adapter) == path && both.find(as: .model) == nil)
            _ = try hub.pull("both")
            #expect(try both.findWhole(as: .model) == path)
            for (name, kind, error) in [
                ("adapter", .model, .noModel(repository: "o/adapter")),
                ("ok", .adapter, .noAdapter(repository: "o/ok", found: .model)),
                ("bare", nil, .noAdapter(repository: "o/bare", found: .weights)),
                ("pickle", nil, .noAdapter(repository: "o/pickle", found: .pickle)),
                ("gguf", .adapter, .onlyGGUF(repository: "o/gguf", files: ["q/a b.gguf"])),
            ] as [(String, HubKind?, HubError)] {
                #expect(throws: error, "\(name)") { try hub.pull(name, as: kind) }
            }
        }
    }

    @Test("a fetcher that says impossible numbers is given up")
    func numbers() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let program = directory + "/fetch"
            for (done, total) in [(Int.min, 1), (0, -1)] {
                let line = try FetchLine.bytes(
                    FetchMessage.progress(done: done, total: total, received: 0))
                try AtomicFile.write(
                    "#!/bin/sh\nread line\necho '\(String(decoding: line.dropLast(), as: UTF8.self))'\n",
                    to: program)
                chmod(program, 0o755)
                let client = FetchClient(program: program, environment: [:])
                #expect(throws: HubError.badMessage) {
                    try client.fetch(HubReference(organization: "o", name: "n")) { _ in }
                }
            }
        }
    }

    @Test("the token is sent to the endpoint, and not to another host")
    func token() throws {
        try FakeHub.with { hub in
            _ = try hub.pull("cdn")
            let requests = try hub.requests()
            #expect(requests.contains { $0.storage })
            #expect(requests.allSatisfy { $0.token != $0.storage })
        }
    }
}
