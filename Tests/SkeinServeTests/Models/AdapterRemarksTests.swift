import SkeinBasics
import SkeinModels
import SkeinTestSupport
import SkeinText
import Synchronization
import Testing

@testable import SkeinServe

/// What the server's log says of adapters that were not made for what is served.
@Suite struct AdapterRemarksTests {
    /// A log whose warnings a test reads.
    private final class Warnings: Sendable {
        private let texts = Mutex<[String]>([])

        /// All of them.
        var all: [String] { texts.withLock { $0 } }

        var log: Log {
            Log(to: { level, text in
                if level == .warning { self.texts.withLock { $0.append(text) } }
            })
        }
    }

    @Test("an adapter that names another base is remarked on, however it came")
    func otherBase() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let warnings = Warnings()
            let models = try ModelsCase(in: directory, log: warnings.log)
            // Loaded by a request.
            try models.load("a")
            #expect(warnings.all == [])
            let path = try ServeCase.writeAdapter(
                models.root + "/other", model: models.model, seed: 5, baseName: "org/other")
            try models.served.load("other", path: path)
            #expect(warnings.all.count == 1)
            let text = try #require(warnings.all.last)
            #expect(text.contains(path) && text.contains("org/other") && text.contains("tiny"))
            // One of a run that a request names: once, for it is read once.
            try models.writeCheckpoint(3, baseName: "org/other")
            for _ in 0..<2 {
                let found = try models.served.model(named: "run@3")
                #expect(found.step == 3)
            }
            #expect(warnings.all.count == 2)
            // A run that is followed: with its first checkpoint.
            let run = try ServeCase.writeAdapter(
                models.root + "/run/other", model: models.model, seed: 6, baseName: "org/other")
            for step in [1, 2] {
                try models.served.replace("followed", path: run, step: step)
            }
            #expect(warnings.all.count == 3)
            // What was refused is not remarked on.
            #expect(throws: ServeError.nameTaken(name: "other", from: .request)) {
                try models.served.load("other", path: path)
            }
            // What was said already is not said again, however often it is loaded.
            #expect(models.served.unload("other"))
            try models.served.load("other", path: path)
            #expect(warnings.all.count == 3)
        }
    }

    @Test("a model is known by the name in its files, too, wherever they lie")
    func statedName() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/weights.gguf"
            try TinyModel().writeGGUF(to: path)
            let model = try ModelDirectory.open(path)
            let warnings = Warnings()
            let remarks = AdapterRemarks(
                model: model, chat: ChatTemplateSettings(), log: warnings.log)
            for (name, count) in [("org/Tiny", 0), ("org/weights", 0), ("org/large", 1)] {
                let folder = try ServeCase.writeAdapter(
                    directory + "/" + FilePath.name(of: name), model: model, seed: 1,
                    baseName: name)
                remarks.say(
                    of: try LoadedAdapter.read(
                        folder, for: model, matching: ModulePatterns.matching))
                #expect(warnings.all.count == count, "\(name)")
            }
        }
    }
}
