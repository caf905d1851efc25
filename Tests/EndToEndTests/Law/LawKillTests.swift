import Foundation
import SkeinBasics
import SkeinBench
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
        try LawBench.with(recipe) { law in
            let expected = try law.reference()
            // Each member computes references by itself.
            let cluster = try law.cluster("cluster", ["--no-token-cache", "--min-workers", "1"])
            for number in 0..<2 { try cluster.startWorker("w\(number)") }
            try cluster.waitForSteps(4)
            try cluster.restartWorker(0)
            try cluster.waitForSteps(8)
            try cluster.restartCoordinator()
            try cluster.finish()
            #expect(try law.outcome(of: "cluster", isCluster: true) == expected)
        }
    }

    @Test("a run that began in one process goes on in a cluster, and the other way round")
    func changeOver() throws {
        let long = LawRecipe("long", ["--epochs", "4"], [])
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
            try law.train("changed", ["--resume"])
            #expect(try law.outcome(of: "changed", isCluster: true) == expected)
        }
    }
}
