import SkeinBasics
import Testing

@testable import SkeinTraining

@Suite struct ReductionTreeTests {
    private func results(_ count: Int, seed: UInt64) -> [GradientSum] {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        return (0..<count).map { leaf in
            let gradient = (0..<5).map { index -> Float in
                let words = random.block(UInt32(leaf), UInt32(index))
                // Magnitudes over ten decades: another order of additions gives other bits.
                return (AddressedRandom.unitFloat(words.x) - 0.5)
                    * Float(sign: .plus, exponent: Int(words.y % 32) - 16, significand: 1)
            }
            return GradientSum(
                tokens: leaf + 1, lossTokens: leaf, lossSum: Double(gradient[0]) / 3,
                gradient: gradient)
        }
    }

    /// The same tree by recursion: a node splits at the largest power of two below its size.
    private func oracle(_ results: ArraySlice<GradientSum>) -> GradientSum {
        guard results.count > 1 else { return results[results.startIndex] }
        var half = 1
        while half * 2 < results.count { half *= 2 }
        var left = oracle(results[..<(results.startIndex + half)])
        left.add(oracle(results[(results.startIndex + half)...]))
        return left
    }

    @Test("any arrival order gives the bits of the recursive sum")
    func anyOrder() {
        for count in 1...33 {
            let results = results(count, seed: UInt64(count))
            let expected = oracle(results[...])
            for seed in 0..<20 as Range<UInt64> {
                let order = AddressedRandom(seed: seed, purpose: .sampling)
                    .permutation(count: count)
                var tree = ReductionTree(count: count)
                for (added, leaf) in order.enumerated() {
                    #expect(tree.total == nil)
                    #expect(tree.addedCount == added)
                    tree.add(leaf, results[leaf])
                }
                #expect(tree.total == expected, "count \(count), seed \(seed)")
                #expect(tree.finish() == expected)
            }
        }
    }

    @Test("with leaves in order the tree holds a logarithmic number of sums")
    func memory() {
        var tree = ReductionTree(count: 1000)
        var most = 0
        for (leaf, result) in results(1000, seed: 1).enumerated() {
            tree.add(leaf, result)
            most = max(most, tree.waitingCount)
        }
        #expect(most <= 10)
        #expect(tree.total?.tokens == 500_500)
    }

    @Test("in any order at most half of the leaves, rounded up, wait")
    func bound() {
        for count in 1...33 {
            let results = results(count, seed: 9)
            var orders = (0..<20 as Range<UInt64>).map {
                AddressedRandom(seed: $0, purpose: .sampling).permutation(count: count)
            }
            // The worst case: every left leaf comes before any right one.
            orders.append(
                Array(stride(from: 0, to: count, by: 2)) + Array(stride(from: 1, to: count, by: 2)))
            for order in orders {
                var tree = ReductionTree(count: count)
                for leaf in order {
                    tree.add(leaf, results[leaf])
                    #expect(tree.waitingCount <= (count + 1) / 2)
                }
            }
        }
    }

    @Test("what is added is not written to: the caller may hold it without a copy")
    func incoming() {
        let results = results(2, seed: 3)
        for order in [[0, 1], [1, 0]] {
            var tree = ReductionTree(count: 2)
            // The tree alone holds this copy.
            tree.add(
                order[0],
                GradientSum(
                    tokens: results[order[0]].tokens, lossTokens: results[order[0]].lossTokens,
                    lossSum: results[order[0]].lossSum,
                    gradient: results[order[0]].gradient.map { $0 }))
            tree.add(order[1], results[order[1]])
            #expect(tree.total == oracle(results[...]))
        }
    }

    @Test("a leaf that comes twice is used once")
    func twice() {
        let results = results(3, seed: 2)
        var tree = ReductionTree(count: 3)
        let used = [1, 1, 2, 0, 2].map { tree.add($0, results[$0]) }
        #expect(used == [true, false, true, true, false])
        #expect(tree.contains(1))
        #expect(tree.total == oracle(results[...]))
    }
}
