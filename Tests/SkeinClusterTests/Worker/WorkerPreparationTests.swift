import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Synchronization
import Testing

@testable import SkeinCluster
@testable import SkeinNetwork

/// What a worker does before it joins: finding its coordinator, and preparing a model.
@Suite("a worker that prepares")
struct WorkerPreparationTests {
    private static func offer(
        _ directory: String, metadata: [(key: String, value: GGUFImage.Value)] = []
    ) throws -> Offer {
        var image = TinyModel().gguf()
        image.metadata += metadata
        try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
        try AtomicFile.write(
            "{\"prompt\": \"a?\", \"completion\": \"the answer\"}\n",
            to: directory + "/rows.jsonl")
        var configuration = TrainingConfiguration.fixed
        configuration.validationSplit = 0
        let job = try TrainingJob(
            configuration: configuration, modelPath: directory + "/tiny.gguf",
            dataPath: directory + "/rows.jsonl", version: "test")
        return try RunIdentity(
            job: job, term: 7, start: [UInt8](repeating: 1, count: 16)
        ).offer
    }

    /// The outcome of loading a model for an offer, and how many bytes were read for it.
    private static func load(
        _ path: String, for offer: Offer
    ) throws -> (loaded: LoadedEngine, bytes: UInt64) {
        let options = WorkerOptions(
            coordinator: "127.0.0.1:9", token: nil, modelPath: path, threads: 1)
        let loading = ModelLoading(
            offer: offer, setup: try WorkerSetup(options, version: "test"), log: Log())
        let answer = Promise<Result<LoadedEngine, any Error>>()
        loading.start(request: { _ in }, completion: { answer.keep($0) })
        let loaded = try #require(answer.value(within: 60)).get()
        return (loaded, loading.progress.bytes)
    }

    @Test("progress counts every hashed byte and every loaded weight")
    func progress() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let offer = try Self.offer(directory)
            let (loaded, bytes) = try Self.load(directory + "/tiny.gguf", for: offer)
            #expect(loaded.modelDigest == offer.modelDigest)
            #expect(loaded.engine?.serves(offer) == true)
            #expect(bytes > offer.modelFiles[0].byteCount)
            var other = offer
            other.configurationDigest[0] ^= 1
            #expect(loaded.engine?.serves(other) == false)
        }
    }

    @Test("a worker's fingerprint says what it reads from the model, as the run's does")
    func fingerprint() throws {
        for factor: Float? in [nil, 4] {
            try TestPaths.withTemporaryDirectory { directory in
                let metadata = factor.map {
                    [(key: "llama.rope.scaling.factor", value: GGUFImage.Value.float32($0))]
                }
                let offer = try Self.offer(directory, metadata: metadata ?? [])
                let (loaded, _) = try Self.load(directory + "/tiny.gguf", for: offer)
                #expect(loaded.engine?.fingerprint == offer.fingerprint)
                #expect(offer.fingerprint.hasSuffix(", linear 4.0") == (factor != nil))
            }
        }
    }

    @Test("a model of another size is not loaded, and one with other bytes is not used")
    func wrongModel() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let offer = try Self.offer(directory)
            var larger = TinyModel()
            larger.feedForwardWidth *= 2
            var different = TinyModel()
            different.seed = 2
            for (model, name) in [(larger, "larger"), (different, "different")] {
                let path = directory + "/\(name).gguf"
                try model.writeGGUF(to: path)
                let file = try MappedFile(path: path)
                let digest = file.withBytes { SHA256.digest(of: $0).bytes }
                let (loaded, bytes) = try Self.load(path, for: offer)
                #expect(loaded.modelDigest == digest && loaded.engine == nil, "\(name)")
                if name == "larger" { #expect(bytes == UInt64(file.count)) }
            }
        }
    }

    @Test("loading ends with the first piece that is no longer wanted")
    func cancelled() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            let model = try ModelDirectory.open(path)
            let pieces = Atomic<Int>(0)
            #expect(throws: CancellationError.self) {
                try DecoderWeights(
                    model: model, residence: .resident, positions: 8, threads: 1
                ) { _ in
                    pieces.add(1, ordering: .relaxed)
                    return false
                }
            }
            #expect(pieces.load(ordering: .relaxed) == 1)
            #expect(throws: CancellationError.self) {
                try model.contentDigest { _ in throw CancellationError() }
            }
            #expect(model.contentDigest { _ in } == model.contentDigest())
        }
    }

    @Test("a coordinator whose name now has another address is found there")
    func resolvesAgain() throws {
        let station = try Station.make("coordinator")
        let loop = try EventLoop(name: "worker")
        defer {
            loop.stop()
            station.loop.stop()
        }
        let port = try station.call { try $0.listen() }
        let asked = Mutex(0)
        let setup = try WorkerSetup(
            WorkerOptions(coordinator: "a.test:1", token: nil, threads: 1), version: "test"
        ) { _ in
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            // Nothing listens on port 1; a name server that fails once is asked again.
            if count == 2 { throw SocketError.nameNotResolved(host: "a.test", detail: "try again") }
            let text = count == 1 ? "127.0.0.1:1" : "127.0.0.1:\(port)"
            return try NetworkAddress(parsing: text).resolved(for: .dialling)
        }
        let shell = try Confined(to: loop) {
            WorkerShell(
                loop: loop, setup: setup, log: Log(),
                ending: Promise<Result<WorkerState.Ending, any Error>>())
        }
        shell.post { state in
            state.desk = shell
            state.begin()
        }
        #expect(try station.reaches { !$0.connections.isEmpty })
        #expect(asked.withLock { $0 } >= 3)
        try shell.call { $0.end() }
    }

    @Test("a worker without a name gets a unique one with plain characters only")
    func names() throws {
        let incarnation: [UInt8] = [0x0a, 0xff, 0, 1, 9, 9]
        func name(_ host: String, _ process: Int32 = 1) -> String {
            WorkerSetup.name(host: host, process: process, incarnation: incarnation)
        }
        #expect(name("goose-1.lan") == "goose-1.lan-1-0aff0001")
        #expect(name("g\u{1B}ö ose") == "gose-1-0aff0001")
        let long = name(String(repeating: "x", count: 300), 4_194_304)
        #expect(long.utf8.count == SkeinCoordination.Limits.nameBytes)
        #expect(long.hasSuffix("x-4194304-0aff0001"))
        let options = WorkerOptions(coordinator: "127.0.0.1:9", token: nil, threads: 1)
        let two = try (0..<2).map { _ in try WorkerSetup(options, version: "test").name }
        #expect(two[0] != two[1])
    }
}
