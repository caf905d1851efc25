import Foundation
import SkeinBasics
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// What workers compute separately gives the result of one process.
@Suite struct ClusterSeamTests {
    private struct Bench {
        let engine: MicroBatchEngine
        let rows: [TokenizedRow]
        let parameters: [Float]
    }

    private func withBench(_ codec: GradientCodec, _ body: (Bench) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: model)
            let rows = (0..<9).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            var configuration = TrainingConfiguration.fixed
            configuration.gradientCodec = codec
            configuration.validationSplit = 0
            let job = try TrainingJob(
                configuration: configuration, modelPath: model,
                dataPath: directory + "/rows.jsonl", version: "test")
            try body(
                Bench(
                    engine: MicroBatchEngine(
                        model: job.model, adapter: job.shape, configuration: configuration,
                        residence: .resident, positions: job.longestRow, threads: 1),
                    rows: job.training, parameters: job.initial.values))
        }
    }

    @Test("a packed gradient is the one that train computes", arguments: GradientCodec.allCases)
    func packed(codec: GradientCodec) throws {
        try withBench(codec) { bench in
            let microBatch = MicroBatch(step: 3, index: 1, rows: Array(bench.rows[2..<6]))
            let plain = bench.engine.gradient(
                of: microBatch, parameters: bench.parameters, workspace: DecoderWorkspace())
            let progress = PassProgress()
            let packed = try #require(
                bench.engine.packedGradient(
                    of: microBatch, parameters: bench.parameters, workspace: DecoderWorkspace(),
                    progress: progress))
            #expect(packed.result.digest == plain.digest)
            #expect(packed.result.sum == plain.sum)
            let unpacked = try codec.unpack(packed.payload, count: bench.parameters.count)
            #expect(GradientCodec.digest(of: unpacked) == plain.digest)
            #expect(progress.thousandths == 1000)
            progress.abandon()
            #expect(
                bench.engine.packedGradient(
                    of: microBatch, parameters: bench.parameters, workspace: DecoderWorkspace(),
                    progress: progress) == nil)
        }
    }

    @Test("groups evaluated one by one in any order give the evaluation of one process")
    func groups() throws {
        try withBench(.fp32) { bench in
            let groups = RowEvaluation.groups(of: bench.rows, microBatchTokens: 40)
            #expect(groups.count > 2)
            #expect(groups.flatMap { $0 } == bench.rows)
            var losses = [BatchLoss](repeating: BatchLoss(), count: groups.count)
            for index in groups.indices.reversed() {
                losses[index] = try #require(
                    bench.engine.loss(
                        of: groups[index], parameters: bench.parameters,
                        workspace: DecoderWorkspace(), progress: PassProgress()))
            }
            let whole = try RowEvaluation.run(
                bench.rows, engine: bench.engine, parameters: bench.parameters,
                microBatchTokens: 40,
                threads: DecoderThreads(threadCount: 2))
            #expect(RowEvaluation(losses: losses, rows: bench.rows.count) == whole)
            #expect(whole.lossTokens > 0)
        }
    }

    @Test("a row made from its parts is equal, and says whether a model can compute it")
    func rows() throws {
        try withBench(.fp32) { bench in
            for row in bench.rows {
                let copy = TokenizedRow(number: row.number, ids: row.ids, targets: row.targets)
                #expect(copy == row)
                let most = Int(row.ids.max() ?? 0)
                #expect(row.fits(vocabularySize: most + 1, positions: row.ids.count))
                #expect(!row.fits(vocabularySize: most, positions: row.ids.count))
                #expect(!row.fits(vocabularySize: most + 1, positions: row.ids.count - 1))
            }
            let table: [(ids: [Int32], targets: [Range<Int>])] = [
                ([], []), ([1], [0..<1]), ([1, 2], []), ([1, -2], [1..<2]), ([.max, 1], [1..<2]),
                ([1, 2], [5..<9]),
            ]
            for (ids, targets) in table {
                let row = TokenizedRow(number: 0, ids: ids, targets: targets)
                #expect(!row.fits(vocabularySize: 10, positions: 10), "\(ids)")
            }
        }
    }

    @Test("a configuration reads back from its bytes; damaged bytes are an error")
    func configuration() throws {
        var original = TrainingConfiguration.fixed
        for (name, text) in [
            ("gradient-codec", "bf16"), ("layers", "1-3"), ("learning-rate", "3e-5"),
            ("iterations", "12"), ("seed", "9007199254740993"), ("valid-data", "a \"b\".jsonl"),
        ] { try original.set(name, to: text) }
        let bytes = original.json
        let read = try TrainingConfiguration(json: bytes, path: "offer")
        #expect(read == original && read.digest == original.digest && read.json == bytes)
        for text in ["", "[]", "{\"rank\":0}", "{\"x\":1}", "{\"rank\":{}}", "{\"rank\":8"] {
            #expect(throws: TrainingError.self) {
                try TrainingConfiguration(json: Array(text.utf8), path: "offer")
            }
        }
        #expect(throws: TrainingError.self) {
            try TrainingConfiguration(
                json: [UInt8](repeating: 0x20, count: 2 << 20) + bytes, path: "offer")
        }
    }

    @Test("each term is one more than the last one used, whichever process was killed")
    func terms() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/run"
            for term: UInt32 in 7...9 {
                // Killed before run.json was written: neither foreign nor a run.
                let run = try RunDirectory(path: path, resuming: term == 9)
                #expect(!run.isResumed)
                #expect(try run.nextTerm(first: 7) == term)
                let text = try String(contentsOfFile: path + "/term", encoding: .utf8)
                #expect(text.wholeMatch(of: /([0-9]+) [0-9a-f]{16}\n/)?.1 == "\(term)")
            }
            func next() throws -> UInt32 {
                try RunDirectory(path: path, resuming: false).nextTerm(first: 7)
            }
            #expect(try next() == 10)
            // As versions before wrote it.
            try AtomicFile.write("41\n", to: path + "/term")
            #expect(try next() == 42)
            for text in [
                "", "4", "x\n", "-1\n", "+4\n", "04\n", "4294967296\n", "4294967295\n", "4 1\n",
                "4 \n", "4 0123456789ABCDEF\n", "4 0123456789abcdef 5\n",
            ] {
                try AtomicFile.write(text, to: path + "/term")
                let error = #expect(throws: TrainingError.self) { try next() }
                guard case .damagedRecord(path + "/term", nil, _) = error else {
                    Issue.record("\(text): \(String(describing: error))")
                    continue
                }
                #expect(try String(contentsOfFile: path + "/term", encoding: .utf8) == text)
            }
        }
    }
}
