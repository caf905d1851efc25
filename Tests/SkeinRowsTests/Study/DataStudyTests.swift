import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport

@Suite struct DataStudyTests {
    private func study(
        _ text: String, validation: String? = nil, format: PromptFormat = .chat, length: Int = 30,
        share: Double = 0, name: String = "d.jsonl"
    ) throws -> DataStudy {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(text, to: directory + "/" + name)
            if let validation { try AtomicFile.write(validation, to: directory + "/v.jsonl") }
            return try DataStudy(
                DataFiles(
                    path: directory + "/" + name,
                    validation: validation.map { _ in directory + "/v.jsonl" }),
                encoder: RowEncoder(
                    encoder: ToyTokenizer.encoder(), format: format, trainedTurns: .all,
                    maximumLength: length), fields: RowFields(), skippingBadLines: true,
                validationShare: share, seed: 0)
        }
    }

    private func row(_ prompt: String, _ completion: String) -> String {
        "{\"prompt\":\"\(prompt)\",\"completion\":\"\(completion)\"}\n"
    }

    private func places(_ finding: DataStudy.Finding) -> [String] {
        finding.places.map { place in
            place.split(separator: " ").map { FilePath.name(of: String($0)) }.joined(separator: " ")
        }
    }

    @Test("good data has no findings; tokens are counted as they will be trained")
    func good() throws {
        let found = try study((0..<10).map { row("p\($0)", "c\($0)") }.joined())
        #expect(found.findings == [])
        #expect(found.rows.count == 10 && found.withoutEnd.isEmpty && found.duplicates.isEmpty)
        #expect(found.tokenCount == 10 * 9 && found.lossTokenCount == 10 * 3)
        #expect(found.rows[0].tokens == 9 && found.rows[0].place.line == 1)
        #expect(
            found.rows[0].parts(decode: ToyTokenizer.decode, limit: 100) == [
                [
                    DataReport.Part(text: "<user>p0<stop>\n<bot>", isTrained: false),
                    DataReport.Part(text: "c0<stop>", isTrained: true),
                ]
            ])
    }

    @Test("rows that are cut, that have nothing to learn and that are repeated are found")
    func bad() throws {
        let long = String(repeating: "x", count: 40)
        let text = row("p", "c") + row(long, "c") + row("q", long) + row("p", "c")
        let found = try study(text)
        #expect(found.withoutLoss.map(\.place.line) == [2])
        #expect(found.withoutEnd.map(\.place.line) == [3])
        #expect(found.cut.map(\.place.line) == [2, 3])
        #expect(found.longest(2).map(\.place.line) == [2, 3])
        #expect(
            found.duplicates.map(\.row.line) == [4] && found.duplicates.map(\.first.line) == [1])
        #expect(
            found.findings.map(\.text) == [
                "1 row without a token to learn within --max-length 30: left out of the run",
                "1 row longer than --max-length 30: the end is cut off, and the model does not learn to "
                    + "stop there",
                "1 row of 3 the same as an earlier one: each counts as often as it stands there",
            ])
        #expect(
            found.findings.map(places) == [["d.jsonl:2"], ["d.jsonl:3"], ["d.jsonl:4 = d.jsonl:1"]])
    }

    @Test("what is trained on and validated with is a leak, in a file of its own and in a share")
    func leaks() throws {
        let text = row("a", "b") + row("c", "d")
        let found = try study(text, validation: row("e", "f") + row("c", "d"))
        #expect(found.leaks.count == 1 && found.validationRows == 2)
        #expect(
            found.findings.map(\.text) == [
                "1 of 2 validation rows trained on, too: the validation loss will look too good"
            ])
        #expect(found.findings.map(places) == [["v.jsonl:2 = d.jsonl:2"]])
        let same = try study(String(repeating: row("a", "b"), count: 4), share: 0.5)
        #expect(same.validationRows == 2 && same.leaks.count == 2)
    }

    @Test("a conversation whose last turn is not the assistant's still ends its trained turn")
    func openEnd() throws {
        let turns =
            #"{"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"},"#
            + #"{"role":"user","content":"v"}]}"# + "\n"
        let found = try study(turns)
        #expect(found.withoutEnd.isEmpty && found.findings == [])
        // Texts end with the end-of-text token.
        #expect(try study("{\"text\":\"abc\"}\n", format: .eos).withoutEnd.isEmpty)
    }

    @Test("bad lines and completions of white space are findings, too")
    func warnings() throws {
        let text = "no\n" + (0..<3).map { row("p\($0)", " c") }.joined()
        let found = try study(text)
        #expect(found.findings.count == 2)
        #expect(found.lines.badLineCount == 1)
    }

    @Test("data of which nothing can be trained is an error")
    func nothing() throws {
        let error = try #require(throws: RowError.self) {
            try study(row(String(repeating: "x", count: 40), "c"))
        }
        guard case .noLossTokens(_, rows: 1, maximumLength: 30) = error else {
            Issue.record("\(error)")
            return
        }
    }
}

@Suite struct LengthHistogramTests {
    private func check(_ histogram: LengthHistogram, _ lengths: [Int]) {
        #expect(histogram.bars.reduce(0) { $0 + $1.rows } == lengths.count)
        #expect(histogram.bars.first?.tokens.lowerBound == 1)
        for (bar, next) in zip(histogram.bars, histogram.bars.dropFirst()) {
            #expect(bar.tokens.upperBound + 1 == next.tokens.lowerBound)
        }
    }

    @Test("bars are of a width that people read, without gaps, and hold every row")
    func bars() {
        let lengths = [1, 7, 9, 10, 11, 33, 150]
        let histogram = LengthHistogram(lengths)
        check(histogram, lengths)
        // Six of seven rows are the usual ones; one bar holds the rest.
        #expect(histogram.bars.first == .init(tokens: 1...5, rows: 1))
        #expect(histogram.bars.last == .init(tokens: 36...150, rows: 1))
        #expect(histogram.bars.count == 8)
        let even = Array(1...100)
        #expect(LengthHistogram(even).bars.map(\.rows) == Array(repeating: 10, count: 10))
    }

    @Test("a bar ends where rows are cut")
    func border() {
        let lengths = [5, 512, 513, 2000]
        let histogram = LengthHistogram(lengths, border: 512)
        check(histogram, lengths)
        #expect(histogram.bars.contains { $0.tokens.upperBound == 512 })
        #expect(histogram.bars.contains { $0.tokens.lowerBound == 513 })
    }

    @Test("no rows have no bars; rows without tokens stand in the first")
    func empty() {
        #expect(LengthHistogram([]).bars.isEmpty)
        #expect(LengthHistogram([0, 0]).bars == [.init(tokens: 1...1, rows: 2)])
    }
}
