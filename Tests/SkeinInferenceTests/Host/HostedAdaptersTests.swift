import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference

/// Adapters on one copy of a base.
@Suite struct HostedAdaptersTests {
    private struct Case {
        let directory: String
        let model: ModelDirectory
        let adapters: HostedAdapters
        /// What an adapter of rank 4 takes.
        let bytes: Int

        /// `room`: adapters of rank 4 that fit, with a byte less than for another one.
        init(in directory: String, room: Int) throws {
            self.directory = directory
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            self.model = model
            bytes = GenerationProjections.byteCount(of: Self.shape(4, model))
            adapters = HostedAdapters(
                model, try GenerationWeights(model: model, team: ComputeTeam(threadCount: 1)),
                digest: Background("skein-hash") { model.contentDigest() }, rank: 8,
                memory: AdapterMemory(byteLimit: (room + 1) * bytes - 1), anyBase: false,
                date: { 1 })
        }

        private static func shape(_ rank: Int, _ model: ModelDirectory) -> AdapterShape {
            AdapterShape(
                LoRAConfiguration(
                    rank: rank, scale: 2, dropout: 0, targets: [.query, .value],
                    layers: 0..<model.configuration.layerCount), model: model.configuration)
        }

        func path(_ name: String) -> String { directory + "/" + name }

        func write(_ name: String, rank: Int = 4, seed: UInt64 = 1) throws {
            let parameters = AdapterParameters(shape: Self.shape(rank, model), seed: seed)
            try AdapterFiles.write(
                configuration: AdapterConfiguration(
                    rank: rank, alpha: Double(2 * rank), dropout: 0,
                    targetModules: ["q_proj", "v_proj"], baseModelName: "tiny"),
                tensors: parameters.shape.layout.tensors(parameters.values), to: path(name))
        }

        func adapter(_ name: String) throws -> GenerationProjections {
            try adapters.adapter(name, at: path(name)).projections
        }

        var names: [String] { adapters.list.map(\.id) }
    }

    private static func run(room: Int, _ body: (Case) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { try body(Case(in: $0, room: room)) }
    }

    @Test("an adapter that does not fit is refused, and nothing of it is held")
    func refused() throws {
        try Self.run(room: 0) { hosted in
            try hosted.write("a")
            #expect(
                throws: AdapterMemoryError.tooLarge(bytes: hosted.bytes, limit: hosted.bytes - 1)
            ) { try hosted.adapter("a") }
            try hosted.write("b", rank: 16)
            #expect(
                throws: AdapterMemoryError.rankTooLarge(
                    adapter: hosted.path("b"), rank: 16, limit: 8)
            ) { try hosted.adapter("b") }
            #expect(hosted.names.isEmpty && hosted.adapters.memory.heldBytes == 0)
        }
    }

    @Test("two adapters share the base, and of those that nothing holds the older one makes room")
    func two() throws {
        try Self.run(room: 2) { hosted in
            for (seed, name) in ["a", "b", "c"].enumerated() {
                try hosted.write(name, seed: UInt64(seed))
            }
            let (memory, plain) = (hosted.adapters.memory, hosted.adapters.plain)
            let first = try hosted.adapter("a")
            do {
                let second = try hosted.adapter("b")
                #expect(first.weights === plain.weights && second.weights === plain.weights)
                #expect(Set([first, second, plain].map(\.digest)).count == 3)
                #expect(memory.heldBytes == first.byteCount + second.byteCount)
                #expect(
                    throws: AdapterMemoryError.full(
                        bytes: hosted.bytes, held: 2 * hosted.bytes, limit: memory.byteLimit)
                ) { try hosted.adapter("c") }
                #expect(hosted.names == ["a", "b"])
            }
            _ = try hosted.adapter("c")
            #expect(hosted.names == ["a", "c"] && memory.heldBytes == 2 * hosted.bytes)
            #expect(try hosted.adapter("a") === first)
            #expect(hosted.names == ["c", "a"])
        }
    }

    @Test("an adapter is read once, and again when its files are others")
    func again() throws {
        try Self.run(room: 4) { hosted in
            try hosted.write("a")
            var reads = 0
            func adapter() throws -> HostedAdapter {
                try hosted.adapters.adapter(
                    "a", at: hosted.path("a"), whenRead: { _ in reads += 1 })
            }
            let first = try adapter()
            #expect(try adapter().projections === first.projections)
            #expect(reads == 1 && first.date == 1)
            #expect(hosted.adapters.memory.heldBytes == hosted.bytes)
            try hosted.write("a", rank: 2)
            let second = try adapter()
            #expect(reads == 2 && second.projections.rank == 2)
            #expect(hosted.names == ["a"])
            // The first one is still in use here.
            #expect(
                hosted.adapters.memory.heldBytes == hosted.bytes + second.projections.byteCount)
            withExtendedLifetime(first) {}
        }
    }

    @Test("what counts is what an adapter takes, once it is there, and not what it announced")
    func announced() throws {
        try Self.run(room: 2) { hosted in
            try hosted.write("a")
            let projections = try hosted.adapter("a")
            #expect(projections.byteCount == hosted.bytes)
            let memory = AdapterMemory(byteLimit: 2 * hosted.bytes)
            let reservation = try memory.reserve(hosted.bytes + 100)
            #expect(memory.heldBytes == hosted.bytes + 100)
            memory.put(projections, into: reservation)
            #expect(memory.heldBytes == projections.byteCount)
        }
    }
}
