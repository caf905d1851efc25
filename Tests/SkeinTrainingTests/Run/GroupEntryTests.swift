import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// Lines of ledger.jsonl that are no micro-batch's, and their check.
@Suite struct GroupEntryTests {
    private func validation(_ step: Int, _ group: Int) -> GroupEntry {
        GroupEntry(
            .validation, step: step, group: group, worker: "w\"1", attempt: 2, tokens: 10,
            lossTokens: 4, correct: 3, lossSum: 0.1 * Double(group + 1),
            parametersDigest: "p\(step)", inputsDigest: "i")
    }

    private func reference(_ rows: GroupEntry.RowKind, _ group: Int) -> GroupEntry {
        GroupEntry(
            .reference(of: rows), step: 0, group: group, worker: "w1", attempt: 1, tokens: 9,
            lossTokens: 5, lossSum: 12.5, valuesDigest: "v\(group)", inputsDigest: "i")
    }

    private func test(_ group: Int) -> GroupEntry {
        GroupEntry(
            .test, step: 3, group: group, worker: "w1", attempt: 1, tokens: 9, lossTokens: 5,
            correct: 0, lossSum: .nan, parametersDigest: "p3")
    }

    private func read(_ line: String) throws -> Ledger.Record {
        try Array(line.utf8).withUnsafeBytes { try Ledger.record($0, path: "ledger", line: 1) }
    }

