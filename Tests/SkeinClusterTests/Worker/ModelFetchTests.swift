import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinCluster

/// Fetching a model, with the test as its coordinator.
@Suite("a worker that fetches its model", .ownThreads)
struct ModelFetchTests {
    /// A file of six pieces, the last one short.
    static let bytes: [UInt8] = {
        var random: UInt64 = 1
        return (0..<(5 * SkeinCoordination.Limits.modelChunkBytes + 1000)).map { _ in
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: random >> 33)
        }
    }()

    static func offer() -> Offer {
        let digest = SHA256.digest(of: bytes).bytes
        return Offer(
            proof: [], term: 7, start: [], modelDigest: digest, dataDigest: digest,
            configurationDigest: digest, recipeDigest: digest, answerDigest: digest,
            fingerprint: "", configuration: [],
            longestRow: 1,
            modelFiles: [.init(name: "", byteCount: UInt64(bytes.count), digest: digest)])
    }

    static func piece(_ request: ModelRequest) -> ModelChunk {
        let start = Int(request.offset)
        let end = min(bytes.count, start + SkeinCoordination.Limits.modelChunkBytes)
        return ModelChunk(
            file: request.file, offset: request.offset, bytes: Array(bytes[start..<end]))
    }

    /// A fetch on a thread of its own, and what it asks for.
    final class Run: Sendable {
        let fetch: ModelFetch
        let requests = Mutex<[ModelRequest]>([])
        let outcome = Promise<Result<String, any Error>>()

        init(
            _ cache: String, progress: PreparationProgress = PreparationProgress(),
            patience: Duration = .seconds(60), log: Log = Log()
        ) {
            fetch = ModelFetch(
                offer: ModelFetchTests.offer(), cache: cache, progress: progress,
                patience: patience, log: log)
        }

        func start() {
            Thread { [self] in
                outcome.keep(
                    Result {
                        try fetch.run(
                            request: { next in requests.withLock { $0.append(next) } },
                            report: { _, _ in })
                    })
            }.start()
        }

        /// Answers everything until the fetch ends.
        func serve() throws -> String {
            var next = 0
            let limit = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < limit {
                if let outcome = outcome.value(within: 0) { return try outcome.get() }
                let asked = requests.withLock { $0.count > next ? $0[next] : nil }
                guard let asked else {
                    usleep(2000)
                    continue
                }
                #expect(fetch.receive(ModelFetchTests.piece(asked)))
                next += 1
            }
            throw Late()
        }

        struct Late: Error {}
    }

    static func waits(for isTrue: () -> Bool) -> Bool {
        let limit = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < limit {
            if isTrue() { return true }
            usleep(2000)
        }
        return false
    }

    @Test("only the pieces that were asked for are kept, in order, and never more than four")
    func unrequested() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let run = Run(directory)
            let first = Self.piece(ModelRequest(file: 0, offset: 0))
            #expect(!run.fetch.receive(first), "it was not asked for yet")
            run.start()
            #expect(Self.waits { run.requests.withLock { $0.count } == 4 })
            let asked = run.requests.withLock { $0 }
            #expect(!run.fetch.receive(Self.piece(asked[1])), "another one is the next")
            var short = first
            short.bytes.removeLast()
            #expect(!run.fetch.receive(short))
            for _ in 0..<600 {
                #expect(
                    !run.fetch.receive(ModelChunk(file: 1, offset: 0, bytes: first.bytes)))
            }
            let path = try run.serve()
            #expect(try MappedFile(path: path).withBytes { Array($0) } == Self.bytes)
            #expect(!run.fetch.receive(first), "it is here already")
        }
    }

    /// A process that has the lock, and then does nothing.
    private final class Holder {
        let directory: String
        private let descriptor: Int32

        init(_ cache: String) throws {
            directory = ModelCache.directory(of: ModelFetchTests.offer().modelDigest, in: cache)
            try AtomicFile.makeDirectory(directory)
            descriptor = open(directory + "/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        }

        deinit { close(descriptor) }

        func release() { _ = flock(descriptor, LOCK_UN) }

        var files: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: directory)
                    .filter { $0 != ".lock" }.sorted()
            }
        }
    }

    @Test("a worker fetches the model beside a process that was stopped, and says so once")
    func stoppedHolder() throws {
        try TestPaths.withTemporaryDirectory { cache in
            let holder = try Holder(cache)
            // What the holder has, what a dead process left, and what a live one writes.
            try AtomicFile.write("the holder's", to: holder.directory + "/model.gguf.part")
            try AtomicFile.write("left", to: holder.directory + "/model.gguf.17-0badcafe.part")
            let live = try PartialFile(ownBeside: holder.directory + "/model.gguf")
            try AtomicFile.write("not ours", to: holder.directory + "/model.gguf.backup.part")
            let lines = Mutex<[String]>([])
            let run = Run(
                cache, patience: .milliseconds(300),
                log: Log { _, line in lines.withLock { $0.append(line) } })
            run.start()
            let path = try run.serve()
            #expect(try MappedFile(path: path).withBytes { Array($0) } == Self.bytes)
            let said = lines.withLock { $0 }
            #expect(said.count == 1 && said[0].contains("has not got on for "), "\(said)")
            #expect(said[0].contains("fetches it beside that one"))
            #expect(
                try holder.files
                    == [
                        "model.gguf", live.path.split(separator: "/").last.map(String.init),
                        "model.gguf.backup.part", "model.gguf.part",
                    ].compactMap { $0 }.sorted())
            #expect(!run.fetch.receive(Self.piece(ModelRequest(file: 0, offset: 0))))
        }
    }

    @Test("what the other process fetches counts, and once it is done nothing is fetched twice")
    func busyHolder() throws {
        try TestPaths.withTemporaryDirectory { cache in
            let holder = try Holder(cache)
            let progress = PreparationProgress()
            let run = Run(cache, progress: progress)
            run.start()
            #expect(Self.waits { progress.waitsForOther })
            let before = progress.bytes
            // Looked at five times a second; the first look is the one to compare with.
            #expect(
                Self.waits {
                    _ = try? AtomicFile.write(
                        [UInt8](repeating: 1, count: 1000 + Int.random(in: 1...100)),
                        to: holder.directory + "/other")
                    return progress.bytes > before
                })
            try AtomicFile.write(Self.bytes, to: holder.directory + "/model.gguf")
            holder.release()
            let outcome = try #require(run.outcome.value(within: 120))
            #expect(try outcome.get() == holder.directory + "/model.gguf")
            #expect(run.requests.withLock { $0.isEmpty })
            #expect(!progress.waitsForOther)
        }
    }

    @Test("a worker that waits for another process ends when its connection does")
    func cancelledWhileItWaits() throws {
        try TestPaths.withTemporaryDirectory { cache in
            let holder = try Holder(cache)
            let run = Run(cache)
            run.start()
            run.fetch.cancel()
            let outcome = try #require(run.outcome.value(within: 120))
            #expect(throws: NodeError.connectionLost) { try outcome.get() }
            withExtendedLifetime(holder) {}
        }
    }
}
