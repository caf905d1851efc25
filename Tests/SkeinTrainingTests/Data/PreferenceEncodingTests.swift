import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport
@testable import SkeinTraining

@Suite struct PreferenceEncodingTests {
    private func encoded(
        _ text: String, format: PromptFormat = .raw, length: Int = 8, comparing: Bool = true
    ) throws -> EncodedRows {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(text, to: directory + "/d.jsonl")
            return try RowEncoder(
                encoder: ToyTokenizer.encoder(), format: format, trainedTurns: .all,
                maximumLength: length, comparesAnswers: comparing
            ).encode(PairFile(path: directory + "/d.jsonl"))
        }
    }

    private func row(_ prompt: String, _ chosen: String, _ rejected: String) -> String {
        "{\"prompt\":\"\(prompt)\",\"chosen\":\"\(chosen)\",\"rejected\":\"\(rejected)\"}\n"
    }

    @Test("a row is two sequences with its number, the chosen answer first")
    func sequences() throws {
        let rows = try encoded(row("p", "c", "r") + row("q", "cc", "rr"))
        #expect(rows.rows.map(\.number) == [0, 0, 1, 1])
        #expect(
            rows.rows.map { ToyTokenizer.decode($0.ids) }
                == ["pc<end>", "pr<end>", "qcc<end>", "qrr<end>"])
        #expect(rows.rows.map(\.targets) == [[1..<3], [1..<3], [1..<4], [1..<4]])
        #expect(rows.groups == [0..<2, 2..<4])
        let chat = try encoded(row("p", "c", "r"), format: .chat, length: 100)
        #expect(
            chat.rows.map { ToyTokenizer.decode($0.ids) }
                == ["<user>p<stop>\n<bot>c<stop>", "<user>p<stop>\n<bot>r<stop>"])
    }

    @Test("answers that are cut to nothing, or to the same, are skipped as a pair")
    func cut() throws {
        let text =
            row("p", "c", "r") + row("pppppppp", "c", "r") + row("p", "abcdefgh", "abcdefgi")
            + row("p", "abcdefgh", "x")
        let rows = try encoded(text)
        #expect(rows.rows.map(\.number) == [0, 0, 3, 3])
        #expect(rows.skippedLines == [2, 3] && rows.cutCount == 3)
    }

    @Test("pairs need a loss that compares, and such a loss needs pairs")
    func otherRows() throws {
        for (text, comparing) in [
            (row("p", "c", "r"), false), ("{\"prompt\":\"p\",\"completion\":\"c\"}\n", true),
        ] {
            let error = try #require(throws: RowError.self) {
                try encoded(text, comparing: comparing)
            }
            guard case .otherLoss(_, line: 1, isPreference: !comparing) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.explanation.status == .badData)
        }
    }

    @Test("options of losses need a loss that has them")
    func options() throws {
        func error(_ change: (inout TrainingConfiguration) -> Void) -> TrainingError? {
            var configuration = TrainingConfiguration.fixed
            change(&configuration)
            do throws(TrainingError) {
                try configuration.checkLoss()
                return nil
            } catch {
                return error
            }
        }
        #expect(error { _ in } == nil)
        #expect(error { $0.loss = .dpo } == nil)
        #expect(
            error {
                $0.loss = .simpo
                $0.beta = 2.5
                $0.simpoGamma = 1
            } == nil)
        #expect(
            error { $0.beta = 1 }
                == .badCombination(flag: "beta", problem: .needs("loss dpo, orpo or simpo")))
        for loss in [nil, PreferenceLossKind.dpo] {
            #expect(
                error {
                    $0.loss = loss
                    $0.simpoGamma = 1
                } == .badCombination(flag: "simpo-gamma", problem: .needs("loss simpo")))
        }
        #expect(
            error {
                $0.loss = .dpo
                ($0.localSteps, $0.logicalWorkers) = (2, 2)
            } == .badCombination(flag: "loss dpo", problem: .excludes("local-steps")))
        var simpo = TrainingConfiguration.fixed
        simpo.loss = .simpo
        #expect(simpo.preferenceLoss?.beta == 2 && simpo.preferenceLoss?.gamma == 1)
    }

    @Test("groups of an evaluation keep pairs together")
    func groups() {
        let rows = (0..<6).map {
            TokenizedRow(number: $0 / 2, ids: Array(repeating: 7, count: 10), targets: [1..<10])
        }
        let groups = RowEvaluation.groups(of: rows, microBatchTokens: 30, comparesAnswers: true)
        #expect(groups.map(\.count) == [2, 2, 2])
        #expect(
            RowEvaluation.groups(of: rows, microBatchTokens: 40, comparesAnswers: true).map(\.count)
                == [4, 2])
        #expect(TokenizedRow.tokenShare(of: rows) == 3.0 / 27)
        #expect(TokenizedRow.tokenShare(of: [TokenizedRow]()) == 0)
    }
}

private typealias PreferenceLossKind = SkeinTensors.PreferenceLoss.Kind
