import SkeinBasics
import SkeinCoordination
import Testing

@testable import SkeinCluster
@testable import SkeinSimulation

/// The real fetch over the system calls of a simulated disk.
@Suite("a worker that dies while it fetches its model")
struct FetchDeathTests {
    /// One process, to its end; every piece comes as soon as it is asked for.
    private func fetch(_ process: SimulatedProcess) throws -> String {
        defer { process.end() }
        let fetch = ModelFetch(
            offer: ModelFetchTests.offer(), cache: "/cache", progress: PreparationProgress(),
            patience: .seconds(60), log: Log(to: { _, _ in }), calls: process)
        return try fetch.run(
            request: { #expect(fetch.receive(ModelFetchTests.piece($0))) }, report: { _, _ in })
    }

    /// Whether a process dies that may make `count` calls that change the disk.
    private func dies(_ disk: SimulatedDisk, after count: Int) throws -> Bool {
        var hasDied = false
        do {
            _ = try fetch(disk.opened(dyingAfter: (count, .change)) { hasDied = true })
        } catch is ProcessDied {
        } catch NodeError.modelDamaged {
            // What power left of an earlier attempt.
        }
        return hasDied
    }

    @Test("wherever it dies, twice, the next processes have the whole file and leave no other")
    func deaths() throws {
        var deaths = 0
        while true {
            let disk = SimulatedDisk(seed: UInt64(deaths))
            disk.faults.chances = [.shortWrite: 0.3, .shortRead: 0.3, .interruption: 0.1]
            guard try dies(disk, after: deaths) else { break }
            deaths += 1
            if deaths % 2 == 0 { disk.losePower() }
            _ = try dies(disk, after: 1 + deaths * 7 % 40)
            if deaths % 3 == 0 { disk.losePower() }
            // What is damaged is removed, and fetched once more.
            var path: String?
            for _ in 0..<2 where path == nil {
                do {
                    path = try fetch(disk.opened())
                } catch NodeError.modelDamaged {}
            }
            let place = try #require(path, "death \(deaths)")
            for _ in 0..<2 {
                // Not in an expectation, which would print all of it.
                let isWhole = disk[place] == ModelFetchTests.bytes
                #expect(isWhole, "death \(deaths)")
                let names = try disk.opened().store.names(in: FilePath.parent(of: place))
                #expect(names.filter { $0 != ".lock" } == ["model.gguf"], "death \(deaths)")
                disk.losePower()
            }
        }
        #expect(deaths > 20, "\(deaths) deaths")
    }
}
