import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// A process that has lost its directory without knowing: it was stopped, and its lock is gone.
@Suite struct TermFenceTests {
    private let layout = ParameterLayout([
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", [2, 3]),
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", [4, 2]),
    ])

    private func checkpoint(_ step: Int) -> Checkpoint {
        let values = (0..<14).map { Float($0 + step) }
        return Checkpoint(
            state: TrainingState(
                step: step, epoch: 1, bestValidationLoss: nil, bestStep: 0,
                validationsSinceBest: 0, configurationDigest: "d"),
            adapter: AdapterConfiguration(
                rank: 2, alpha: 4, dropout: 0, targetModules: ["q_proj"], layersToTransform: nil,
                baseModelName: "m", usesRankStabilizedScale: false),
            parameters: values, averages: values, squareAverages: values)
    }

    private func line(_ step: Int) -> JSONValue { JSONValue.fields([("step", .integer(step))]) }

    /// A directory with a run, and a lock that the first process believes to have.
    private func withRun(
        _ body: (_ path: String, _ first: RunDirectory, _ term: UInt32) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/run"
            let first = try RunDirectory(path: path, resuming: false)
            let term = try first.nextTerm(first: 7)
            try first.store.write("{}\n", to: first.runFile)
            _ = try first.checkpoints.save(checkpoint(1), layout: layout)
            try first.store.makeDirectory(first.adapter)
            try body(path, first, term)
        }
    }

    /// What a server does that forgets the locks of a host: the next one gets the lock.
    private func takeOver(_ path: String) throws -> (run: RunDirectory, term: UInt32) {
        try DiskStore().remove(path + "/.lock")
        let run = try RunDirectory(path: path, resuming: true)
        return (run, try run.nextTerm(first: 7))
    }

    /// Contents of each file, by its path.
    private func contents(_ path: String) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            contents[name] = FileManager.default.contents(atPath: path + "/" + name) ?? Data()
        }
        return contents
    }

    @Test("after a takeover the former process writes, renames and removes nothing")
    func everyWrite() throws {
        try withRun { path, first, term in
            let lines = try LineFile(
                path: first.ledger, keepingThroughStep: 0, in: first.store)
            try lines.append([line(1)])
            let second = try takeOver(path)
            #expect(second.term == term + 1)
            let before = try contents(path)
            let expected = TrainingError.takenOver(path: path, own: term, found: term + 1)
            let (store, cache) = (
                first.store,
                ReferenceCache(directory: path + "/references", check: first.checkTerm)
            )
            var warnings: [ReferenceCache.Warning] = []
            let key = SHA256.digest(of: [1, 2, 3])
            let writes: [(String, () throws -> Void)] = [
                ("a line", { try lines.append([line(2)]) }),
                ("run.json", { try store.write("{\"x\":1}\n", to: first.runFile) }),
                ("a directory", { try store.makeDirectory(path + "/more") }),
                ("a new name", { try store.rename(first.runFile, to: path + "/other.json") }),
                ("a removal", { try store.remove(first.checkpoints.path(ofStep: 1)) }),
                ("a new file that grows", { _ = try store.growingFile(path + "/new.jsonl") }),
                (
                    "opening the ledger",
                    { _ = try LineFile(path: first.ledger, keepingThroughStep: 0, in: store) }
                ),
                (
                    "a checkpoint",
                    { _ = try first.checkpoints.save(checkpoint(2), layout: layout) }
                ),
                ("pruning", { try first.checkpoints.keepNewest(1, besides: nil) }),
                (
                    "the adapter",
                    {
                        try AdapterFiles.write(
                            configuration: checkpoint(2).adapter,
                            tensors: layout.tensors(checkpoint(2).parameters),
                            to: first.adapter, in: store)
                    }
                ),
                (
                    "references",
                    {
                        let piece = ReferencePiece(values: [-1], worker: "w1", attempt: 1)
                        try cache.write([piece], key, &warnings)
                    }
                ),
            ]
            for (name, write) in writes where name != "pruning" {
                #expect(throws: expected, "\(name)") { try write() }
            }
            #expect(try contents(path) == before)
            #expect(warnings.isEmpty)
            // The one who has it now is not disturbed.
            try second.run.store.write("{}\n", to: second.run.runFile)
            _ = try second.run.checkpoints.save(checkpoint(2), layout: layout)
            #expect(try second.run.checkpoints.steps() == [1, 2])
        }
    }

    @Test("a process that is stopped between the last byte of a file and its name gives none")
    func stoppedBeforeName() throws {
        try withRun { path, first, term in
            var second: (run: RunDirectory, term: UInt32)?
            #expect(throws: TrainingError.takenOver(path: path, own: term, found: term + 1)) {
                // Called after the term was checked: the very last moment.
                try first.store.write(
                    to: first.runFile,
                    check: {
                        second = try takeOver(path)
                        try second?.run.store.write("{\"of\":2}\n", to: first.runFile)
                    }, { append in try Array("{\"of\":1}\n".utf8).withUnsafeBytes(append) })
            }
            #expect(
                try String(contentsOfFile: first.runFile, encoding: .utf8) == "{\"of\":2}\n")
            let names = try contents(path).keys
            #expect(!names.contains { $0.contains(".tmp-") })
            withExtendedLifetime(second) {}
        }
    }

    @Test("lines that a former process had already checked go to a file without a name")
    func lateLines() throws {
        try withRun { path, first, _ in
            // Without the fence, as at the moment after the check.
            let late = try LineFile(path: first.ledger, keepingThroughStep: 0, in: DiskStore())
            try late.append([line(1), line(2)])
            let second = try takeOver(path)
            let lines = try LineFile(
                path: second.run.ledger, keepingThroughStep: 1, in: second.run.store)
            try late.append([line(2), line(3)])
            try lines.append([line(2)])
            #expect(
                try String(contentsOfFile: first.ledger, encoding: .utf8)
                    == "{\"step\":1}\n{\"step\":2}\n")
        }
    }

    @Test("of two that take the same term at the same moment, the last one goes on alone")
    func sameTerm() throws {
        try withRun { path, first, term in
            let before = try #require(FileManager.default.contents(atPath: path + "/term"))
            let second = try takeOver(path)
            // A third one that has read the term before the second one wrote it.
            try AtomicFile.write(Array(before), to: path + "/term")
            try DiskStore().remove(path + "/.lock")
            let third = try RunDirectory(path: path, resuming: true)
            #expect(try third.nextTerm(first: 7) == second.term)
            #expect(
                throws: TrainingError.takenOver(
                    path: path, own: second.term, found: second.term)
            ) { try second.run.checkTerm() }
            try third.checkTerm()
            #expect(second.term == term + 1)
            withExtendedLifetime(first) {}
        }
    }

    @Test("a process that is stopped between its lock and its term takes nothing over")
    func stoppedBeforeTerm() throws {
        try withRun { path, first, term in
            try DiskStore().remove(path + "/.lock")
            let late = try RunDirectory(path: path, resuming: true)
            let second = try takeOver(path)
            #expect(throws: TrainingError.takenOver(path: path, own: term, found: second.term)) {
                try late.nextTerm(first: 7)
            }
            try second.run.checkTerm()
            withExtendedLifetime(first) {}
        }
    }

    @Test("a term that is gone or is no term is not this process's")
    func strangeTerms() throws {
        try withRun { path, first, term in
            try first.checkTerm()
            for text in ["", "x\n", "7\n", "7 xyz\n", "8 0000000000000000\n"] {
                try AtomicFile.write(text, to: path + "/term")
                #expect(throws: TrainingError.self, "\(text)") { try first.checkTerm() }
            }
            try DiskStore().remove(path + "/term")
            #expect(throws: TrainingError.takenOver(path: path, own: term, found: nil)) {
                try first.store.write("{}", to: first.runFile)
            }
        }
    }

    @Test("a takeover is the cause of an error where there was one, and hides no other")
    func causes() throws {
        try withRun { path, first, term in
            let gone = FileError.failed(operation: "open", path: path + "/gone", code: ENOENT)
            func cause() -> (any Error)? { first.cause(of: gone) }
            #expect(cause() as? FileError == gone)
            let term8 = try #require(FileManager.default.contents(atPath: path + "/term"))
            // What says nothing of another process leaves the first error as it is.
            for text in ["", "x\n"] {
                try AtomicFile.write(text, to: path + "/term")
                #expect(cause() as? FileError == gone)
            }
            try DiskStore().remove(path + "/term")
            #expect(cause() as? FileError == gone)
            try AtomicFile.write(Array(term8), to: path + "/term")
            let second = try takeOver(path)
            #expect(
                cause() as? TrainingError
                    == .takenOver(path: path, own: term, found: second.term))
            // A run that is complete is told so, too, when its adapter is read.
            #expect(throws: TrainingError.takenOver(path: path, own: term, found: second.term)) {
                try first.adapterDigest()
            }
            #expect(throws: FileError.self) { try second.run.adapterDigest() }
            withExtendedLifetime(second) {}
        }
    }

    @Test("the sentence says which term, and that the other one is left alone")
    func sentence() {
        let explanation = TrainingError.takenOver(path: "out", own: 7, found: 9).explanation
        #expect(
            explanation.what
                == "another coordinator, or train, has taken over this directory: its term is 9, and "
                + "this process had term 7")
        #expect(explanation.place == "out" && explanation.status == .peerGone)
        #expect(explanation.remedy.contains("this process writes nothing more"))
        #expect(explanation.remedy.contains("--resume"))
    }
}
