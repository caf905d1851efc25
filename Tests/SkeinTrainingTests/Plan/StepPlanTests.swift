import SkeinBasics
import Testing

@testable import SkeinRows
@testable import SkeinTraining

@Suite struct StepPlanTests {
    private func lengths(_ count: Int, seed: UInt64) -> [Int] {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        return (0..<count).map { Int(random.block(UInt32($0)).x % 500) + 2 }
    }

    @Test(
        "a split rounds to the nearest row, and always leaves one to train on",
        arguments: [
            (0, 0.2, 0), (1, 0.2, 0), (2, 0.2, 0), (3, 0.2, 1), (4, 0.2, 1), (1, 0.99, 0),
            (2, 0.99, 1), (10, 0, 0), (2270, 0.2, 454),
        ])
    func split(count: Int, share: Double, held: Int) {
        let split = Split(count: count, share: share, seed: 3)
        #expect(split.validation.count == held)
        #expect((split.training + split.validation).sorted() == Array(0..<count))
        #expect(split.training == split.training.sorted())
        #expect(split == Split(count: count, share: share, seed: 3))
    }

    @Test("no step has more micro-batches than one of the longest rows would have")
    func mostMicroBatches() {
        for (batch, target) in [(1, 512), (4, 512), (7, 100), (32, 700), (100, 1)] {
            let plan = StepPlan(
                lengths: lengths(61, seed: 2), batchSize: batch, microBatchTokens: target, seed: 5,
                shuffles: true, epochs: 5, iterations: nil)
            let most = plan.steps().map(\.microBatches.count).max() ?? 0
            #expect(most <= plan.mostMicroBatches, "\(batch), \(target)")
            #expect(plan.mostMicroBatches <= min(batch, 61), "\(batch), \(target)")
        }
    }

    @Test("another seed holds out other rows")
    func splitSeed() {
        #expect(Split(count: 100, share: 0.2, seed: 1) != Split(count: 100, share: 0.2, seed: 2))
    }

    @Test("every epoch trains every row once, in another order, the short batch included")
    func epochs() {
        let plan = StepPlan(
            lengths: lengths(23, seed: 1), batchSize: 4, microBatchTokens: 512, seed: 5,
            shuffles: true, epochs: 3, iterations: nil)
        #expect(plan.stepsPerEpoch == 6)
        #expect(plan.stepCount == 18)
        var orders: [[Int]] = []
        for epoch in 1...3 {
            let steps = plan.steps().filter { $0.epoch == epoch }
            #expect(steps.map(\.rowCount) == [4, 4, 4, 4, 4, 3])
            #expect(steps.map(\.endsEpoch) == [false, false, false, false, false, true])
            let rows = steps.flatMap { $0.microBatches.flatMap { $0 } }
            #expect(rows.sorted() == Array(0..<23))
            orders.append(rows)
        }
        #expect(Set(orders).count == 3)
    }

    @Test("without shuffling, step k trains the rows of batch k in file order")
    func fileOrder() {
        let plan = StepPlan(
            lengths: lengths(10, seed: 2), batchSize: 4, microBatchTokens: 1 << 20, seed: 5,
            shuffles: false, epochs: 2, iterations: nil)
        let rows = plan.steps().map { $0.microBatches.flatMap { $0 }.sorted() }
        #expect(
            rows == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
    }

    @Test("any step can be made alone, and steps can begin anywhere")
    func randomAccess() {
        let plan = StepPlan(
            lengths: lengths(37, seed: 3), batchSize: 5, microBatchTokens: 300, seed: 1,
            shuffles: true, epochs: 4, iterations: nil)
        let all = Array(plan.steps())
        #expect(all.map(\.step) == Array(1...plan.stepCount))
        #expect(all.map { plan.step($0.step) } == all)
        for first in 1...plan.stepCount {
            #expect(Array(plan.steps(from: first)) == Array(all[(first - 1)...]))
        }
        #expect(Array(plan.steps(from: plan.stepCount + 1)).isEmpty)
    }

    @Test("iterations alone decide the number of steps")
    func iterations() {
        let plan = StepPlan(
            lengths: [5, 6, 7], batchSize: 2, microBatchTokens: 512, seed: 0, shuffles: true,
            epochs: 3, iterations: 11)
        #expect(plan.stepCount == 11)
        #expect(plan.epochCount == 6)
        #expect(Array(plan.steps()).last?.endsEpoch == false)
    }

    @Test(
        "there are 2, 4 or a multiple of 8 micro-batches, and never more than rows",
        arguments: [
            (1, 100, 1), (2, 100, 2), (4, 100, 2), (4, 1024, 2), (4, 1025, 4), (3, 1025, 3),
            (64, 1536, 4), (64, 2560, 8), (64, 4097, 16), (64, 8193, 24), (2, 100_000, 2),
        ])
    func count(rows: Int, tokens: Int, expected: Int) {
        #expect(MicroBatchGrouping.count(rows: rows, tokens: tokens, target: 512) == expected)
    }

