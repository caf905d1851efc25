import Skein

/// `Train MODEL DATA OUTPUT SEED...`: a run for each seed, all at once. Run again, it resumes them.
@main enum Train {
    static func main() async throws {
        let words = CommandLine.arguments
        let model = try Model(at: words[1])
        try await withThrowingTaskGroup { group in
            for seed in words.dropFirst(4) {
                var recipe = Recipe()
                recipe.rank = 8
                recipe.alpha = 16
                recipe.dropout = 0.05
                recipe.targetModules = ["q_proj", "k_proj", "v_proj", "o_proj"]
                recipe.learningRate = 1e-4
                recipe.schedule = .constant
                recipe.warmupSteps = 0
                recipe.epochs = 3
                recipe.seed = Int(seed) ?? 0
                recipe.iterations = 8
                recipe.maxLength = 64
                var machine = Machine(threads: 1)
                machine.checkpointEvery = 2
                let trainer = Trainer(
                    recipe: recipe, model: model, data: Dataset(at: words[2]),
                    output: "\(words[3])-\(seed)", machine: machine)
                group.addTask {
                    async let outcome = trainer.resume()
                    for await case .step(let step) in trainer.events {
                        print("seed \(seed): step \(step.step) of \(step.stepCount)")
                    }
                    print("seed \(seed):", try await outcome.adapter?.sha256 ?? "stopped")
                }
            }
            try await group.waitForAll()
        }
    }
}
