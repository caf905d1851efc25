import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinTraining

/// Options for adapters of the embedding and the head.
@Suite struct EdgeAdapterOptionsTests {
    @Test("options name them, patterns reach them, and DoRA excludes them")
    func options() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            var configuration = TrainingConfiguration.fixed
            try configuration.set("target-modules", to: "lm_head,q_proj,embed_tokens")
            #expect(configuration.targetModules == [.query, .embedding, .head])
            #expect(configuration.recipeTexts["target-modules"] == "q_proj,embed_tokens,lm_head")
            try configuration.set("rank", to: "8")
            try configuration.set("alpha", to: "16")
            try configuration.set("layers", to: "1")
            try configuration.set("rank-pattern", to: "embed_tokens=4")
            try configuration.set("alpha-pattern", to: "(lm_head|q_proj)=8")
            try configuration.checkRecipe()
            let lora = try configuration.lora(for: model.configuration)
            try model.configuration.design.check(lora.targets, layers: lora.layers)
            #expect(lora.strength(ofEdge: .embedding) == .init(rank: 4, scale: 4))
            #expect(lora.strength(ofEdge: .head) == .init(rank: 8, scale: 1))
            #expect(lora.strength(of: .query, in: 1) == .init(rank: 8, scale: 1))
            #expect(lora.strength(of: .query, in: 0) == nil)
            var whole = configuration
            try whole.set("target-modules", to: "all-linear")
            #expect(whole.targetModules == TargetModule.allCases)
            var other = configuration
            try other.set("rank-pattern", to: "model.embed_tokens=4")
            #expect(try other.lora(for: model.configuration) == lora)
            try other.set("rank-pattern", to: "layers.0.embed_tokens=4")
            #expect(throws: TrainingError.self) { try other.lora(for: model.configuration) }
            configuration.dora = true
            #expect(
                throws: TrainingError.badCombination(
                    flag: "dora", problem: .excludes("target-modules embed_tokens"))
            ) { try configuration.checkRecipe() }
        }
    }
}
