import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Synchronization
import Testing

/// The law: a run is a pure function of model, data, configuration and seed. Each row of the table is
/// a recipe and each column a way to compute it; all bytes of a row are equal, whichever process
/// computes, and no two rows have one adapter.
@Suite("the law", .ownThreads)
struct LawTests {
    /// Recipes by the hashes of their adapters, of all rows that have run in this process.
    private static let recipes = Mutex<[String: String]>([:])

    @Test(
        "each recipe has one hash in all its ways, and no other has it", arguments: LawRecipe.table)
    func oneHash(recipe: LawRecipe) throws {
        try LawBench.with(recipe) { law in
            let expected = try law.reference()
            let ledger = try law.bench.bytes(law.bench.path("reference/ledger.jsonl"))
            #expect(expected.files.keys.contains { $0.hasPrefix("checkpoints/") })
            #expect(expected.provedSteps > 4 && expected.metrics.count > expected.steps)
            for (number, way) in recipe.ways.enumerated() {
                let output = "way-\(number)"
                let found = try law.outcome(of: way, in: output)
                if way.isCluster {
                    #expect(law.clustered(found) == law.clustered(expected), "\(way)")
                    continue
                }
                #expect(found == expected, "\(way)")
                #expect(
                    try law.bench.bytes(law.bench.path(output + "/ledger.jsonl")) == ledger,
                    "\(way)")
            }
            // Otherwise one of the two changes nothing.
            let hash = try law.weights(of: "reference")
            let name = recipe.testDescription
            let other = Self.recipes.withLock { $0.updateValue(name, forKey: hash) }
            #expect(other == nil || other == name, "\(name) and \(other ?? "") are one")
        }
    }

    @Test(
        "what the defaults leave: adapter, three checkpoints, a line a step and three validations")
    func defaults() throws {
        try LawBench.with(LawRecipe("", [], [])) { law in
            let found = try law.reference()
            #expect(found.files.count == 3 + 3 * 5, "\(found.files.keys.sorted())")
            #expect(found.steps == 16 && found.provedSteps == 16)
            #expect(found.metrics.count == 16 + 3)
        }
    }

    @Test("another seed, another rate, another beta and other rows give another adapter")
    func whatMatters() throws {
        let loss = ["--loss", "dpo"]
        var hashes: [String] = []
        for (options, rows) in [
            ([], .completions(40)), (["--seed", "1"], .completions(40)),
            (["--learning-rate", "2e-4"], .completions(40)), ([], .completions(41)),
            (loss, .preferences(40)), (loss + ["--beta", "0.7"], .preferences(40)),
        ] as [([String], LawRecipe.Rows)] {
            try LawBench.with(LawRecipe("", options, rows: rows, [])) { law in
                try law.train("run", [])
                hashes.append(try law.weights(of: "run"))
            }
        }
        #expect(Set(hashes).count == 6, "\(hashes)")
    }
}
