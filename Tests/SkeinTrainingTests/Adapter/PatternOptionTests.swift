import SkeinBasics
import SkeinFormats
import SkeinModels
import Testing

@testable import SkeinTraining

/// `--rank-pattern` and `--alpha-pattern`.
@Suite struct PatternOptionTests {
    private func lora(
        _ options: [(String, String)], of model: ModelConfiguration
    ) throws -> LoRAConfiguration {
        var configuration = TrainingConfiguration.fixed
        for (name, text) in options { try configuration.set(name, to: text) }
        return try configuration.lora(for: model)
    }

    @Test("a pattern is a name's end or a regular expression, as in PEFT")
    func strengths() throws {
        try LoadedAdapterTests.withModel { model in
            let model = model.configuration
            let found = try lora(
                [
                    ("target-modules", "all-linear"), ("rank", "8"), ("alpha", "16"),
                    ("rank-pattern", "down_proj=4,layers.0.self_attn.q_proj=2"),
                    ("alpha-pattern", "(gate|up)_proj=3,layers.1.mlp.down_proj=6"),
                ], of: model)
            func strength(_ module: TargetModule, _ layer: Int) -> LoRAConfiguration.Strength? {
                found.strength(of: module, in: layer)
            }
            #expect(strength(.down, 0) == .init(rank: 4, scale: 4))
            #expect(strength(.down, 1) == .init(rank: 4, scale: 1.5))
            #expect(strength(.query, 0) == .init(rank: 2, scale: 8))
            #expect(strength(.query, 1) == .init(rank: 8, scale: 2))
            #expect(strength(.gate, 0) == .init(rank: 8, scale: 0.375))
            #expect(strength(.value, 1) == .init(rank: 8, scale: 2))
            // A dot begins what a pattern fits: "proj" alone ends no name.
            #expect(throws: TrainingError.self) {
                try lora([("rank-pattern", "proj=4")], of: model)
            }
            let stable = try lora(
                [("rslora", "on"), ("rank-pattern", "q_proj=4")], of: model)
            #expect(stable.strength(of: .query, in: 0) == .init(rank: 4, scale: 8))
        }
    }

    @Test("a pattern that fits nothing, disagrees with another or is no expression is refused")
    func refused() throws {
        try LoadedAdapterTests.withModel { model in
            let model = model.configuration
            for (name, text) in [
                ("rank-pattern", "down_proj=4"), ("alpha-pattern", "layers.9.self_attn.q_proj=4"),
                ("rank-pattern", "q_proj=4,self_attn.q_proj=5"), ("rank-pattern", "(q_proj=4"),
            ] {
                let error = #expect(throws: TrainingError.self) {
                    try lora([(name, text)], of: model)
                }
                guard case .badOption(let flag, _, _) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(flag == name)
            }
            // Two that agree do no harm.
            _ = try lora([("rank-pattern", "q_proj=4,self_attn.q_proj=4")], of: model)
        }
    }

    @Test("the text of patterns is sorted, may be repeated, and is read back")
    func text() throws {
        var configuration = TrainingConfiguration.fixed
        try configuration.set("rank-pattern", to: "v_proj=4,down_proj=16")
        #expect(configuration.rankPattern == ["down_proj": 16, "v_proj": 4])
        var other = TrainingConfiguration.fixed
        try other.set("rank-pattern", to: "down_proj=16,v_proj=4")
        #expect(other == configuration && other.digest == configuration.digest)
        #expect(configuration.recipeTexts["rank-pattern"] == "down_proj=16,v_proj=4")
        let reread = try TrainingConfiguration(json: configuration.json, path: "x")
        #expect(reread == configuration)
        let join = try #require(RecipeOptions.table.rankPattern.description.join)
        #expect(try join("a=1", "b=2") == "a=1,b=2")
        #expect(throws: (any Error).self) { try join("a=1", "a=2") }
        for text in ["", "a", "a=", "=4", "a=0", "a=1025", "a=1,a=1", "a=1,", "a=1=2", "a=1.5"] {
            #expect(throws: TrainingError.self) { try configuration.set("rank-pattern", to: text) }
        }
        for text in ["a=0", "a=-1", "a=x", "a=70000"] {
            #expect(throws: TrainingError.self) { try configuration.set("alpha-pattern", to: text) }
        }
        let most = (0..<256).map { "m\($0)=1" }.joined(separator: ",")
        try configuration.set("rank-pattern", to: most)
        #expect(throws: TrainingError.self) {
            try configuration.set("rank-pattern", to: most + ",x=1")
        }
        #expect(throws: (any Error).self) { try join(most, "x=1") }
    }
}
