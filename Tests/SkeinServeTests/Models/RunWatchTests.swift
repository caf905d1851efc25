import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinServe

/// What looks at a run that is followed do, and say.
@Suite struct RunWatchTests {
    /// Lines of a log.
    private final class Lines: Sendable {
        private let lines = Mutex([String]())

        var log: Log { Log(to: { [self] _, line in lines.withLock { $0.append(line) } }) }

        func count(of words: String) -> Int {
            lines.withLock { $0.count { $0.contains(words) } }
        }
    }

    @Test("why a run cannot be followed is said once, however often it is looked at")
    func saidOnce() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let models = try ModelsCase(in: directory)
            let run = models.root + "/run"
            try FileManager.default.createDirectory(
                atPath: run, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: run + "/checkpoints"))
            let lines = Lines()
            var watch = RunWatch(run, name: "run", models: models.served, log: lines.log)
            for _ in 0..<3 { watch.look() }
            #expect(lines.count(of: "Not a directory") == 1)
            try FileManager.default.removeItem(atPath: run + "/checkpoints")
            watch.look()
            #expect(models.served.list.map(\.id) == ["tiny"])
            try models.writeCheckpoint(5)
            for _ in 0..<2 { watch.look() }
            #expect(try models.served.model(named: "run").step == 5)
            #expect(lines.count(of: "serving run at step 5") == 1)
            #expect(lines.count(of: "Not a directory") == 1)
        }
    }

    @Test("a run is not replaced by a newer checkpoint until there is room, and then it is")
    func room() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let models = try ModelsCase(in: directory, room: 3)
            let lines = Lines()
            var watch = RunWatch(
                models.root + "/run", name: "run", models: models.served, log: lines.log)
            let small = try ServeCase.writeAdapter(
                models.root + "/small", model: models.model, seed: 9, rank: 1)
            func step() throws -> Int? { try models.served.model(named: "run").step }
            try models.writeCheckpoint(1)
            watch.look()
            do {
                let request = try models.served.model(named: "run")
                try models.writeCheckpoint(2)
                watch.look()
                #expect(try step() == 2)
                try models.served.load("small", path: small)
                let held = models.heldBytes
                try models.writeCheckpoint(3)
                for _ in 0..<2 { watch.look() }
                // What is held changes, and that there is no room does not.
                #expect(models.served.unload("small"))
                try models.load("a")
                #expect(models.heldBytes > held)
                for _ in 0..<2 { watch.look() }
                #expect(try step() == 2)
                #expect(lines.count(of: "step 3 of run cannot be served") == 1)
                #expect(models.heldBytes == 3 * models.adapterBytes)
                withExtendedLifetime(request) {}
            }
            watch.look()
            #expect(try step() == 3)
            #expect(models.heldBytes == 2 * models.adapterBytes)
        }
    }
}
