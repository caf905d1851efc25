import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// fp32 products are chains of fused multiply-adds, element by element: equal bits, not close ones.
@Suite struct ProductTests {
    /// One operand, stored as asked for, with a gap after each row.
    private struct Stored {
        let values: [Float]
        let stride: Int

        init(
            _ plain: [Float], rows: Int, columns: Int, transposed: Bool, isFar: Bool = false
        ) {
            let width = transposed ? rows : columns
            // Rows a multiple of 4 KiB apart are copied first.
            stride = isFar ? (width + 1023) / 1024 * 1024 : width + 3
            var values = [Float](repeating: .nan, count: stride * (transposed ? columns : rows))
            for r in 0..<rows {
                for c in 0..<columns {
                    values[transposed ? c * stride + r : r * stride + c] = plain[r * columns + c]
                }
            }
            self.values = values
        }
    }

    /// Levels whose products are our own.
    private static let levels = KernelLevel.fused

    /// 0 ..< k as it is cut.
    private static func blocks(_ k: Int) -> [Range<Int>] {
        var blocks: [Range<Int>] = []
        while (blocks.last?.upperBound ?? 0) < k {
            let start = blocks.last?.upperBound ?? 0
            blocks.append(start..<start + (k - start <= 768 ? k - start : 512))
        }
        return blocks
    }

    @Test(
        "every element is a sum of chains over k, whatever is beside it",
        arguments: [1, 5, 6, 12, 13, 26], [1, 16, 17, 32, 33, 48, 49, 64, 70, 128])
    func chains(m: Int, n: Int) {
        for k in [0, 1, 15, 33, 576, 1200] {
            let a = CentralDifference.numbers(m * k, seed: 31, stream: 1)
            let b = CentralDifference.numbers(k * n, seed: 31, stream: 2)
            let start = CentralDifference.numbers(m * n, seed: 31, stream: 3)
            for accumulating in [false, true] {
                var expected = accumulating ? start : [Float](repeating: 0, count: m * n)
                for i in 0..<m {
                    for j in 0..<n {
                        for block in Self.blocks(k) {
                            var chain: Float = 0
                            for l in block { chain.addProduct(a[i * k + l], b[l * n + j]) }
                            expected[i * n + j] += chain
                        }
                    }
                }
                for level in Self.levels {
                    for (opA, opB) in [
                        (MatMul.Operand.plain, MatMul.Operand.plain), (.plain, .transposed),
                        (.transposed, .plain), (.transposed, .transposed),
                    ] {
                        let storedA = Stored(a, rows: m, columns: k, transposed: opA == .transposed)
                        let storedB = Stored(b, rows: k, columns: n, transposed: opB == .transposed)
                        var c = Stored(start, rows: m, columns: n, transposed: false).values
                        MatMul(level: level)(
                            m: m, n: n, k: k, storedA.values, opA, strideA: storedA.stride,
                            storedB.values, opB, strideB: storedB.stride, into: &c, strideC: n + 3,
                            accumulating: accumulating)
                        for i in 0..<m {
                            let row = c[(i * (n + 3))..<((i + 1) * (n + 3))]
                            let isEqual =
                                Array(row.prefix(n)) == Array(expected[(i * n)..<(i * n + n)])
                            #expect(isEqual, "\(level) k \(k) row \(i) \(opA) \(opB)")
                            let isUntouched = row.suffix(3).allSatisfy { $0.isNaN }
                            #expect(isUntouched, "written beyond \(n) columns")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "rows a multiple of 4 KiB apart, which are copied first, change no bit",
        arguments: [40, 530])
    func farRows(m: Int) {
        let (n, k) = (70, 1200)
        let a = CentralDifference.numbers(m * k, seed: 33, stream: 1)
        let b = CentralDifference.numbers(k * n, seed: 33, stream: 2)
        for level in Self.levels {
            let results = [false, true].map { isFar in
                let stored = Stored(a, rows: m, columns: k, transposed: false, isFar: isFar)
                var c = CentralDifference.numbers(m * n, seed: 33, stream: 3)
                MatMul(level: level)(
                    m: m, n: n, k: k, stored.values, strideA: stored.stride, b, strideB: n,
                    into: &c, strideC: n, accumulating: true)
                return c
            }
            #expect(results[0] == results[1], "\(level)")
        }
    }

    @Test(
        "what a causal mask leaves out changes no bit of the rest",
        arguments: [(64, 1), (57, 65), (64, 700), (13, 3), (5, 0), (64, 2000), (64, 961)])
    func causal(queries: Int, seen: Int) {
        let keys = seen + queries - 1
        let width = 64
        var scores = CentralDifference.numbers(queries * keys, seed: 35, stream: 1)
        for i in 0..<queries {
            for key in min(seen + i, keys)..<keys { scores[i * keys + key] = 0 }
        }
        let q = CentralDifference.numbers(queries * width, seed: 35, stream: 2)
        let k = CentralDifference.numbers(keys * width, seed: 35, stream: 3)
        for level in Self.levels {
            let matMul = MatMul(level: level)
            func both(_ count: Int, _ run: (MatMul.Causal, inout [Float]) -> Void) -> [[Float]] {
                [MatMul.Causal.none, .left(seen: seen)].map {
                    var c = CentralDifference.numbers(count, seed: 35, stream: 4)
                    run($0, &c)
                    return c
                }
            }
            for onto in [false, true] {
                let rows = both(queries * width) {
                    matMul(
                        m: queries, n: width, k: keys, scores, strideA: keys, k, strideB: width,
                        into: &$1, strideC: width, accumulating: onto, causal: $0)
                }
                #expect(rows[0] == rows[1], "rows, \(level)")
                let columns = both(keys * width) {
                    matMul(
                        m: keys, n: width, k: queries, scores, .transposed, strideA: keys, q,
                        strideB: width, into: &$1, strideC: width, accumulating: onto, causal: $0)
                }
                #expect(columns[0] == columns[1], "columns, \(level)")
                let results = [MatMul.Causal.none, .result(seen: seen)].map { causal in
                    var c = [Float](repeating: 3, count: queries * keys)
                    matMul(
                        m: queries, n: keys, k: width, q, strideA: width, k, .transposed,
                        strideB: width, into: &c, strideC: keys, accumulating: onto,
                        causal: causal)
                    return (0..<queries).map { i in
                        Array(c[i * keys..<min(i * keys + seen + i, (i + 1) * keys)])
                    }
                }
                #expect(results[0] == results[1], "results, \(level)")
            }
        }
    }

    @Test("without fused multiply-add OpenBLAS computes, and the yardstick always is OpenBLAS")
    func library() {
        let (m, n, k) = (7, 40, 90)
        let a = CentralDifference.numbers(m * k, seed: 32, stream: 1)
        let b = CentralDifference.numbers(n * k, seed: 32, stream: 2)
        var plain = [Float](repeating: 1, count: m * n)
        var yardstick = plain
        MatMul(level: SKEIN_PLAIN)(
            m: m, n: n, k: k, a, strideA: k, b, .transposed, strideB: k, into: &plain, strideC: n,
            accumulating: true)
        MatMul.sgemm(
            m: m, n: n, k: k, a, strideA: k, b, .transposed, strideB: k, into: &yardstick,
            strideC: n, accumulating: true)
        #expect(plain == yardstick)
        for i in 0..<m {
            for j in 0..<n {
                let sum = (0..<k).reduce(1.0) { $0 + Double(a[i * k + $1]) * Double(b[j * k + $1]) }
                #expect(abs(Double(plain[i * n + j]) - sum) < 1e-4)
            }
        }
    }
}
