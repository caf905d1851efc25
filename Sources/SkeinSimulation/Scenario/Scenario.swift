/// A simulated run before it begins: what is trained, by how many workers, and what goes wrong.
package struct Scenario: Sendable, Equatable {
    /// Two ways to train, with two ways to share the work.
    package enum Recipe: String, Sendable, CaseIterable {
        /// Each step sums micro-batches.
        case gradients
        /// Logical workers take local steps, and their changes are averaged.
        case local
    }

    /// Whatever the fields below do not say is a function of it.
    package var seed: UInt64
    package var recipe: Recipe
    package var workers: Int
    /// Steps of the run; nil: as many as its epochs have.
    package var steps: Int?
    /// In the order of their times.
    package var faults: [Fault]

    package init(
        seed: UInt64, recipe: Recipe, workers: Int, steps: Int? = nil, faults: [Fault] = []
    ) {
        (self.seed, self.recipe, self.workers) = (seed, recipe, workers)
        (self.steps, self.faults) = (steps, faults)
    }

    /// Whether its workers fetch the model.
    var fetches: Bool { seed % 4 == 1 }
    /// Whether its workers keep features; none of these fetches.
    var keepsFeatures: Bool { seed % 8 == 7 }
    /// Whether the coordinator has a worker of its own; apart from what the seed's low digits choose.
    var computes: Bool { seed / 16 % 6 == 4 }

    /// Whether a launcher starts its processes.
    var launches: Bool { seed / 32 % 5 == 3 }

    /// The command that runs it again, without its faults, which are a file's.
    package var command: String {
        "skein-lab simulate --seeds \(seed)..\(seed) --recipe \(recipe.rawValue) --workers \(workers)"
            + (steps.map { " --steps \($0)" } ?? "")
    }
}
