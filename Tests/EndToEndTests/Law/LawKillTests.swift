import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// The law beside kills: what a recipe keeps besides its adapter outlives a worker and a coordinator.
/// Kills at any moment of the default recipe stand in `KillTests` and `ClusterKillTests`.
@Suite("the law and kills", .ownThreads)
struct LawKillTests {
    @Test(
        "a cluster whose worker and coordinator are killed has the bytes of one process",
        arguments: LawRecipe.recipes + LawRecipe.pairs)
    func killedCluster(recipe: LawRecipe) throws {
        // A longer run if the test learned of a step so late that the run was over.
        for epochs in ["4", "40", "400"] {
            let longer = LawRecipe(
                recipe.testDescription, recipe.options + ["--epochs", epochs], rows: recipe.rows, []
            )
            var kills = 0
            try LawBench.with(longer) { kills = try compare($0) }
            if kills == 2 { return }
        }
        Issue.record("every run was over before it was killed")
    }

    /// Compares a quiet run with one whose members are killed, and returns the number of kills that
    /// came before its end.
    private func compare(_ law: LawBench) throws -> Int {
        let expected = try law.reference()
        let cluster = try law.cluster("cluster", ["--min-workers", "1"])
        for number in 0..<2 { try cluster.startWorker("w\(number)") }
        var kills = 0
        try cluster.waitForSteps(4)
        if cluster.steps < expected.steps { kills += 1 }
        try cluster.restartWorker(0)
        try cluster.waitForSteps(8)
        if cluster.steps < expected.steps { kills += 1 }
        try cluster.restartCoordinator()
        try cluster.finish()
        #expect(try law.clustered(law.outcome(of: "cluster")) == law.clustered(expected))
        return kills
    }

    @Test("a run that began in one process goes on in a cluster, and the other way round")
    func changeOver() throws {
        let long = LawRecipe("long", ["--epochs", "40"], [])
        try LawBench.with(long) { law in
            let expected = try law.reference()
            let words = law.bench.trainWords("changed", law.options, data: law.data)
            let first = try SkeinProcess(words)
            try first.waitForError("step 7/")
            first.send(SIGKILL)
            _ = try first.wait()
            let cluster = try law.cluster("changed", ["--resume"])
            try cluster.startWorker("w1")
            try cluster.waitForSteps(15)
            cluster.coordinator.send(SIGKILL)
            _ = try cluster.coordinator.wait()
            cluster.workers[0].send(SIGKILL)
            _ = try cluster.workers[0].wait()
            let last = try law.train("changed", ["--resume"])
            #expect(last.error.contains("resuming after step"))
            #expect(cluster.coordinator.errorText.contains("resuming after step"))
            #expect(try law.outcome(of: "changed") == expected)
        }
    }
}
