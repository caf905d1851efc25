import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport
@testable import SkeinTraining

@Suite struct DataReportTests {
    private func report(
        _ text: String, validation: String? = nil, test: String? = nil,
        format: PromptFormat = .chat, edit: (inout TrainingConfiguration) -> Void = { _ in }
    ) throws -> DataReport {
        var configuration = TrainingConfiguration.fixed
        configuration.epochs = 100
        edit(&configuration)
        return try TestPaths.withTemporaryDirectory { directory in
            func file(_ text: String, _ name: String) throws -> PairFile {
                try AtomicFile.write(text, to: directory + name)
                return try PairFile(path: directory + name, skippingBadLines: true)
            }
            let encoder = try RowEncoder(
                encoder: ToyTokenizer.encoder(), format: format, trainedTurns: .all,
                maximumLength: configuration.maxLength)
            let training = try file(text, "/d.jsonl")
            let made = try encoder.encodeWithRemarks(training)
            let encoded = made.rows
            let held = try validation.map { try encoder.encode(file($0, "/v.jsonl")) }
            let tested = try test.map { try encoder.encode(file($0, "/t.jsonl")) }
            let split =
                held == nil
                ? Split(count: encoded.rows.count, share: configuration.validationSplit, seed: 0)
                : Split(allOf: encoded.rows.count)
            let plan = StepPlan(
                configuration, lengths: split.training.map { encoded.rows[$0].ids.count },
                costs: [])
            return DataReport(
                lines: training.facts(made), encoded: encoded, split: split,
                trainingRows: split.training.count, validation: held, test: tested,
                steps: plan.stepCount, epochs: plan.epochCount,
                warnings: DataWarning.ofPlan(plan, configuration), encoder: encoder)
        }
    }

    private func row(_ prompt: String, _ completion: String) -> String {
        "{\"prompt\":\"\(prompt)\",\"completion\":\"\(completion)\"}\n"
    }

