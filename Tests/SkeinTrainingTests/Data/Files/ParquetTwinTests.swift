import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport
@testable import SkeinTraining

/// Files that pyarrow wrote from the same rows in many ways (Scripts/tables/parquet-fixtures.py).
@Suite struct ParquetTwinTests {
    private func read(_ name: String) throws -> PairFile {
        try PairFile(path: TestPaths.fixture("tables/" + name), skippingBadLines: true)
    }

    /// What a run would record of the rows of a file.
    private func digest(_ file: PairFile) throws -> SHA256.Digest {
        let encoded = try RowEncoder(
            encoder: ToyTokenizer.encoder(), format: .chat, trainedTurns: .all, maximumLength: 64
        ).encode(file)
        let plan = StepPlan(
            TrainingConfiguration.fixed, lengths: encoded.rows.map(\.ids.count), costs: [])
        return DataDigests(training: encoded.rows, validation: [], plan: plan).rows
    }

    @Test("every compression, page version and encoding gives the rows of the JSONL twin")
    func twins() throws {
        let names = try DiskStore().names(in: TestPaths.fixture("tables"))
        for family in ["flat", "messages"] {
            let twin = try read(family + ".jsonl")
            #expect(twin.rows.count > 10)
            let files = names.filter {
                $0.hasPrefix(family + "-") && $0.hasSuffix(".parquet") && $0 != "flat-empty.parquet"
            }
            #expect(files.count >= 12)
            for name in files {
                let found = try read(name)
                #expect(found.rows == twin.rows, "\(name)")
                #expect(found.badLineCount == twin.badLineCount, "\(name)")
                // No conversation of the other family has an answer to learn.
                guard family == "flat" else { continue }
                #expect(try digest(found) == digest(twin), "\(name)")
            }
        }
    }

    @Test("an empty table has no rows, and a refused one says what it has")
    func refused() throws {
        let empty = TestPaths.fixture("tables/flat-empty.parquet")
        #expect(throws: RowError.noRows(path: empty, badLines: 0)) {
            try PairFile(path: empty)
        }
        let brotli = TestPaths.fixture("tables/refused-brotli.parquet")
        let error = try #require(throws: RowError.self) { try PairFile(path: brotli) }
        guard case .badTable(brotli, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.explanation.what.lowercased().contains("brotli"), "\(error.explanation)")
    }
}
