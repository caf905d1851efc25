import Skein

/// `Cluster MODEL DATA OUTPUT`: a coordinator and a worker in one program.
@main enum Program {
    static func main() async throws {
        let words = CommandLine.arguments
        let model = try Model(at: words[1])
        var recipe = Recipe()
        recipe.rank = 8
        recipe.alpha = 16
        recipe.dropout = 0.05
        recipe.targetModules = ["q_proj", "k_proj", "v_proj", "o_proj"]
        recipe.learningRate = 1e-4
        recipe.schedule = .constant
        recipe.warmupSteps = 0
        recipe.epochs = 3
        recipe.iterations = 8
        recipe.maxLength = 64
        let coordinator = Coordinator(
            recipe: recipe, model: model, data: Dataset(at: words[2]), output: words[3])
        async let outcome = coordinator.run()
        let worker = try await Worker(coordinator: coordinator.address, model: model)
        print("worker:", try await worker.run())
        print("sha256:", try await outcome.adapter?.sha256 ?? "stopped")
    }
}