    @Test("the report counts rows, tokens and losses and shows the first row with its trained part")
    func lines() throws {
        let rows = (0..<10).map { row("p\($0)", "a\\nb\($0)") }.joined()
        let report = try report(rows) { $0.validationSplit = 0.2 }
        #expect(
            report.lines.prefix(4) == [
                "data: 10 rows, 110 tokens, 50 of them trained (45.5 %), longest row 11 tokens, "
                    + "format chat",
                "rows: 8 to train on, 2 for validation, 0 cut, 0 skipped, 0 bad lines",
                "plan: 200 steps, 100 epochs",
                "example (trained between >>> and <<<):",
            ])
        #expect(report.example.hasPrefix("<user>p"))
        #expect(report.example.contains("<stop>\n<bot>>>>a\nb"))
        #expect(report.example.hasSuffix("<stop><<<"))
        #expect(report.lines.count == 7)
        #expect(report.warnings == [])
    }

    @Test("each warning is given when it applies")
    func warnings() throws {
        let good = (0..<20).map { row("p\($0)", "c\($0)") }.joined()
        func warnings(
            _ text: String, validation: String? = nil, test: String? = nil,
            format: PromptFormat = .chat,
            edit: (inout TrainingConfiguration) -> Void = { _ in }
        ) throws -> [DataWarning] {
            try report(text, validation: validation, test: test, format: format, edit: edit)
                .warnings.map {
                    guard case .remark(let remark, let count, let first) = $0 else { return $0 }
                    return .remark(remark, count: count, first: FilePath.name(of: first))
                }
        }
        #expect(try warnings(good) == [])
        #expect(try warnings(good) { $0.validationSplit = 0 } == [.noValidation])
        #expect(try warnings(good) { $0.iterations = 3 } == [.fewSteps(count: 3, isGiven: true)])
        #expect(
            try warnings(good) { $0.warmupSteps = 400 } == [
                .allWarmup(warmupSteps: 400, steps: 400)
            ])
        // With local steps, steps are those of each logical worker.
        func rounds(_ edit: (inout TrainingConfiguration) -> Void) throws -> [DataWarning] {
            try warnings(good) {
                ($0.localSteps, $0.logicalWorkers, $0.iterations) = (10, 3, 4)
                edit(&$0)
            }
        }
        #expect(try rounds { $0.warmupSteps = 39 } == [.fewRounds(count: 4, rate: 1.7)])
        #expect(
            try rounds { ($0.warmupSteps, $0.outerMomentum) = (40, 0) } == [
                .allWarmup(warmupSteps: 40, steps: 40)
            ])
        #expect(try rounds { $0.outerLearningRate = 1 } == [])
        #expect(
            try warnings(good + row("x", "") + row("y", "\(String(repeating: "z", count: 40))")) {
                $0.maxLength = 30
            } == [.remark(.emptyAnswer, count: 1, first: "d.jsonl:21")])
        #expect(
            try warnings(
                row("p", String(repeating: "z", count: 40)) + row("q", "c") + row("r", "c")
            ) {
                $0.maxLength = 30
            } == [.manyCut(count: 1, rows: 3, longest: 46, maximumLength: 30)])
        #expect(
            try warnings(good + row(String(repeating: "z", count: 40), "c")) { $0.maxLength = 30 }
                == [.skipped(count: 1, lines: [21], path: nil)])
        #expect(
            try warnings(good, validation: row("p0", "c0") + row("new", "one"))
                == [.leaked(count: 1, validationRows: 2)])
        #expect(
            try warnings(good + good, validation: row("new", "one"))
                == [.repeatedRows(count: 20, rows: 40)])
        // The same prompt with another answer.
        #expect(
            try warnings(good, validation: row("p0", "other") + row("new", "one"))
                == [.samePrompt(count: 1, rows: 2, isTest: false)])
        #expect(
            try warnings(
                good, validation: row("new", "one"), test: row("p0", "c0") + row("p1", "other"))
                == [
                    .leakedTest(count: 1, testRows: 2),
                    .samePrompt(count: 1, rows: 2, isTest: true),
                ])
        let spaced = (0..<20).map { row("p\($0)", " c\($0)") }.joined()
        #expect(try warnings(spaced) == [.remark(.leadingSpace, count: 20, first: "d.jsonl:1")])
        #expect(try warnings(spaced, format: .raw) == [])
        #expect(
            try warnings(good, format: .raw) == [.remark(.adjoining, count: 20, first: "d.jsonl:1")]
        )
        let long = (0..<20).map { row(String(repeating: "z", count: 100 + $0), "c") }.joined()
        #expect(try warnings(long) == [.littleLoss(lossTokens: 40, tokens: 2310)])
        guard
            case .badLines(count: 1, first: .badLine(_, 21, _))? = try warnings(good + "x\n").first
        else {
            Issue.record("no warning about bad lines")
            return
        }
    }

    @Test("every warning says something")
    func texts() {
        let all: [DataWarning] =
            [
                .badLines(count: 1, first: nil),
                .manyCut(count: 1, rows: 2, longest: 3, maximumLength: 4),
                .skipped(count: 1, lines: [7], path: "b.csv"),
                .littleLoss(lossTokens: 1, tokens: 2),
                .noValidation,
                .repeatedRows(count: 1, rows: 2), .leaked(count: 1, validationRows: 2),
                .leakedTest(count: 1, testRows: 2), .samePrompt(count: 1, rows: 2, isTest: true),
                .samePrompt(count: 1, rows: 2, isTest: false),
                .fewSteps(count: 1), .fewSteps(count: 1, isGiven: true),
                .allWarmup(warmupSteps: 1, steps: 1),
                .fewRounds(count: 1, rate: 1.7),
            ] + RowRemark.allCases.map { .remark($0, count: 1, first: "d:1") }
        #expect(Set(all.map(\.text)).count == all.count)
        #expect(all.allSatisfy { !$0.text.isEmpty })
    }

    @Test("a long row is shortened in its middle")
    func shortened() {
        let row = TokenizedRow(
            number: 0, ids: ToyTokenizer.encode(String(repeating: "a", count: 50) + "bc"),
            targets: [50..<52])
        #expect(
            DataReport.marked(DataReport.parts(row, decode: ToyTokenizer.decode, limit: 10))
                == "aaaaa [...] aaaaa>>>bc<<<")
    }
}
