import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import Skein

@Suite struct SessionRefusalTests {
    @Test("numbers below 1 and directories elsewhere are refused by name")
    func badParameters() async throws {
        try await SessionBench.with { bench in
            for (name, settings) in [
                ("reportInterval", bench.settings("a", report: 0)),
                ("checkpointInterval", bench.settings("a", checkpoint: -1)),
                ("iterations", bench.settings("a", iterations: 0)),
            ] {
                let error = #expect(throws: SkeinError.self) {
                    try AdapterTrainer.train(
                        pairs: .file(bench.rows), parameters: bench.parameters(),
                        sessionParameters: settings)
                }
                #expect(error?.code == .usage && error?.what.contains(name) == true)
                #expect(error?.remedy.isEmpty == false)
            }
            let far = try #require(URL(string: "https://example.org/session"))
            let error = #expect(throws: SkeinError.self) {
                try AdapterTrainer.makeTrainingSession(
                    pairs: .file(bench.rows), parameters: bench.parameters(),
                    sessionParameters: SessionParameters(sessionDirectory: far))
            }
            #expect(error?.place == "https://example.org/session")
            var parameters = bench.parameters()
            parameters.recipe.rank = 0
            let recipe = #expect(throws: SkeinError.self) {
                try AdapterTrainer.makeTrainingSession(
                    pairs: .file(bench.rows), parameters: parameters,
                    sessionParameters: bench.settings("a"))
            }
            #expect(recipe?.what.contains("rank") == true)
            let none = #expect(throws: SkeinError.self) {
                try AdapterTrainer.makeTrainingSession(
                    pairs: .pairs([]), parameters: bench.parameters(),
                    sessionParameters: bench.settings("b"))
            }
            #expect(none?.code == .badData)
            for name in ["a", "b"] {
                #expect(!FileManager.default.fileExists(atPath: bench.place(name)))
            }
        }
    }

    @Test("of all who make a session in one directory, one does")
    func exclusive() async throws {
        try await SessionBench.with { bench in
            for round in 0..<8 {
                let errors = Condition([any Error]())
                let made = Condition(0)
                BriefThreads.perform(4) { _ in
                    do {
                        _ = try bench.session("round-\(round)")
                        made.change { $0 += 1 }
                    } catch {
                        errors.change { $0.append(error) }
                    }
                }
                #expect(made.change { $0 } == 1)
                let found = errors.change { $0 }
                #expect(found.count == 3 && found.allSatisfy { $0 is SkeinError })
            }
            // Another program's lock is found as well, and nothing is written then.
            try FileManager.default.createDirectory(
                atPath: bench.place("a"), withIntermediateDirectories: true)
            let lock = try DiskStore().lock(bench.place("a/.lock"))
            #expect(throws: SkeinError.self) { try bench.session("a") }
            #expect(lock != nil)
            #expect(!FileManager.default.fileExists(atPath: bench.place("a/session")))
            withExtendedLifetime(lock) {}
        }
    }

    @Test("a directory that holds a session or anything else is refused")
    func occupied() async throws {
        try await SessionBench.with { bench in
            func hasSession(_ name: String) -> Bool {
                AdapterTrainer.hasSession(in: URL(fileURLWithPath: bench.place(name)))
            }
            #expect(!hasSession("a"))
            _ = try bench.session("a")
            #expect(hasSession("a"))
            let held = #expect(throws: SkeinError.self) { try bench.session("a") }
            #expect(held?.remedy.contains("restoreTrainingSession") == true)
            _ = try bench.commandLine("b")
            #expect(hasSession("b"))
            let run = #expect(throws: SkeinError.self) { try bench.session("b") }
            #expect(run?.place.hasSuffix("b/run.json") == true)
            try FileManager.default.createDirectory(
                atPath: bench.place("c/photos"), withIntermediateDirectories: true)
            let foreign = #expect(throws: SkeinError.self) { try bench.session("c") }
            #expect(foreign?.place.hasSuffix("/c") == true && !hasSession("c"))
        }
    }

    @Test("there must be something to restore, of the same iterations")
    func nothingToRestore() async throws {
        try await SessionBench.with { bench in
            let nowhere = #expect(throws: SkeinError.self) {
                try AdapterTrainer.restoreTrainingSession(sessionParameters: SessionParameters())
            }
            #expect(nowhere?.remedy.contains("sessionDirectory") == true)
            let missing = #expect(throws: SkeinError.self) {
                try AdapterTrainer.restoreTrainingSession(sessionParameters: bench.settings("a"))
            }
            #expect(missing?.place.hasSuffix("/a") == true)
            #expect(missing?.what.contains("no session or checkpoint") == true)
            let session = try bench.session("b")
            try await bench.stop(session, after: 2)
            let other = #expect(throws: SkeinError.self) {
                try AdapterTrainer.restoreTrainingSession(
                    sessionParameters: bench.settings("b", iterations: 12))
            }
            #expect(other?.what.contains("for 8 iterations, not 12") == true)
            for text in ["", "[]", "{\"version\":2}", "{\"version\":1,\"date\":true}"] {
                _ = try bench.session("c\(text.count)")
                let record = bench.place("c\(text.count)/session/session.json")
                try AtomicFile.write(text, to: record)
                let error = #expect(throws: SkeinError.self) {
                    try AdapterTrainer.restoreTrainingSession(
                        sessionParameters: bench.settings("c\(text.count)"))
                }
                #expect(error?.code == .badData && error?.place.contains(record) == true)
            }
        }
    }

    @Test("another model or other data is refused by the job, with both hashes")
    func differs() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            try await bench.stop(session, after: 2)
            try TrainingPairs.write(Array(SessionBench.pairs.dropLast()), to: bench.place("other"))
            let other = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a"), dataset: Dataset(at: bench.place("other")))
            let data = await #expect(throws: SkeinError.self) {
                try await AdapterTrainer.resume(other).result
            }
            let then = try RegularFile.digest(of: bench.rows).digest.description
            let now = try RegularFile.digest(of: bench.place("other")).digest.description
            #expect(data?.what.contains(then) == true && data?.what.contains(now) == true)
            var tiny = TinyModel()
            tiny.seed = 9
            try tiny.writeGGUF(to: bench.place("other.gguf"))
            let model = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a"), model: Model(at: bench.place("other.gguf")))
            let error = await #expect(throws: SkeinError.self) {
                try await AdapterTrainer.resume(model).result
            }
            #expect(error?.what.contains("model (SHA-256)") == true)
            // The refusals have harmed nothing; rows that have moved can be named.
            try FileManager.default.moveItem(atPath: bench.rows, toPath: bench.place("moved"))
            let gone = #expect(throws: SkeinError.self) {
                try AdapterTrainer.restoreTrainingSession(sessionParameters: bench.settings("a"))
            }
            #expect(gone?.place == bench.rows && gone?.remedy.contains("`dataset`") == true)
            let moved = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a"), dataset: Dataset(at: bench.place("moved")))
            let trained = try await AdapterTrainer.resume(moved).result
            try FileManager.default.moveItem(atPath: bench.place("moved"), toPath: bench.rows)
            #expect(trained.adapter.sha256 == (try bench.reference()))
        }
    }

    @Test("an adapter to start from that has moved can be named, and another one is refused")
    func movedAdapter() async throws {
        try await SessionBench.with { bench in
            let base = try await bench.trained("base")
            try base.write(to: URL(fileURLWithPath: bench.place("start")))
            let start = try Adapter(at: bench.place("start"))
            let session = try AdapterTrainer.makeTrainingSession(
                pairs: .file(bench.rows), parameters: bench.parameters(seed: 1, from: start),
                sessionParameters: bench.settings("a"))
            try await bench.stop(session, after: 2)
            try FileManager.default.moveItem(
                atPath: bench.place("start"), toPath: bench.place("moved"))
            func restore(_ name: String, _ adapter: Adapter?) throws -> TrainingSession {
                try AdapterTrainer.restoreTrainingSession(
                    sessionParameters: bench.settings(name), startingFrom: adapter)
            }
            let gone = #expect(throws: SkeinError.self) { try restore("a", nil) }
            #expect(gone?.place == bench.place("start"))
            #expect(gone?.remedy.contains("`startingFrom`") == true)
            let other = try await bench.trained("other", seed: 2).adapter
            let differs = await #expect(throws: SkeinError.self) {
                try await AdapterTrainer.resume(restore("a", other)).result
            }
            #expect(differs?.what.contains(start.sha256) == true)
            #expect(differs?.what.contains(other.sha256) == true)
            let none = #expect(throws: SkeinError.self) { try restore("base", other) }
            #expect(none?.what.contains("does not start from an adapter") == true)
            let moved = try Adapter(at: bench.place("moved"))
            let trained = try await AdapterTrainer.resume(restore("a", moved)).result
            let straight = try await AdapterTrainer.train(
                pairs: .file(bench.rows), parameters: bench.parameters(seed: 1, from: moved),
                sessionParameters: bench.settings("straight")
            ).result
            #expect(trained.adapter.sha256 == straight.adapter.sha256)
        }
    }

    @Test("a directory has one job at a time, in this program and in all others")
    func oneJob() async throws {
        try await SessionBench.with { bench in
            let session = try bench.session("a")
            let other = try AdapterTrainer.restoreTrainingSession(
                sessionParameters: bench.settings("a"))
            let errors = Condition([SkeinError]())
            let job = try TrainingTask(session) { moment in
                guard case .iteration(let line) = moment, line.step == 2 else { return }
                for attempt in [
                    { _ = try AdapterTrainer.resume(session) },
                    { _ = try AdapterTrainer.resume(other) },
                    { try session.removeCheckpoints { _ in true } },
                    { try other.reuseExtractedFeatures(from: session) },
                ] {
                    do {
                        try attempt()
                    } catch let error as SkeinError {
                        errors.change { $0.append(error) }
                    } catch {}
                }
            }
            let trained = try await job.result
            #expect(trained.adapter.sha256 == (try bench.reference()))
            let found = errors.change { $0 }
            #expect(found.count == 4)
            #expect(found.allSatisfy { $0.what == "a job already trains in this directory" })
            // Another program's lock is found by the run itself.
            try session.removeCheckpoints { _ in true }
            let lock = try DiskStore().lock(bench.place("a/.lock"))
            let inUse = await #expect(throws: SkeinError.self) {
                try await AdapterTrainer.resume(session).result
            }
            #expect(lock != nil && inUse?.place.hasSuffix("/a") == true)
            #expect(throws: SkeinError.self) { try session.removeCheckpoints { _ in true } }
            withExtendedLifetime(lock) {}
        }
    }
}
