import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// LoRA's thin products at every level of the processor, against loops in Double.
@Suite struct LowRankTests {
    static let seed: UInt64 = 20_261_122
    static let keptScale: Float = 1.25
    static let scale: Float = 0.5

    /// Numbers and masks of one shape.
    struct Operands {
        let (tokens, columns, rank): (Int, Int, Int)
        let (x, a, reduced, y): ([Float], [Float], [Float], [Float])
        let mask: [UInt8]?

        init(_ tokens: Int, _ columns: Int, _ rank: Int, masked: Bool) {
            (self.tokens, self.columns, self.rank) = (tokens, columns, rank)
            let numbers = { CentralDifference.numbers($0, seed: LowRankTests.seed, stream: $1) }
            x = numbers(tokens * columns, 1)
            a = numbers(rank * columns, 2)
            reduced = numbers(tokens * rank, 3)
            y = numbers(tokens * columns, 4)
            guard masked else {
                mask = nil
                return
            }
            let dropout = Dropout(probability: 0.3, seed: LowRankTests.seed)
            var bits = [UInt8](repeating: 0, count: tokens * Dropout.maskBytes(columns))
            dropout.draw(into: &bits, count: bits.count * 8, step: 1, sequence: 2, place: 3)
            mask = bits
        }

        func keep(_ t: Int, _ i: Int) -> Double {
            guard let mask else { return 1 }
            let byte = mask[t * Dropout.maskBytes(columns) + i / 8]
            return byte >> (i % 8) & 1 == 1 ? Double(LowRankTests.keptScale) : 0
        }
    }

    /// reduce, expand and outer at one level.
    static func products(_ o: Operands, _ level: skein_level) -> [[Float]] {
        var reduced = [Float](repeating: .nan, count: o.tokens * o.rank)
        var y = o.y
        var d = [Float](repeating: .nan, count: o.rank * o.columns)
        func run(_ mask: UnsafePointer<UInt8>?) {
            skein_lowrank_reduce(
                level, o.x, o.tokens, o.columns, o.a, o.columns, o.rank, scale, mask, keptScale,
                &reduced)
            skein_lowrank_expand(
                level, o.reduced, o.tokens, o.rank, o.a, o.columns, o.columns, mask, keptScale, &y,
                o.columns)
            skein_lowrank_outer(
                level, o.reduced, o.tokens, o.rank, o.x, o.columns, mask, keptScale, &d)
        }
        if let mask = o.mask {
            mask.withUnsafeBufferPointer { run($0.baseAddress) }
        } else {
            run(nil)
        }
        return [reduced, y, d]
    }

    static func oracle(_ o: Operands) -> [[Double]] {
        var reduced = [Double](repeating: 0, count: o.tokens * o.rank)
        var y = o.y.map(Double.init)
        var d = [Double](repeating: 0, count: o.rank * o.columns)
        for t in 0..<o.tokens {
            for i in 0..<o.columns {
                let keep = o.keep(t, i)
                let x = Double(o.x[t * o.columns + i]) * keep
                for r in 0..<o.rank {
                    let a = Double(o.a[r * o.columns + i])
                    let g = Double(o.reduced[t * o.rank + r])
                    reduced[t * o.rank + r] += x * a * Double(scale)
                    y[t * o.columns + i] += g * a * keep
                    d[r * o.columns + i] += g * x
                }
            }
        }
        return [reduced, y, d]
    }

    @Test(
        "every level gives the products of a loop in Double, and fused levels the same bits",
        arguments: [
            (1, 1, 1), (2, 15, 8), (3, 16, 8), (4, 17, 7), (5, 31, 12), (7, 100, 13), (6, 576, 8),
            (9, 530, 16), (4, 1041, 32), (0, 40, 8), (70, 48, 8),
            (101, 1300, 13),
        ], [false, true])
    func againstDouble(shape: (Int, Int, Int), masked: Bool) {
        let operands = Operands(shape.0, shape.1, shape.2, masked: masked)
        let expected = Self.oracle(operands)
        var fused: [[Float]]?
        for level in KernelLevel.all {
            let own = Self.products(operands, level)
            for (part, (got, wanted)) in zip(own, expected).enumerated() {
                let error = CentralDifference.relativeError(got.map(Double.init), wanted)
                #expect(error < 1e-5, "\(level) part \(part) seed \(Self.seed)")
            }
            if level.rawValue >= SKEIN_FUSED.rawValue {
                if let fused {
                    for part in 0..<3 {
                        let same = own[part].map(\.bitPattern) == fused[part].map(\.bitPattern)
                        #expect(same, "\(level) part \(part) seed \(Self.seed)")
                    }
                } else {
                    fused = own
                }
            }
        }
    }

