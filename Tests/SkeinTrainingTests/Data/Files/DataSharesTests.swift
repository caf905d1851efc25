import SkeinBasics
import SkeinRows
import Testing

@testable import SkeinTraining

@Suite struct DataSharesTests {
    /// Sequences of rows 0 ..< `counts`' sum, numbered through; row 1 has two.
    private func rows(_ numbers: [Int]) -> [TokenizedRow] {
        numbers.flatMap { number in
            (0..<(number == 1 ? 2 : 1)).map {
                TokenizedRow(number: number, ids: [Int32(number), Int32($0)], targets: [1..<2])
            }
        }
    }

    private func numbers(
        _ weights: [(Double, rows: Int)], _ training: [Int], seed: UInt64 = 1, epoch: Int = 1
    ) throws -> [Int] {
        let shares = DataShares(
            shares: weights.map {
                .init(file: WeightedFile(path: "p", weight: $0.0), rowCount: $0.rows)
            })
        let (result, draw) = try shares.applied(to: rows(training))
        let groups = TokenizedRow.groups(of: result)
        // Each copy is the row that it is a copy of, with all of its sequences.
        let total = weights.reduce(0) { $0 + $1.rows }
        for group in groups {
            let number = result[group.lowerBound].number
            let original = rows([number % total])
            #expect(result[group].map(\.ids) == original.map(\.ids))
        }
        let plan = StepPlan(
            lengths: groups.map(\.count), batchSize: 4, microBatchTokens: 8, draw: draw, seed: seed,
            shuffles: false, epochs: 3, iterations: nil)
        let order = plan.order(ofEpoch: epoch)
        #expect(order.count == plan.rowsPerEpoch && order == order.sorted())
        #expect(plan.stepsPerEpoch == (order.count + 3) / 4)
        return order.map { result[groups[$0].lowerBound].number }
    }

    @Test("weights of 1 change nothing")
    func ones() throws {
        #expect(try numbers([(1, 3), (1, 2)], [0, 1, 2, 4]) == [0, 1, 2, 4])
    }

    @Test("a whole weight repeats the file's rows, file after file, under numbers of their own")
    func whole() throws {
        #expect(
            try numbers([(2, 3), (1, 2), (3, 1)], [0, 1, 3, 4, 5])
                == [0, 1, 6, 7, 3, 4, 5, 11, 17])
    }

    @Test("a fraction is the beginning of a permutation that the seed decides, in file order")
    func fractions() throws {
        let all = Array(0..<40)
        let half = try numbers([(0.5, 40)], all)
        #expect(half.count == 20 && half == half.sorted() && Set(half).count == 20)
        #expect(half == (try numbers([(0.5, 40)], all)))
        #expect(half != (try numbers([(0.5, 40)], all, seed: 2)))
        // The beginning: what a smaller share has, a larger one has, too.
        let quarter = try numbers([(0.25, 40)], all)
        #expect(quarter.count == 10 && Set(quarter).isSubset(of: half))
        let more = try numbers([(1.5, 40)], all)
        #expect(more.prefix(40) == all[...])
        #expect(more.dropFirst(40).map { $0 - 40 } == half)
        // Two files with the same weight draw their own.
        let two = try numbers([(0.5, 20), (0.5, 20)], all)
        #expect(two.filter { $0 < 20 }.map { $0 + 20 } != two.filter { $0 >= 20 })
    }

    @Test("each epoch draws its fraction anew; whole copies stand in all of them")
    func epochs() throws {
        let all = Array(0..<40)
        let epochs = try (1...6).map { try numbers([(1.25, 40)], all, epoch: $0) }
        #expect(epochs.allSatisfy { $0.prefix(40) == all[...] && $0.count == 50 })
        let drawn = epochs.map { Array($0.dropFirst(40)) }
        #expect(Set(drawn).count == 6)
        // Six quarters of forty rows, drawn independently, leave some out and have most of them.
        let seen = Set(drawn.joined())
        #expect(seen.count > 20 && seen.count < 40)
    }

    @Test("with a shuffle, an epoch has the rows that it draws and no others, each once")
    func shuffled() throws {
        let shares = DataShares(
            shares: [.init(file: WeightedFile(path: "p", weight: 0.5), rowCount: 10)])
        let (training, draw) = try shares.applied(to: rows(Array(0..<10)))
        let count = TokenizedRow.groups(of: training).count
        #expect(count == 10)
        func plan(_ shuffles: Bool) -> StepPlan {
            StepPlan(
                lengths: [Int](repeating: 3, count: count), batchSize: 2, microBatchTokens: 3,
                draw: draw, seed: 7, shuffles: shuffles, epochs: 4, iterations: nil)
        }
        #expect(plan(true).stepCount == 12 && plan(true).mostMicroBatches == 2)
        for epoch in 1...4 {
            let rows = plan(true).steps().filter { $0.epoch == epoch }
                .flatMap { $0.microBatches.joined() }
            #expect(rows.sorted() == plan(false).order(ofEpoch: epoch))
            #expect(Set(rows).count == 5)
        }
        // Any step can be made without those before it.
        for step in plan(true).steps() { #expect(step == plan(true).step(step.step)) }
        #expect(plan(true).digest() != plan(false).digest())
    }

    @Test("a small share of a few rows leaves one; of no rows none")
    func small() throws {
        #expect(try numbers([(0.01, 3)], [0, 1, 2]).count == 1)
        #expect(try numbers([(0.5, 3), (1, 1)], [3]) == [3])
        #expect(WeightedFile(path: "", weight: 2.01).extraRows(of: 3) == 0)
    }

    @Test("more rows than random numbers have addresses for are refused")
    func tooMany() {
        let shares = DataShares(
            shares: [
                .init(file: WeightedFile(path: "p", weight: 100), rowCount: RowLimits.rows / 64)
            ])
        #expect(throws: RowError.tooManyRows(path: "p", limit: RowLimits.rows)) {
            try shares.applied(to: rows([0]))
        }
    }
}
