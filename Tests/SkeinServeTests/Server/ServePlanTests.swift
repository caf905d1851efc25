import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What a server says that it will hold.
@Suite struct ServePlanTests {
    /// Sizes are given, so that plans do not differ in what was free when they were made.
    private static func options() -> OpenAIServer.Options {
        var options = OpenAIServer.Options(listen: "127.0.0.1:0")
        options.threads = 2
        options.context = 64
        options.answerTokens = 16
        options.cacheBytes = 16 << 20
        options.prefixBytes = 2 << 20
        options.grammarBytes = 1 << 20
        return options
    }

    private static func plan(
        _ model: ModelDirectory, _ options: OpenAIServer.Options
    ) throws -> HostPlan {
        try HostPlan(model, options.host, for: options.use)
    }

    @Test("the plan counts the one answer with most log-probabilities that may be written")
    func writing() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let plan = try Self.plan(model, Self.options())
            let decoding =
                plan.batch.memoryBytes(of: model.configuration, threads: 2) - plan.batch.cacheBytes
            #expect(plan.otherBytes - decoding >= Limits.logprobEntries * 2048)
            #expect(plan.totalBytes > plan.otherBytes + plan.batch.cacheBytes)
        }
    }

    @Test("schemas have the room that they are given, and some without")
    func grammars() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var options = Self.options()
            options.grammarBytes = nil
            let usual = try Self.plan(model, options)
            #expect(usual.grammarBytes > 0 && usual.grammarBytes <= 512 << 20)
            options.grammarBytes = 3 << 20
            let given = try Self.plan(model, options)
            #expect(given.grammarBytes == 3 << 20)
            #expect(given.totalBytes == usual.totalBytes - usual.grammarBytes + 3 << 20)
        }
    }

    @Test("adapters have room where there can be some, for all that may be loaded")
    func adapters() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var options = Self.options()
            options.maximumRank = 4
            let without = try Self.plan(model, options)
            #expect(without.adapterBytes == 0)
            let all = LoRAConfiguration(
                rank: 4, scale: 1, dropout: 0, targets: TargetModule.allCases,
                layers: 0..<model.configuration.layerCount)
            let largest = GenerationProjections.byteCount(
                of: AdapterShape(all, model: model.configuration))
            for (change, count) in [
                ({ $0.adapterRoot = "/" }, 18), ({ $0.follow = "run" }, 18),
                (
                    {
                        $0.adapters = [.init(name: "a", path: "a"), .init(name: "b", path: "b")]
                        $0.maximumAdapters = 1
                    }, 4
                ),
            ] as [((inout OpenAIServer.Options) -> Void, Int)] {
                var options = options
                change(&options)
                let plan = try Self.plan(model, options)
                #expect(plan.adapterBytes == count * largest)
                #expect(plan.totalBytes == without.totalBytes + plan.adapterBytes)
                options.adapterBytes = 5
                #expect(try Self.plan(model, options).adapterBytes == 5)
            }
        }
    }

    @Test("adapters get what the rest leaves, and never keep a server from its start")
    func left() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var options = Self.options()
            let rest = try Self.plan(model, options).totalBytes
            options.adapterRoot = "/"
            // Larger than any machine's memory.
            options.maximumAdapters = 1 << 30
            let usable = try #require(SystemMemory.usable)
            let plan = try Self.plan(model, options)
            #expect(plan.adapterBytes > 0)
            // Others may take memory meanwhile, or give it back; they do not double it.
            #expect(plan.totalBytes < 2 * usable)
            #expect(plan.totalBytes == rest + plan.adapterBytes)
        }
    }
}
