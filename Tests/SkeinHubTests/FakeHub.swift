import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport

/// A Hub on loopback (`Tests/Fixtures/hub/fake_hub.py`), a cache, and the real `skein-fetch`.
struct FakeHub {
    let directory: String
    let port: Int
    /// SHA-256 of the weights, 3,000,000 bytes.
    let digest: String

    struct Request: Decodable {
        var storage: Bool
        var method: String
        var path: String
        var sent: Int
        var range: String?
        var token: Bool
    }

    struct NotStarted: Error {}

    static func with(_ body: (FakeHub) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", TestPaths.fixture("hub/fake_hub.py"), directory]
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            defer {
                try? input.fileHandleForWriting.close()
                process.waitUntilExit()
            }
            var lines = LineBuffer()
            var line: [UInt8]?
            while line == nil {
                guard try lines.fill(from: output.fileHandleForReading.fileDescriptor) else {
                    throw NotStarted()
                }
                line = try lines.next()
            }
            let words = String(decoding: line ?? [], as: UTF8.self).split(separator: " ")
            guard words.count == 3, let port = Int(words[0]) else { throw NotStarted() }
            try body(FakeHub(directory: directory, port: port, digest: String(words[2])))
        }
    }

    var environment: [String: String] {
        [
            "HF_ENDPOINT": "http://127.0.0.1:\(port)", "HF_HUB_CACHE": directory + "/cache",
            "HF_TOKEN": "hf_good", "SKEIN_FETCH_IDLE": "300", "HOME": directory,
        ]
    }

    static var program: String {
        get throws { try TestPaths.fetcher }
    }

    func cache(_ reference: HubReference) -> HubCache {
        HubCache(directory: directory + "/cache", reference: reference)
    }

    /// Downloads `o/NAME` and returns its path.
    func pull(
        _ name: String, as kind: HubKind? = nil, file: String? = nil, revision: String = "main",
        token: String? = "hf_good", idle: Int? = nil
    ) throws -> String {
        let reference = HubReference(
            organization: "o", name: name, revision: revision, file: file)
        var variables = environment
        variables["HF_TOKEN"] = token
        if let idle { variables["SKEIN_FETCH_IDLE"] = String(idle) }
        let client = FetchClient(program: try Self.program, environment: variables)
        return cache(reference).path(of: try client.fetch(reference, as: kind) { _ in })
    }

    /// Starts the real `skein` or `skein-fetch`, its output into files of `directory`.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - words: Its arguments.
    ///   - variables: Added to `environment`.
    ///   - request: What it reads; nil: nothing.
    /// - Returns: The running process.
    /// - Throws: `NotStarted`, or an error of the system.
    func start(
        _ program: String, _ words: [String] = [], variables: [String: String] = [:],
        request: HubReference? = nil
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = words
        process.environment = environment.merging(variables) { $1 }
        let input = Pipe()
        process.standardInput = input
        for (name, keep) in [
            (outputFile, { process.standardOutput = $0 }),
            (errorFile, { process.standardError = $0 }),
        ] as [(String, (FileHandle) -> Void)] {
            let descriptor = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw NotStarted() }
            keep(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
        }
        try process.run()
        if let request {
            try input.fileHandleForWriting.write(
                contentsOf: FetchLine.bytes(FetchRequest(reference: request)))
        }
        try input.fileHandleForWriting.close()
        return process
    }

    /// What all started programs wrote.
    var outputFile: String { directory + "/output" }
    var errorFile: String { directory + "/error" }
    func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    /// Whether some process downloads the weights.
    func isLocked(_ cache: HubCache) -> Bool {
        let descriptor = open(cache.lock(digest), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }

    /// Bytes of a file; 0 if there is none.
    func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// SHA-256 of a file.
    func digest(_ path: String) throws -> String {
        try RegularFile.digest(of: path).digest.description
    }

    func requests() throws -> [Request] {
        let text = try String(contentsOfFile: directory + "/log", encoding: .utf8)
        return try text.split(separator: "\n").map {
            try JSONDecoder().decode(Request.self, from: Data($0.utf8))
        }
    }
}
