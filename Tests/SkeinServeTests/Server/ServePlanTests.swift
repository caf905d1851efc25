import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What a server says that it will hold.
@Suite struct ServePlanTests {
    @Test("the plan counts the one answer with most log-probabilities that may be written")
    func writing() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var options = OpenAIServer.Options(listen: "127.0.0.1:0")
            options.threads = 2
            let plan = try ServePlan(model, options)
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
            var options = OpenAIServer.Options(listen: "127.0.0.1:0")
            let usual = try ServePlan(model, options)
            #expect(usual.grammarBytes > 0 && usual.grammarBytes <= 512 << 20)
            options.grammarBytes = 3 << 20
            let given = try ServePlan(model, options)
            #expect(given.grammarBytes == 3 << 20)
            #expect(given.totalBytes == usual.totalBytes - usual.grammarBytes + 3 << 20)
        }
    }

    @Test("adapters have room where there can be some, for all that may be loaded")
    func adapters() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var options = OpenAIServer.Options(listen: "127.0.0.1:0")
            options.maximumRank = 4
            let without = try ServePlan(model, options)
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
                let plan = try ServePlan(model, options)
                #expect(plan.adapterBytes == count * largest)
                #expect(plan.totalBytes == without.totalBytes + plan.adapterBytes)
                options.adapterBytes = 5
                #expect(try ServePlan(model, options).adapterBytes == 5)
            }
        }
    }
}
