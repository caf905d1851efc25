import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct LedgerTests {
    private func entry(_ step: Int, _ microBatch: Int, loss: Double = 1.25) -> LedgerEntry {
        LedgerEntry(
            step: step, microBatch: microBatch, worker: "w\"1", attempt: 1, tokens: 10,
            lossTokens: 4, lossSum: loss, gradientDigest: String(repeating: "a", count: 64),
            parametersDigest: "p\(step)", inputsDigest: "i\(step).\(microBatch)")
    }

    private func metrics(_ step: Int, loss: Double) -> StepMetrics {
        StepMetrics(
            step: step, epoch: 1, loss: loss, tokens: 30, lossTokens: 12, learningRate: 1e-4,
            gradientNorm: 0.84, seconds: 1.9, tokensPerSecond: 385, workers: 2)
    }

    /// Three steps of three micro-batches, with metrics and one validation.
    private func write(
        _ directory: String, steps: Int = 3, edit: (inout [LedgerEntry]) -> Void = { _ in }
    ) throws {
        let ledger = try Ledger(path: directory + "/ledger.jsonl", keepingThroughStep: 0)
        let log = try Metrics(path: directory + "/metrics.jsonl", keepingThroughStep: 0)
        var entries: [LedgerEntry] = []
        for step in 1...steps {
            for index in 0..<3 { entries.append(entry(step, index, loss: 0.1 * Double(index + 1))) }
            try log.append(metrics(step, loss: (0.1 + 0.2 + 0.1 * 3) / 12))
        }
        try log.append(ValidationMetrics(step: steps, epoch: 1, loss: nil, tokens: 0))
        edit(&entries)
        for entry in entries { try ledger.append([entry]) }
    }

    private func verify(
        _ directory: String, parameters: [Int: String] = [0: "p1", 2: "p3", 3: "p4"],
        count: ((Int) -> Int)? = { _ in 3 }
    ) throws -> LedgerReport {
        try Ledger.verify(
            ledger: directory + "/ledger.jsonl", metrics: directory + "/metrics.jsonl",
            parameters: parameters, microBatchCount: count)
    }

    @Test("a step that was not computed with what the step before it led to is found")
    func otherParameters() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory)
            let report = try verify(directory, parameters: [1: "p2", 2: "other"])
            #expect(
                report.findings == [
                    .parametersUnknown(step: 3, checkpoint: "other", found: "p3")
                ])
            #expect(report.findings.allSatisfy { !$0.what.isEmpty && !$0.isOfMetrics })
        }
    }

    @Test("a ledger of an older version names no parameters, and still proves what it proved")
    func olderVersion() throws {
        try TestPaths.withTemporaryDirectory { directory in
            // A run that an older version began, and this one continues.
            try write(directory) { entries in
                for index in 0..<6 {
                    (entries[index].parametersDigest, entries[index].inputsDigest) = (nil, nil)
                }
            }
            #expect(try verify(directory).findings == [])
            #expect(try verify(directory, parameters: [0: "x", 1: "y"]).findings == [])
            let text = String(
                decoding: try #require(
                    FileManager.default.contents(atPath: directory + "/ledger.jsonl")),
                as: UTF8.self)
            #expect(text.components(separatedBy: "inputs_sha256").count == 4)
        }
    }

    @Test("lines have the documented fields, in order, and read back")
    func lines() throws {
        #expect(
            entry(1, 0).line.written
                == "{\"step\":1,\"micro_batch\":0,\"worker\":\"w\\\"1\",\"attempt\":1,"
                + "\"tokens\":10,\"loss_tokens\":4,\"loss_sum\":1.25,\"gradient_sha256\":\""
                + String(repeating: "a", count: 64)
                + "\",\"parameters_sha256\":\"p1\",\"inputs_sha256\":\"i1.0\"}")
        #expect(
            metrics(1, loss: 2.3100000000000001).line.written
                == "{\"step\":1,\"epoch\":1,\"loss\":2.31,\"tokens\":30,\"loss_tokens\":12,"
                + "\"learning_rate\":0.0001,\"gradient_norm\":0.84,\"seconds\":1.9,"
                + "\"tokens_per_second\":385,\"workers\":2}")
        #expect(
            ValidationMetrics(step: 50, epoch: 1, loss: nil, tokens: 0).line.written
                == "{\"step\":50,\"epoch\":1,\"validation_loss\":null,\"validation_tokens\":0}")
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory, steps: 1)
            var entries: [Ledger.Record] = []
            try Ledger.read(path: directory + "/ledger.jsonl") { entries.append($0) }
            #expect(
                entries == (0..<3).map { .microBatch(entry(1, $0, loss: 0.1 * Double($0 + 1))) })
            var records: [Metrics.Record] = []
            try Metrics.read(path: directory + "/metrics.jsonl") { records.append($0) }
            #expect(
                records == [
                    .step(metrics(1, loss: (0.1 + 0.2 + 0.1 * 3) / 12)),
                    .validation(ValidationMetrics(step: 1, epoch: 1, loss: nil, tokens: 0)),
                ])
        }
    }

    @Test(
        "lines of references come first, instead of those that were there, and cutting spares them")
    func references() throws {
        func reference(_ worker: String, _ group: Int) -> GroupEntry {
            GroupEntry(
                .reference(of: .training), step: 0, group: group, worker: worker, attempt: 1,
                tokens: 9, lossTokens: 5, lossSum: 12.5, valuesDigest: "v")
        }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/ledger.jsonl"
            func lines() throws -> [String] {
                try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(
                    String.init)
            }
            let first = [reference("a", 0), reference("a", 1)]
            _ = try Ledger(path: path, keepingThroughStep: -1, references: first)
            #expect(try lines() == first.map(\.line.written))
            try write(directory)
            let steps = try Array(lines().dropFirst(2))
            // A run of an older version goes on, twice, and other workers have computed.
            for references in [Array(first.prefix(1)), [reference("b", 0), reference("b", 1)]] {
                _ = try Ledger(path: path, keepingThroughStep: 3, references: references)
                #expect(try lines() == references.map(\.line.written) + steps)
            }
            let head = try Array(lines().prefix(2))
            _ = try Ledger(path: path, keepingThroughStep: 1)
            #expect(try lines() == head + steps.prefix(3))
            _ = try Ledger(path: path, keepingThroughStep: -1)
            #expect(try lines() == [])
        }
    }

    @Test("a good ledger is a proof, with and without the plan")
    func good() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory)
            for count in [{ (_: Int) in 3 }, nil] {
                let report = try verify(directory, count: count)
                #expect(report.findings == [])
                #expect(report.findingCount == 0)
                #expect(report.steps == 3)
                #expect(report.microBatches == 9)
                #expect(report.tokens == 90)
                #expect(report.lossTokens == 36)
            }
        }
    }

    typealias Edit = @Sendable (inout [LedgerEntry]) -> Void
    static let broken: [(name: String, edit: Edit, finding: LedgerFinding)] = [
        ("lost", { $0.remove(at: 4) }, .missing(step: 2, microBatch: 1)),
        ("doubled", { $0.insert($0[4], at: 4) }, .repeated(step: 2, microBatch: 1, count: 2)),
        ("foreign", { $0[5].microBatch = 7 }, .outOfRange(step: 2, microBatch: 7, count: 3)),
        ("step lost", { $0.removeSubrange(3..<6) }, .stepMissing(step: 2)),
        ("end lost", { $0.removeLast(3) }, .stepMissing(step: 3)),
        ("come back", { $0.append($0[0]) }, .outOfOrder(step: 1, after: 3)),
        ("tokens", { $0[4].tokens = 11 }, .tokensDiffer(step: 2, ledger: 31, metrics: 30)),
        (
            "loss tokens", { $0[4].lossTokens = 3 },
            .lossTokensDiffer(step: 2, ledger: 11, metrics: 12)
        ),
        (
            "parameters", { $0[4].parametersDigest = "p7" },
            .parametersDiffer(step: 2, microBatch: 1, first: "p2", found: "p7")
        ),
        (
            "all parameters", { for index in 6..<9 { $0[index].parametersDigest = "p7" } },
            .parametersUnknown(step: 3, checkpoint: "p3", found: "p7")
        ),
        (
            "loss", { $0[4].lossSum += 0.6 },
            .lossDiffers(
                step: 2, ledger: (0.1 + 0.8 + 0.1 * 3) / 12, metrics: (0.1 + 0.2 + 0.1 * 3) / 12)
        ),
    ]

    @Test("every violation of exactly once is found", arguments: broken.indices)
    func found(index: Int) throws {
        let broken = Self.broken[index]
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory, edit: broken.edit)
            let report = try verify(directory)
            #expect(report.findings.contains(broken.finding), "\(broken.name): \(report.findings)")
            #expect(report.findingCount > 0)
            #expect(!broken.finding.what.isEmpty)
        }
    }

    @Test("a step that is missing from both files, or is twice in the metrics, is found")
    func metricsCount() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/metrics.jsonl"
            try write(directory) { $0.removeSubrange(3..<6) }
            let lines = try String(contentsOfFile: path, encoding: .utf8)
                .split(separator: "\n").map { $0 + "\n" }
            try AtomicFile.write((lines[..<1] + lines[2...]).joined(), to: path)
            #expect(
                try verify(directory).findings
                    == [.metricsOutOfOrder(expected: 2, found: 3)])
        }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/metrics.jsonl"
            try write(directory)
            let lines = try String(contentsOfFile: path, encoding: .utf8)
                .split(separator: "\n").map { $0 + "\n" }
            try AtomicFile.write((lines[..<2] + lines[1...]).joined(), to: path)
            #expect(
                try verify(directory).findings
                    == [.metricsOutOfOrder(expected: 3, found: 2)])
        }
    }

    @Test("lines of a step that a kill left uncommitted are no finding")
    func uncommittedEnd() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory) { $0.append(self.entry(4, 0)) }
            #expect(try verify(directory).findingCount == 0)
        }
    }

    @Test("reopening cuts a torn line and everything after the resumed step")
    func cut() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory)
            let path = directory + "/ledger.jsonl"
            let whole = try String(contentsOfFile: path, encoding: .utf8)
            // Also what is left if the disk had made room for a line and not yet written it.
            for torn in [
                "", "{\"step\":4", "{\"step\":4,\"micro_batch\":0}\n{\"st", "garbage",
                "\0\0\0\0\n", "{\"st\0\0\0\n{\"step\":4}\n", "\n\n", "no\r\n{\"step\":-1}\n",
            ] {
                try AtomicFile.write(whole + torn, to: path)
                _ = try Ledger(path: path, keepingThroughStep: 3)
                #expect(try String(contentsOfFile: path, encoding: .utf8) == whole, "\(torn)")
            }
            let ledger = try Ledger(path: path, keepingThroughStep: 2)
            try ledger.append([entry(3, 1), entry(3, 0)])
            var entries: [LedgerEntry] = []
            try Ledger.read(path: path) {
                if case .microBatch(let entry) = $0 { entries.append(entry) }
            }
            #expect(entries.map(\.step) == [1, 1, 1, 2, 2, 2, 3, 3])
            #expect(entries.suffix(2).map(\.microBatch) == [0, 1])
            _ = try Metrics(path: directory + "/metrics.jsonl", keepingThroughStep: 0)
            #expect(try MappedFile(path: directory + "/metrics.jsonl").count == 0)
        }
    }

    @Test(
        "a damaged line before the last durable one stays and is found, and nothing is lost",
        arguments: [
            "no", "{\"step\":-1}", "{\"step\":99999999999999999999,", "{\"step\":7}",
            "{\"step\":2}\r", "\0\0",
        ])
    func damagedLine(line: String) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory)
            let path = directory + "/ledger.jsonl"
            var lines = try String(contentsOfFile: path, encoding: .utf8)
                .components(separatedBy: "\n")
            lines[1] = line
            let text = lines.joined(separator: "\n")
            try AtomicFile.write(text + "torn", to: path)
            _ = try Ledger(path: path, keepingThroughStep: 3)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            #expect {
                _ = try verify(directory)
            } throws: { error in
                guard case TrainingError.damagedRecord(path, 2, _) = error else { return false }
                return true
            }
        }
    }

    @Test("metrics that end before the step that a run continues from are found")
    func metricsEnd() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory)
            let paths = (directory + "/ledger.jsonl", directory + "/metrics.jsonl")
            for (done, findings) in [(3, []), (4, [LedgerFinding.metricsEnd(step: 4, last: 3)])] {
                let report = try Ledger.verify(
                    ledger: paths.0, metrics: paths.1, doneSteps: done)
                #expect(report.findings == findings)
            }
        }
    }

    @Test("numbers of any size are findings, and cause neither a trap nor a long loop")
    func largeNumbers() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory)
            let log = try Metrics(path: directory + "/metrics.jsonl", keepingThroughStep: 3)
            try log.append(metrics(.max, loss: 1))
            #expect(
                try verify(directory).findings == [
                    .metricsOutOfOrder(expected: 4, found: .max), .stepMissing(step: .max),
                ])
        }
        try TestPaths.withTemporaryDirectory { directory in
            try write(directory) { $0.append(entry(900_000_000_000, 0)) }
            #expect(try verify(directory).findings == [])
        }
        for index in [Int.max, -1] {
            try TestPaths.withTemporaryDirectory { directory in
                try write(directory) { $0[8].microBatch = index }
                #expect(try verify(directory, count: nil).findingCount > 0)
            }
        }
    }

    @Test("the error of a line names the field that is missing or of the wrong type")
    func damagedField() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/ledger.jsonl"
            let good = entry(1, 0).line.written
            for (line, detail) in [
                (
                    good.replacingOccurrences(of: "\"tokens\":10,", with: ""),
                    "\"tokens\" is missing"
                ),
                (
                    good.replacingOccurrences(of: ":1.25", with: ":\"a\""),
                    "\"loss_sum\" has the wrong type"
                ),
                ("{\"step\":1", "not JSON"),
            ] {
                try AtomicFile.write(good + "\n" + line + "\n", to: path)
                #expect(
                    throws: TrainingError.damagedRecord(path: path, line: 2, detail: detail)
                ) { try Ledger.read(path: path) { _ in } }
            }
        }
    }
}