    @Test("a row has the same bits alone and among others")
    func rowsAlone() {
        let all = Operands(11, 333, 8, masked: true)
        for level in KernelLevel.all {
            let together = Self.products(all, level)[0]
            for t in 0..<all.tokens {
                var alone = [Float](repeating: 0, count: all.rank)
                let row = Array(all.x[(t * all.columns)..<((t + 1) * all.columns)])
                let bytes = Dropout.maskBytes(all.columns)
                let mask = Array((all.mask ?? [])[(t * bytes)..<((t + 1) * bytes)])
                skein_lowrank_reduce(
                    level, row, 1, all.columns, all.a, all.columns, all.rank, Self.scale, mask,
                    Self.keptScale, &alone)
                #expect(alone == Array(together[(t * all.rank)..<((t + 1) * all.rank)]))
            }
        }
    }

    @Test("a dropped NaN counts as zero, a kept one is seen")
    func notANumber() {
        let (columns, rank) = (21, 8)
        var x = [Float](repeating: 1, count: columns)
        x[20] = .nan
        let a = [Float](repeating: 1, count: rank * columns)
        for level in KernelLevel.all {
            for kept in [false, true] {
                let mask: [UInt8] = [255, 255, kept ? 31 : 15]
                var reduced = [Float](repeating: 0, count: rank)
                skein_lowrank_reduce(
                    level, x, 1, columns, a, columns, rank, 1, mask, 1, &reduced)
                let sums = reduced.allSatisfy { kept ? $0.isNaN : $0 == 20 }
                #expect(sums, "\(level) \(reduced)")
                var d = [Float](repeating: 0, count: rank * columns)
                skein_lowrank_outer(level, reduced.map { _ in 1 }, 1, rank, x, columns, mask, 1, &d)
                #expect(kept ? d[20].isNaN : d[20] == 0)
                #expect(d[19] == 1)
                var y = [Float](repeating: 3, count: columns)
                var infinite = [Float](repeating: 1, count: rank)
                infinite[2] = .nan
                skein_lowrank_expand(
                    level, infinite, 1, rank, a, columns, columns, mask, 1, &y, columns)
                #expect(kept ? y[20].isNaN : y[20] == 3)
                #expect(y[19].isNaN)
            }
        }
    }

    @Test(
        "transposing moves each element",
        arguments: [(1, 1), (8, 576), (13, 7), (192, 8), (4, 5)])
    func transposed(rows: Int, columns: Int) {
        let x = (0..<rows * columns).map(Float.init)
        var out = [Float](repeating: -1, count: x.count)
        LowRank.transpose(x, rows: rows, columns: columns, into: &out)
        let expected = (0..<x.count).map { x[$0 % rows * columns + $0 / rows] }
        #expect(out == expected)
    }

    @Test(
        "the Swift products use the level in use, and have the same bits where they copy rows",
        arguments: [(50, 8), (1024, 8), (2048, 13)])
    func swiftProducts(columns: Int, rank: Int) {
        let o = Operands(5, columns, rank, masked: true)
        let expected = Self.products(o, skein_level())
        guard let bits = o.mask else { return }
        bits.withUnsafeBufferPointer { bits in
            guard let base = bits.baseAddress else { return }
            let mask = LowRank.Mask(base, keptScale: Self.keptScale)
            var reduced = [Float](repeating: 0, count: o.tokens * o.rank)
            LowRank.reduce(
                o.x, tokens: o.tokens, columns: o.columns, by: o.a, rank: o.rank,
                scale: Self.scale, mask: mask, into: &reduced)
            #expect(reduced == expected[0])
            var y = o.y
            LowRank.expand(
                o.reduced, tokens: o.tokens, rank: o.rank, by: o.a, columns: o.columns,
                mask: mask, addingTo: &y)
            #expect(y == expected[1])
            let (whole, parts) = (o.y, [0..<48, 48..<columns])
            let all = [[0..<columns], parts].map { ranges in
                var y = whole
                for range in ranges {
                    LowRank.expand(
                        o.reduced, tokens: o.tokens, rank: o.rank, by: o.a, columns: o.columns,
                        addingTo: &y, range: range)
                }
                return y
            }
            #expect(all[0] == all[1], "in parts")
            var d = [Float](repeating: 0, count: o.rank * o.columns)
            LowRank.outer(
                o.reduced, tokens: o.tokens, rank: o.rank, with: o.x, columns: o.columns,
                mask: mask, into: &d)
            #expect(d == expected[2])
        }
    }
}
