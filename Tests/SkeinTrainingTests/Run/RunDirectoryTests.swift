import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct RunDirectoryTests {
    private func runFile() -> RunFile {
        RunFile(
            version: "0.1", fingerprint: "engine 1", model: "m.gguf", data: "d.jsonl",
            modelDigest: "aa", dataDigest: "bb", configuration: TrainingConfiguration.fixed)
    }

    private func runFile(_ edit: (inout RunFile) throws -> Void) rethrows -> RunFile {
        var file = runFile()
        try edit(&file)
        return file
    }

    @Test("run.json reads back as it was written")
    func roundTrip() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/run.json"
            let file = try runFile {
                $0.validationDigest = "cc"
                $0.initAdapterDigest = "dd"
                $0.rowsDigest = "ee"
                $0.planDigest = "ff"
                $0.encoderVersion = 5
                $0.testDigest = "11"
                $0.recipeDigest = "22"
                $0.referencesDigest = "33"
                $0.knownAnswer = "1:44"
                $0.otherEnginesFrom = 3
                try $0.configuration.set("iterations", to: "9")
                try $0.configuration.set("layers", to: "4")
            }
            for original in [file, runFile()] {
                try original.write(to: path)
                #expect(try RunFile(path: path) == original)
            }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text == runFile().text)
            #expect(text.hasPrefix("{\n  \"version\": \"0.1\",\n  \"fingerprint\": \"engine 1\""))
            #expect(text.contains("\n    \"learning-rate\": 0.0001,\n"))
        }
    }

    private static func damagedMark(_ value: String) -> String {
        """
        {"version":"1","fingerprint":"f","model":"m","model_sha256":"a","data":"d",
        "data_sha256":"b","configuration":{},"other_engines_from_step":\(value)}
        """
    }

    @Test("noting other engines changes one line, whichever version wrote the file")
    func marks() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/run.json"
            func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
            // A field of a newer version.
            let newer = runFile().text.replacing(
                "  \"version\"", with: "  \"newer\": [1],\n  \"version\"")
            try AtomicFile.write(newer, to: path)
            for step in [7, 5] {
                try RunFile.mark(otherEnginesFrom: step, at: path, in: DiskStore())
                #expect(
                    try text()
                        == newer.replacing(
                            "{\n  \"newer\"",
                            with: "{\n  \"other_engines_from_step\": \(step),\n  \"newer\""))
                #expect(try RunFile(path: path).otherEnginesFrom == step)
            }
            // As another program wrote it.
            try AtomicFile.write(
                runFile().text.replacing("\n", with: " "), to: path)
            try RunFile.mark(otherEnginesFrom: 2, at: path, in: DiskStore())
            #expect(try RunFile(path: path) == runFile { $0.otherEnginesFrom = 2 })
            // It is not compared.
            try runFile().checkResume(of: RunFile(path: path), path: path)
        }
    }

    static let damaged: [(String, String)] = [
        ("", "not JSON"), ("[]", "a list, not an object"),
        ("{}", "\"configuration\" is missing or not an object"),
        ("{\"configuration\":{}}", "\"version\" is missing or not a string"),
        (
            "{\"configuration\":{\"rank\":0}}",
            "configuration: \"0\" is not allowed for --rank"
        ),
        (damagedMark("0"), "\"other_engines_from_step\" is not a step"),
        (damagedMark("true"), "\"other_engines_from_step\" is not a step"),
        (damagedMark("1.5"), "\"other_engines_from_step\" is not a step"),
        (
            "{\"configuration\":{\"x\":0}}",
            "configuration: there is no option \"x\" in this version; has a newer one written it?"
        ),
    ]

    @Test("a damaged run.json names what is wrong", arguments: damaged)
    func damagedFile(text: String, detail: String) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/run.json"
            try AtomicFile.write(text, to: path)
            let error = try #require(throws: TrainingError.self) { try RunFile(path: path) }
            guard case .damagedRecord(path, nil, let found) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(found.hasPrefix(detail), "\(found)")
        }
    }

    @Test("a resume with other settings names every field that differs and both values")
    func resume() throws {
        let recorded = runFile()
        let same = try runFile {
            $0.version = "0.2"
            $0.model = "elsewhere.gguf"
            try $0.configuration.set("threads", to: "7")
        }
        #expect(throws: Never.self) { try same.checkResume(of: recorded, path: "r") }
        let other = try runFile {
            $0.modelDigest = "ax"
            $0.dataDigest = "bx"
            $0.validationDigest = "cx"
            $0.fingerprint = "engine 2"
            try $0.configuration.set("rank", to: "9")
        }
        let error = TrainingError.resumeDiffers(
            path: "r",
            differences: [
                Difference(field: "model (SHA-256)", recorded: "aa", requested: "ax"),
                Difference(field: "data (SHA-256)", recorded: "bb", requested: "bx"),
                Difference(
                    field: "validation data (SHA-256)", recorded: "not given", requested: "cx"),
                Difference(field: "rank", recorded: "8", requested: "9"),
                Difference(field: "fingerprint", recorded: "engine 1", requested: "engine 2"),
            ])
        #expect(throws: error) { try other.checkResume(of: recorded, path: "r") }
        #expect(error.explanation.what.contains("rank was 8 and is now 9"))
        #expect(error.explanation.remedy.contains("OPENBLAS_CORETYPE"))
        let elsewhere = runFile { $0.dataDigest = "bx" }
        let plain = try #require(throws: TrainingError.self) {
            try elsewhere.checkResume(of: recorded, path: "r")
        }
        #expect(!plain.explanation.remedy.contains("OPENBLAS"))
        #expect(error.explanation.status == .badData)
    }

    @Test(
        "other test rows, or other values by the same options, are named; an old file has neither")
    func testRowsAndValues() throws {
        func differences(
            _ edit: (inout RunFile) -> Void, from recorded: RunFile
        ) -> [String] {
            let other = runFile(edit)
            do {
                try other.checkResume(of: recorded, path: "r")
                return []
            } catch TrainingError.resumeDiffers(_, let differences) {
                return differences.map { "\($0.field): \($0.recorded), \($0.requested)" }
            } catch {
                return ["\(error)"]
            }
        }
        let recorded = runFile { ($0.testDigest, $0.recipeDigest) = ("t", "r") }
        #expect(
            differences({ ($0.testDigest, $0.recipeDigest) = ("t", "r") }, from: recorded) == [])
        #expect(
            differences({ $0.recipeDigest = "r" }, from: recorded)
                == ["test data (SHA-256): t, not given"])
        #expect(
            differences({ ($0.testDigest, $0.recipeDigest) = ("t", "x") }, from: recorded)
                == ["values of all options (SHA-256): r, x"])
        let without = runFile { $0.recipeDigest = "r" }
        #expect(
            differences({ ($0.testDigest, $0.recipeDigest) = ("t", "r") }, from: without)
                == ["test data (SHA-256): not given, t"])
        let old = runFile()
        #expect(differences({ ($0.testDigest, $0.recipeDigest) = ("t", "r") }, from: old) == [])

        // What a machine makes of a fixed piece of work, and what was said of the base model.
        let (one, two) = (SHA256.digest(of: "1"), SHA256.digest(of: "2"))
        let answered = runFile {
            ($0.knownAnswer, $0.referencesDigest) = (KnownAnswer.text(one), "q")
        }
        #expect(
            differences({ $0.knownAnswer = KnownAnswer.text(two) }, from: answered)
                == ["answer to a fixed piece of work (SHA-256): \(one), \(two)"])
        #expect(differences({ $0.knownAnswer = KnownAnswer.text(two) }, from: old) == [])
        #expect(differences({ $0.knownAnswer = "2:" + two.description }, from: answered) == [])
        // Before they are computed there is nothing to compare.
        #expect(differences({ $0.knownAnswer = KnownAnswer.text(one) }, from: answered) == [])
        #expect(
            differences({ $0.referencesDigest = "x" }, from: answered)
                == ["log-probabilities under the reference model (SHA-256): q, x"])
        #expect(differences({ $0.referencesDigest = "x" }, from: old) == [])
    }

    @Test(
        "the values of a run change with each option that shapes the result, and with nothing else")
    func resolved() throws {
        let model = try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            return try ModelDirectory.open(directory + "/tiny.gguf").configuration
        }
        func digest(_ edit: (inout TrainingConfiguration) -> Void = { _ in }) throws
            -> SHA256.Digest
        {
            var configuration = TrainingConfiguration.fixed
            edit(&configuration)
            let shape = AdapterShape(try configuration.lora(for: model), model: model)
            return try ResolvedRecipe.digest(configuration, shape)
        }
        let plain = try digest()
        #expect(try digest() == plain)
        #expect(try digest { ($0.threads, $0.checkpointEvery) = (7, 3) } == plain)
        let edits: [(inout TrainingConfiguration) -> Void] = [
            { $0.rank = 4 }, { $0.alpha = 8 }, { $0.rslora = true }, { $0.dropout = 0 },
            { $0.layers = .last(1) }, { $0.learningRate = 1e-3 }, { $0.loraPlusRatio = 4 },
            { $0.beta1 = 0.8 }, { $0.epsilon = 1e-6 }, { $0.schedule = .linear },
            { $0.warmupSteps = 3 }, { $0.maxGradNorm = 0 }, { $0.labelSmoothing = 0.1 },
            { $0.neftuneAlpha = 5 }, { $0.loss = .dpo }, { $0.loss = .simpo },
            { ($0.localSteps, $0.logicalWorkers) = (2, 2) }, { $0.seed = 1 },
            { $0.microBatchTokens = 7 }, { $0.gradientCodec = .int8 },
        ]
        let all = try edits.map { try digest($0).description } + [plain.description]
        #expect(Set(all).count == edits.count + 1)
    }

    @Test(
        "a run has the digests that earlier versions gave it, whatever options came since",
        .enabled(if: TestPaths.model != nil, "needs SKEIN_TEST_MODEL"))
    func pinned() throws {
        var configuration = TrainingConfiguration.fixed
        (configuration.iterations, configuration.maxLength) = (4, 64)
        let path = try #require(TestPaths.model)
        let model = try ModelDirectory.open(path).configuration
        let shape = AdapterShape(try configuration.lora(for: model), model: model)
        // From run.json of `skein train --iterations 4 --max-length 64` with 00ca082e (2026-11-27).
        #expect(configuration.digest.description.hasPrefix("cf8f765e"))
        #expect(
            try ResolvedRecipe.digest(configuration, shape).description.hasPrefix("f84bbe5c"))
    }

    @Test("other rows or another plan of the same files are named, with a remedy")
    func otherRows() throws {
        let recorded = runFile {
            $0.rowsDigest = "ee"
            $0.planDigest = "ff"
        }
        let other = runFile {
            $0.rowsDigest = "ex"
            $0.planDigest = "fx"
        }
        let error = try #require(throws: TrainingError.self) {
            try other.checkResume(of: recorded, path: "r")
        }
        #expect(
            error
                == .resumeDiffers(
                    path: "r",
                    differences: [
                        Difference(
                            field: "encoded rows (SHA-256)", recorded: "ee", requested: "ex"),
                        Difference(
                            field: "plan of micro-batches (SHA-256)", recorded: "ff",
                            requested: "fx"),
                    ]))
        #expect(error.explanation.what.contains("encoded rows (SHA-256) was ee and is now ex"))
        #expect(error.explanation.remedy.contains("resume with the version that the file names"))
        #expect(error.explanation.status == .badData)
        // The encoder's version is the reason, and no reason against rows that are the same.
        var newer = other
        newer.encoderVersion = 5
        let told = try #require(throws: TrainingError.self) {
            try newer.checkResume(of: recorded, path: "r")
        }
        #expect(
            told.explanation.what.hasSuffix(
                "encoder of rows (version) was 4 or older and is now 5"))
        newer = recorded
        newer.encoderVersion = 5
        #expect(throws: Never.self) { try newer.checkResume(of: recorded, path: "r") }
        // They follow from the data: if that differs, it alone is named.
        var moved = other
        moved.dataDigest = "bx"
        let plain = try #require(throws: TrainingError.self) {
            try moved.checkResume(of: recorded, path: "r")
        }
        #expect(
            plain
                == .resumeDiffers(
                    path: "r",
                    differences: [
                        Difference(field: "data (SHA-256)", recorded: "bb", requested: "bx")
                    ]))
        // An older version did not write them.
        #expect(!runFile().namesRows && recorded.namesRows)
        #expect(throws: Never.self) { try other.checkResume(of: runFile(), path: "r") }
    }

    @Test("the output may have a token and a term before the run")
    func companions() throws {
        try TestPaths.withTemporaryDirectory { directory in
            for name in ["token", "term"] {
                try AtomicFile.write("1", to: directory + "/" + name)
            }
            try DiskStore().makeDirectory(directory + "/references")
            for resuming in [false, true] {
                try RunDirectory.check(directory, resuming: resuming)
                #expect(try !RunDirectory(path: directory, resuming: resuming).isResumed)
            }
            try RunDirectory.check(directory + "/nothing", resuming: false)
            #expect(
                try DiskStore().names(in: directory)
                    == [".lock", "references", "term", "token"])
            try AtomicFile.write("mine", to: directory + "/letter.txt")
            #expect(throws: TrainingError.outputNotEmpty(path: directory)) {
                try RunDirectory.check(directory, resuming: false)
            }
        }
    }

    @Test("an output that is not empty needs --resume, and is not touched")
    func notEmpty() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("mine", to: directory + "/letter.txt")
            #expect(throws: TrainingError.outputNotEmpty(path: directory)) {
                try RunDirectory(path: directory, resuming: false)
            }
            #expect(throws: TrainingError.notARunDirectory(path: directory)) {
                try RunDirectory(path: directory, resuming: true)
            }
            #expect(try DiskStore().names(in: directory) == ["letter.txt"])
        }
    }

    @Test("a new, empty or barely begun directory starts afresh; a run is resumed")
    func fresh() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/a/b"
            for resuming in [false, true, false] {
                let run = try RunDirectory(path: path, resuming: resuming)
                #expect(!run.isResumed)
                // Killed while writing run.json.
                try AtomicFile.write("{", to: run.runFile + ".tmp-123")
                _ = run
            }
            try AtomicFile.write("{}", to: path + "/run.json")
            try AtomicFile.makeDirectory(path + "/checkpoints/.writing-step-000001")
            try AtomicFile.makeDirectory(path + "/adapter")
            try AtomicFile.write("", to: path + "/adapter/adapter_model.safetensors.tmp-9")
            #expect(throws: TrainingError.outputNotEmpty(path: path)) {
                try RunDirectory(path: path, resuming: false)
            }
            let run = try RunDirectory(path: path, resuming: true)
            #expect(run.isResumed)
            #expect(
                try DiskStore().names(in: path) == [".lock", "adapter", "checkpoints", "run.json"])
            #expect(try DiskStore().names(in: run.adapter) == [])
            #expect(try DiskStore().names(in: path + "/checkpoints") == [])
        }
    }

    @Test("a second run in one directory is refused until the first ends")
    func locked() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var first: RunDirectory? = try RunDirectory(path: directory, resuming: false)
            #expect(first != nil)
            #expect(throws: TrainingError.outputInUse(path: directory)) {
                try RunDirectory(path: directory, resuming: true)
            }
            first = nil
            #expect(throws: Never.self) { try RunDirectory(path: directory, resuming: true) }
        }
    }

    @Test("a file where the directory should be is an error of the file system")
    func file() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/file"
            try AtomicFile.write("", to: path)
            #expect(
                throws: FileError.failed(
                    operation: "use as a directory", path: path, code: ENOTDIR)
            ) { try RunDirectory(path: path, resuming: false) }
        }
    }
}
