import SkeinBasics
import SkeinBench
import SkeinTestSupport
import Synchronization
import Testing

/// The law: a run is a pure function of model, data, configuration and seed. Each row of the table is
/// a recipe and each column a way to compute it; all bytes of a row are equal, whoever computes, and
/// no two rows have one adapter.
@Suite("the law", .ownThreads)
struct LawTests {
    /// Recipes by the hashes of their adapters.
    private static let recipes = Mutex<[String: String]>([:])

    /// Fails if another recipe has this adapter: then one of them changes nothing.
    private func note(_ name: String, _ law: LawBench, _ output: String) throws {
        let hash = try law.weights(of: output)
        let other = Self.recipes.withLock { $0.updateValue(name, forKey: hash) }
        #expect(other == nil || other == name, "\(name) and \(other ?? "") are one")
    }

    @Test(
        "each recipe has one hash in all its ways, and no other has it", arguments: LawRecipe.table)
    func oneHash(recipe: LawRecipe) throws {
        try LawBench.with(recipe) { law in
            let expected = try law.reference()
            let ledger = try law.bench.bytes(law.bench.path("reference/ledger.jsonl"))
            #expect(expected.files.count >= 3 && expected.provedSteps > 4)
            for (number, way) in recipe.ways.enumerated() {
                let output = "way-\(number)"
                #expect(try law.outcome(of: way, in: output) == expected, "\(way)")
                if way.isCluster { continue }
                let found = try law.bench.bytes(law.bench.path(output + "/ledger.jsonl"))
                #expect(found == ledger, "\(way)")
            }
            try note(recipe.testDescription, law, "reference")
        }
    }

    @Test("another seed, another rate, another beta and other rows give another adapter")
    func whatMatters() throws {
        for (name, rows, more) in [
            ("seed", .completions(40), ["--seed", "1"]),
            ("rate", .completions(40), ["--learning-rate", "2e-4"]),
            ("rows", .completions(41), []),
            ("beta", .preferences(40), ["--loss", "dpo", "--beta", "0.7"]),
        ] as [(String, LawRecipe.Rows, [String])] {
            try LawBench.with(LawRecipe(name, more, rows: rows, [])) { law in
                try law.train("run", [])
                try note(name, law, "run")
            }
        }
    }
}
