import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport
@testable import SkeinTraining

@Suite struct SplitByPromptTests {
    private func prompts(_ texts: [String?]) -> [ArraySlice<Int32>?] {
        texts.map { $0.map { Array($0.unicodeScalars.map { Int32($0.value) })[...] } }
    }

    @Test("rows with one prompt stay on one side; about the wanted number is held out")
    func sides() {
        // 20 prompts with 1 to 4 answers each.
        let texts = (0..<50).map { "question \($0 * $0 % 20)" }
        for seed: UInt64 in 0..<20 {
            let split = Split(prompts: prompts(texts), share: 0.2, seed: seed)
            #expect((split.training + split.validation).sorted() == Array(0..<50))
            #expect(split.training == split.training.sorted())
            #expect(split.validation == split.validation.sorted())
            let sides = [split.training, split.validation].map { Set($0.map { texts[$0] }) }
            #expect(sides[0].isDisjoint(with: sides[1]))
            #expect((1...10).contains(split.validation.count))
            #expect(split == Split(prompts: prompts(texts), share: 0.2, seed: seed))
        }
    }

    @Test("rows without a prompt, or with one each, are split as rows are")
    func single() {
        let none = Split(
            prompts: prompts([String?](repeating: nil, count: 40)), share: 0.2, seed: 3)
        #expect(none == Split(count: 40, share: 0.2, seed: 3))
        let each = Split(prompts: prompts((0..<40).map { "p\($0)" }), share: 0.2, seed: 3)
        #expect(each == none)
    }

    @Test("where every prompt has too many rows, the smallest is held out, but never the only one")
    func large() {
        let two = prompts((0..<10).map { $0 < 4 ? "a" : "b" })
        #expect(Split(prompts: two, share: 0.2, seed: 0).validation == [0, 1, 2, 3])
        let one = prompts([String?](repeating: "a", count: 10))
        #expect(Split(prompts: one, share: 0.2, seed: 0) == Split(allOf: 10))
        #expect(Split(prompts: two, share: 0, seed: 0) == Split(allOf: 10))
        #expect(Split(prompts: [], share: 0.2, seed: 0) == Split(allOf: 0))
    }

    @Test("a study by prompt has no row whose prompt stands on the other side")
    func study() throws {
        let text = (0..<20).map { row in
            "{\"prompt\":\"p\(row % 5)\",\"completion\":\"c\(row)\"}\n"
        }.joined()
        func warnings(_ unit: SplitUnit) throws -> [DataWarning] {
            try TestPaths.withTemporaryDirectory { directory in
                try AtomicFile.write(text, to: directory + "/d.jsonl")
                return try DataStudy(
                    DataFiles(path: directory + "/d.jsonl"),
                    encoder: RowEncoder(
                        encoder: ToyTokenizer.encoder(), format: .chat, trainedTurns: .all,
                        maximumLength: 30), fields: RowFields(), skippingBadLines: false,
                    validationShare: 0.2, splitUnit: unit, seed: 0
                ).warnings
            }
        }
        func isPrompt(_ warning: DataWarning) -> Bool {
            if case .samePrompt = warning { true } else { false }
        }
        #expect(try warnings(.row).contains(where: isPrompt))
        #expect(try !warnings(.prompt).contains(where: isPrompt))
    }

    @Test("a run that does not give the new options has the digest that it had")
    func digest() throws {
        var configuration = TrainingConfiguration.fixed
        let without = configuration.digest
        #expect(!configuration.recipeTexts.keys.contains("split-by"))
        configuration.splitBy = .row
        #expect(configuration.digest != without)
    }
}
