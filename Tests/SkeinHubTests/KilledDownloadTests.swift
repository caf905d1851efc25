import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport
import Testing

/// Downloads of real processes that are killed, interrupted, or two at once. The repository `stall`
/// answers each of the first 20 requests with 60,000 bytes and 1,000 for each request so far, and
/// then nothing until its client is gone; `once` does so for the first.
@Suite("downloads that are killed", .ownThreads)
struct KilledDownloadTests {
    private let reference = HubReference(organization: "o", name: "stall")

    @Test("a download killed 20 times continues where it was", arguments: ["skein-fetch", "skein"])
    func killed(_ name: String) throws {
        try FakeHub.with { hub in
            let cache = hub.cache(reference)
            let isPull = name == "skein"
            let program = isPull ? try TestPaths.binary : try FakeHub.program
            var expected = 0
            for round in 1...20 {
                expected += 60_000 + 1_000 * round
                let process = try hub.start(
                    program, isPull ? ["pull", "o/stall"] : [],
                    request: isPull ? nil : reference)
                defer {
                    kill(process.processIdentifier, SIGKILL)
                    process.waitUntilExit()
                }
                try Deadline.wait(seconds: 120) { hub.size(cache.partial(hub.digest)) >= expected }
                #expect(hub.size(cache.partial(hub.digest)) == expected, "round \(round)")
            }
            let path = try hub.pull("stall")
            #expect(try hub.digest(path + "/model.safetensors") == hub.digest)
            let sent = try hub.requests().filter {
                $0.method == "GET" && $0.path.hasSuffix("model.safetensors")
            }
            #expect(sent.count == 21)
            #expect(sent.reduce(0) { $0 + $1.sent } == 3_000_000)
        }
    }

    @Test("Ctrl-C ends pull with 130 and its fetcher, and what is here is kept")
    func interrupted() throws {
        try FakeHub.with { hub in
            let cache = hub.cache(reference)
            let process = try hub.start(
                try TestPaths.binary, ["pull", "o/stall"])
            try Deadline.wait(seconds: 120) { hub.size(cache.partial(hub.digest)) == 61_000 }
            #expect(hub.isLocked(cache))
            kill(process.processIdentifier, SIGINT)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 130)
            #expect(hub.text(hub.errorFile).contains("interrupted"))
            try Deadline.wait(seconds: 120) { !hub.isLocked(cache) }
            #expect(hub.size(cache.partial(hub.digest)) == 61_000)
        }
    }

    @Test("of two pulls at once the second waits for the first, and no byte is sent twice")
    func two() throws {
        try FakeHub.with { hub in
            let cache = hub.cache(HubReference(organization: "o", name: "once"))
            let first = try hub.start(
                try TestPaths.binary, ["pull", "o/once"])
            try Deadline.wait(seconds: 120) { hub.size(cache.partial(hub.digest)) == 61_000 }
            let second = try hub.start(
                try TestPaths.binary, ["pull", "o/once"])
            // It asks where the weights are, and then waits for the lock.
            try Deadline.wait(seconds: 120) {
                let asked = try? hub.requests().filter {
                    $0.method == "HEAD" && $0.path.hasSuffix("model.safetensors")
                }
                return (asked?.count ?? 0) == 2
            }
            #expect(first.isRunning && second.isRunning)
            kill(first.processIdentifier, SIGKILL)
            first.waitUntilExit()
            second.waitUntilExit()
            #expect(second.terminationStatus == 0, "\(hub.text(hub.errorFile))")
            let path = cache.blob(hub.digest)
            #expect(try hub.digest(path) == hub.digest)
            let sent = try hub.requests().filter {
                $0.method == "GET" && $0.path.hasSuffix("model.safetensors")
            }
            #expect(sent.reduce(0) { $0 + $1.sent } == 3_000_000)
        }
    }

    @Test("a lock that another program holds is waited for")
    func held() throws {
        try FakeHub.with { hub in
            let reference = HubReference(organization: "o", name: "ok")
            let cache = hub.cache(reference)
            try AtomicFile.makeDirectory(FilePath.parent(of: cache.lock(hub.digest)))
            let lock = open(cache.lock(hub.digest), O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            #expect(flock(lock, LOCK_EX) == 0)
            let process = try hub.start(try TestPaths.binary, ["pull", "o/ok"])
            try Deadline.wait(seconds: 120) {
                hub.size(
                    cache.snapshot(String(repeating: "c0ffee", count: 6) + "beef")
                        + "/tokenizer.json")
                    > 0
            }
            #expect(process.isRunning && hub.size(cache.partial(hub.digest)) == 0)
            close(lock)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(hub.text(hub.errorFile))")
            #expect(try hub.digest(cache.blob(hub.digest)) == hub.digest)
        }
    }

    @Test(
        "no output of pull has the token in it",
        arguments: [
            "ok", "cdn", "token", "gated", "missing", "loop", "r416", "wrongalways", "body",
        ])
    func token(_ name: String) throws {
        try FakeHub.with { hub in
            for token in [
                "hf_good", "hf_other\nsecond", "hf_" + String(repeating: "x", count: 5000),
            ] {
                for format in ["text", "json"] {
                    let process = try hub.start(
                        try TestPaths.binary, ["pull", "o/" + name, "--log-format", format],
                        variables: ["HF_TOKEN": token])
                    process.waitUntilExit()
                }
            }
            let said = hub.text(hub.outputFile) + hub.text(hub.errorFile)
            #expect(said.contains("o/" + name) || said.contains("models--o--" + name))
            #expect(!said.contains("hf_"))
        }
    }
}