    @Test("lines have the documented fields, in order, and read back, written by others, too")
    func lines() throws {
        #expect(
            validation(3, 1).line.written
                == "{\"step\":3,\"validation_group\":1,\"worker\":\"w\\\"1\",\"attempt\":2,"
                + "\"tokens\":10,\"loss_tokens\":4,\"correct\":3,\"loss_sum\":0.2,"
                + "\"parameters_sha256\":\"p3\",\"inputs_sha256\":\"i\"}")
        #expect(
            reference(.validation, 0).line.written
                == "{\"step\":0,\"reference_group\":0,\"rows\":\"validation\",\"worker\":\"w1\","
                + "\"attempt\":1,\"tokens\":9,\"loss_tokens\":5,\"loss_sum\":12.5,"
                + "\"log_probabilities_sha256\":\"v0\",\"inputs_sha256\":\"i\"}")
        #expect(
            test(0).line.written
                == "{\"test_group\":0,\"step\":3,\"worker\":\"w1\",\"attempt\":1,\"tokens\":9,"
                + "\"loss_tokens\":5,\"correct\":0,\"loss_sum\":null,\"parameters_sha256\":\"p3\"}")
        for entry in [validation(3, 1), reference(.test, 2), test(0), test(7)] {
            let text = entry.line.written
            #expect(try read(text) == .group(entry))
            #expect(try read(text.replacingOccurrences(of: ",", with: ", ")) == .group(entry))
        }
        // Without escapes and null, nothing is left to the decoder.
        for entry in [reference(.training, 3), reference(.test, 0)] {
            let bytes = Array(entry.line.written.utf8)
            #expect(bytes.withUnsafeBytes { GroupEntry(line: $0) } == entry)
        }
        for text in [
            "{\"step\":0,\"reference_group\":0,\"rows\":\"other\",\"worker\":\"w1\"}",
            "{\"step\":0,\"validation_group\":0}", "{\"test_group\":\"x\"}",
        ] {
            #expect(throws: TrainingError.self, "\(text)") { try read(text) }
        }
    }

    /// Two steps with a validation after each, and before the first; references and test rows.
    private func findings(
        references: String? = nil, checkpoints: [Int: String] = [1: "p1", 2: "p2"],
        fromBeginning: Bool = false,
        _ edit: (inout [Ledger.Record]) -> Void = { _ in }
    ) throws -> [LedgerFinding] {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/ledger.jsonl"
            let log = try Metrics(path: directory + "/metrics.jsonl", keepingThroughStep: -1)
            var records: [Ledger.Record] = []
            func judge(_ step: Int) throws {
                records += (0..<3).map { .group(validation(step, $0)) }
                try log.append(
                    ValidationMetrics(
                        step: step, epoch: 1, loss: (0.1 + 0.2 + 0.1 * 3) / 12, tokens: 12,
                        tokenAccuracy: 9.0 / 12, namesAccuracy: true))
            }
            records += (0..<2).map { .group(reference(.training, $0)) }
            records.append(.group(reference(.validation, 0)))
            try judge(0)
            for step in 1...2 {
                records.append(
                    .microBatch(
                        LedgerEntry(
                            step: step, microBatch: 0, worker: "w1", attempt: 1, tokens: 30,
                            lossTokens: 12, lossSum: 6, gradientDigest: "g",
                            parametersDigest: "p\(step - 1)")))
                try log.append(
                    StepMetrics(
                        step: step, epoch: 1, loss: 0.5, tokens: 30, lossTokens: 12,
                        learningRate: 1e-4, gradientNorm: 1, seconds: 1, tokensPerSecond: 30,
                        workers: 1))
                try judge(step)
            }
            records += (0..<2).map { .group(test($0)) }
            edit(&records)
            let ledger = try Ledger(path: path, keepingThroughStep: -1)
            for record in records {
                switch record {
                case .microBatch(let entry): try ledger.append([entry])
                case .group(let entry): try ledger.append([entry])
                }
            }
            let report = try Ledger.verify(
                ledger: path, metrics: directory + "/metrics.jsonl", parameters: checkpoints,
                references: references, groupsFromBeginning: fromBeginning)
            #expect(report.steps == 2)
            #expect(report.findings.allSatisfy { !$0.what.isEmpty && !$0.isOfMetrics })
            return report.findings
        }
    }

    private var digest: String {
        var digest = References.Digest()
        for entry in [
            reference(.training, 0), reference(.training, 1), reference(.validation, 0),
        ] { digest.append(entry) }
        return digest.finish().description
    }

    @Test("a good ledger is a proof, and one of an older version proves what it proved")
    func good() throws {
        #expect(try findings(references: digest) == [])
        #expect(try findings() == [])
        // All lines of groups are missing, or the first validations': an older version began the run.
        #expect(try findings { $0.removeAll { if case .group = $0 { true } else { false } } } == [])
        #expect(
            try findings {
                $0.removeAll { if case .group(let entry) = $0 { entry.step < 2 } else { false } }
            } == [])
    }

    @Test("a run that was begun with these lines has them from the first validation on")
    func fromBeginning() throws {
        #expect(try findings(fromBeginning: true) == [])
        #expect(
            try findings(fromBeginning: true) {
                $0.removeAll { if case .group(let entry) = $0 { entry.step < 2 } else { false } }
            } == [.validationMissing(step: 0), .validationMissing(step: 1)])
    }

    @Test("before the first step is done, the lines of references may be missing")
    func killedEarly() throws {
        try TestPaths.withTemporaryDirectory { directory in
            for name in ["ledger", "metrics"] {
                try AtomicFile.write("", to: directory + "/\(name).jsonl")
            }
            let report = try Ledger.verify(
                ledger: directory + "/ledger.jsonl", metrics: directory + "/metrics.jsonl",
                references: digest, groupsFromBeginning: true)
            #expect(report.findings == [])
        }
    }

    @Test("each kind of damage is found")
    func damage() throws {
        func place(_ step: Int, _ group: Int) -> ([Ledger.Record]) -> Int? {
            { records in
                records.firstIndex {
                    guard case .group(let entry) = $0, entry.subject == .validation else {
                        return false
                    }
                    return entry.step == step && entry.group == group
                }
            }
        }
        func change(
            _ find: @escaping ([Ledger.Record]) -> Int?,
            _ body: @escaping (inout GroupEntry) -> Void
        ) -> (inout [Ledger.Record]) -> Void {
            { records in
                guard let index = find(records), case .group(var entry) = records[index] else {
                    Issue.record("no such line")
                    return
                }
                body(&entry)
                records[index] = .group(entry)
            }
        }
        let rows = "validation rows"
        #expect(
            try findings(change(place(1, 1)) { $0.group = 2 })
                == [.groupUnexpected(rows: rows, step: 1, expected: 1, found: 2)])
        #expect(
            try findings(change(place(1, 1)) { $0.parametersDigest = "x" })
                == [.groupParametersDiffer(rows: rows, step: 1, first: "p1", found: "x")])
        #expect(
            try findings(change(place(1, 1)) { $0.lossTokens = 5 })
                == [
                    .validationDiffers(
                        step: 1, field: "number of loss tokens", ledger: "13", metrics: "12")
                ])
        #expect(
            try findings(change(place(1, 1)) { $0.correct = 2 })
                == [
                    .validationDiffers(
                        step: 1, field: "accuracy", ledger: "\(8.0 / 12)", metrics: "\(9.0 / 12)")
                ])
        let loss = try findings(change(place(1, 1)) { $0.lossSum = 1 })
        #expect(loss.count == 1)
        #expect(
            try findings(checkpoints: [1: "other"], { _ in })
                == [
                    .validationParametersUnknown(step: 1, expected: "other", found: "p1"),
                    .parametersUnknown(step: 2, checkpoint: "other", found: "p1"),
                ])
        #expect(
            try findings { records in
                for group in 0..<3 {
                    change(place(1, group)) { $0.parametersDigest = "x" }(&records)
                }
            } == [
                .validationParametersUnknown(step: 1, expected: "p1", found: "x"),
                .validationParametersUnknown(step: 1, expected: "p1", found: "x"),
            ])
        #expect(
            try findings { records in
                records.removeAll {
                    if case .group(let entry) = $0 {
                        entry.subject == .validation && entry.step == 1
                    } else {
                        false
                    }
                }
            } == [.validationMissing(step: 1)])
        #expect(
            try findings(references: digest) { $0.remove(at: 1) }
                == [.referencesDiffer(recorded: digest, ledger: otherDigest)])
    }

    private var otherDigest: String {
        var digest = References.Digest()
        for entry in [reference(.training, 0), reference(.validation, 0)] { digest.append(entry) }
        return digest.finish().description
    }
}
