import SkeinBasics
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// What a resumed run and a worker compare besides the bytes of files.
@Suite struct DataDigestsTests {
    private func row(_ number: Int, _ ids: [Int32], _ targets: [Range<Int>]) -> TokenizedRow {
        TokenizedRow(number: number, ids: ids, targets: targets)
    }

    private func plan(
        _ lengths: [Int], batchSize: Int = 2, microBatchTokens: Int = 8, seed: UInt64 = 1,
        shuffles: Bool = true, epochs: Int = 2, iterations: Int? = nil
    ) -> StepPlan {
        StepPlan(
            lengths: lengths, batchSize: batchSize, microBatchTokens: microBatchTokens, seed: seed,
            shuffles: shuffles, epochs: epochs, iterations: iterations)
    }

    @Test("the digest of rows changes with every id, target, row number and list")
    func rows() {
        let base = [row(0, [1, 2, 3], [1..<3]), row(2, [4, 5], [1..<2])]
        let lists: [([TokenizedRow], [TokenizedRow])] = [
            (base, []), ([], base), ([base[0]], [base[1]]), ([base[1], base[0]], []),
            ([row(1, [1, 2, 3], [1..<3]), base[1]], []),
            ([row(0, [1, 2, 4], [1..<3]), base[1]], []),
            ([row(0, [1, 2, 3], [2..<3]), base[1]], []),
            ([row(0, [1, 2, 3, 4], [1..<3, 3..<4]), base[1]], []),
        ]
        let plan = plan([3, 2])
        let digests = lists.map {
            DataDigests(training: $0.0, validation: $0.1, plan: plan).rows
        }
        #expect(Set(digests).count == lists.count)
        // The same on every machine, and in every version that makes the same rows.
        #expect(digests[0].description.hasPrefix("0c5a162d27fca930"), "\(digests[0])")
    }

    @Test("the digest of the plan changes with the grouping of rows and with their order")
    func plans() {
        let lengths = [5, 3, 8, 2, 9, 4]
        let plans = [
            plan(lengths), plan(lengths, batchSize: 3), plan(lengths, seed: 2),
            plan(lengths, shuffles: false), plan(lengths, epochs: 3),
            plan(lengths, iterations: 5), plan([5, 3, 8, 2, 9, 4, 1]),
            plan(lengths, batchSize: 6, microBatchTokens: 64),
            plan(lengths, batchSize: 6, microBatchTokens: 4),
        ].map { $0.digest() }
        #expect(Set(plans).count == plans.count)
        #expect(plans[0].description.hasPrefix("480c44c84bae3123"), "\(plans[0])")
    }

    @Test("of a plan of a billion steps the beginning and the end are hashed")
    func longPlan() {
        let lengths = [5, 3, 8]
        let first = plan(lengths, iterations: 1_000_000_000).digest()
        #expect(first == plan(lengths, iterations: 1_000_000_000).digest())
        #expect(first != plan(lengths, iterations: 999_999_999).digest())
    }

    @Test("the data's identity depends on the file, the rows and the plan")
    func identity() {
        let rows = [row(0, [1, 2, 3], [1..<3])]
        let file = SHA256.digest(of: "file")
        let base = DataDigests(training: rows, validation: [], plan: plan([3]))
        let others = [
            base.identity(file: file), base.identity(file: SHA256.digest(of: "other")),
            DataDigests(training: rows, validation: rows, plan: plan([3])).identity(file: file),
            DataDigests(training: rows, validation: [], plan: plan([3], epochs: 5)).identity(
                file: file),
            file,
        ]
        #expect(Set(others).count == others.count)
    }
}