    @Test(
        "with slots, there are a multiple of them, the nearest to the target",
        arguments: [
            (8, 1200, 2, 2), (8, 1536, 2, 4), (8, 100, 2, 2), (1, 100, 2, 1), (64, 1200, 3, 3),
            (64, 4097, 3, 9), (64, 4097, 7, 7), (64, 1, 64, 64), (8, 4096, 1, 8),
        ])
    func slots(rows: Int, tokens: Int, slots: Int, expected: Int) {
        #expect(
            MicroBatchGrouping.count(rows: rows, tokens: tokens, target: 512, slots: slots)
                == expected)
    }

    @Test(
        "a step that is cut for slots ends on them more evenly",
        arguments: [4096, 512])
    func even(target: Int) {
        var (cut, uncut, half) = (0, 0, 0)
        for seed in 0..<100 as Range<UInt64> {
            let lengths = lengths(8, seed: seed)
            // As with a head of a quarter of the blocks' size, and loss on some of the tokens.
            let costs = zip(lengths, self.lengths(8, seed: seed + 1000)).map { length, other in
                4 * length + length * other / 512
            }
            let even = MicroBatchGrouping.groups(
                lengths: lengths, costs: costs, target: target, slots: 2)
            #expect(even.flatMap { $0 }.sorted() == Array(lengths.indices), "seed \(seed)")
            cut += lastEnd(of: even, costs)
            uncut += lastEnd(
                of: MicroBatchGrouping.groups(lengths: lengths, target: target), costs)
            half += (costs.reduce(0, +) + 1) / 2
        }
        #expect(cut < uncut)
        // In the mean at most 2 % after half of all.
        #expect(Double(cut) < 1.02 * Double(half), "\(cut), \(uncut), \(half)")
    }

    /// When the later of two threads ends, if the free one takes the next group.
    private func lastEnd(of groups: [[Int]], _ costs: [Int]) -> Int {
        var busy = [0, 0]
        for group in groups {
            busy[busy[0] <= busy[1] ? 0 : 1] += group.reduce(0) { $0 + costs[$1] }
        }
        return busy.max() ?? 0
    }

    @Test("the largest micro-batch of a step that is cut for slots cannot be smaller")
    func settled() {
        let costs = [9, 8, 7, 6, 5, 4]
        let groups = MicroBatchGrouping.groups(
            lengths: costs, costs: costs, target: 4096, slots: 3)
        #expect(groups.map { $0.reduce(0) { $0 + costs[$1] } } == [13, 13, 13])
        #expect(
            MicroBatchGrouping.groups(lengths: [], costs: [], target: 1, slots: 3).isEmpty)
    }

    @Test("grouping places every row once, is balanced, and puts the heaviest group first")
    func grouping() {
        for seed in 0..<200 as Range<UInt64> {
            let lengths = lengths(Int(seed % 40) + 1, seed: seed)
            let groups = MicroBatchGrouping.groups(lengths: lengths, target: 512)
            #expect(groups.flatMap { $0 }.sorted() == Array(lengths.indices), "seed \(seed)")
            #expect(groups.allSatisfy { !$0.isEmpty && $0 == $0.sorted() }, "seed \(seed)")
            let tokens = groups.map { $0.reduce(0) { $0 + lengths[$1] } }
            #expect(tokens == tokens.sorted(by: >), "seed \(seed)")
            // Longest-first: no two groups differ by more than the longest row.
            let spread = (tokens.first ?? 0) - (tokens.last ?? 0)
            #expect(spread <= lengths.max() ?? 0, "seed \(seed)")
        }
    }

    @Test("equal rows are dealt out in order")
    func ties() {
        #expect(
            MicroBatchGrouping.groups(lengths: [9, 9, 9, 9], target: 18) == [[0, 2], [1, 3]])
        #expect(
            MicroBatchGrouping.groups(lengths: [512, 100, 100, 100], target: 512)
                == [[0], [1, 2, 3]])
    }

    @Test("a planned step gives micro-batches with their rows")
    func microBatches() {
        let rows = (0..<5).map {
            TokenizedRow(number: $0, ids: [1, 2, Int32($0)], targets: [1..<3])
        }
        let plan = StepPlan(
            lengths: rows.map(\.ids.count), batchSize: 4, microBatchTokens: 6, seed: 0,
            shuffles: false, epochs: 1, iterations: nil)
        let batches = plan.step(1).microBatches(of: rows)
        #expect(batches.map(\.index) == [0, 1])
        #expect(batches.map { $0.rows.map(\.number) } == [[0, 2], [1, 3]])
        #expect(batches.map(\.tokenCount) == [6, 6])
        #expect(batches.map(\.lossTokenCount) == [4, 4])
        #expect(plan.step(2).microBatches(of: rows).map { $0.rows.map(\.number) } == [[4]])
    }

    @Test("the sequences of one row stay together in split, plan and micro-batch")
    func groups() throws {
        let rows = [0, 1, 1, 2, 4].map { TokenizedRow(number: $0, ids: [1, 2], targets: [1..<2]) }
        #expect(TokenizedRow.groups(of: rows) == [0..<1, 1..<3, 3..<4, 4..<5])
        let step = PlannedStep(step: 1, epoch: 1, endsEpoch: true, microBatches: [[1, 3], [0]])
        let batches = step.microBatches(of: rows, groups: TokenizedRow.groups(of: rows))
        #expect(batches.map { $0.rows.map(\.number) } == [[1, 1, 4], [0]])
    }
}
