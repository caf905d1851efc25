import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Products with packed bf16 weights, at every level that this machine has. The level is an argument,
/// so that no test touches the process's own.
@Suite struct PackedMatrixTests {
    /// Raw values: the C function shares its name with the type.
    static let levels = KernelLevel.all.map(\.rawValue)
    static let uses: [PackedMatrix.Use] = [.forward, .backward]

    /// Nearest, ties to even, by the definition: 8 significant bits.
    static func rounded(_ x: Float) -> Double {
        if !x.isNormal { return x.isFinite ? 0 : Double(x) }
        let unit = scalbn(1.0, Int(x.exponent) - 7)
        return (Double(x) / unit).rounded(.toNearestOrEven) * unit
    }

    @Test("a product equals a sum in double of rounded factors, onto zero or y", arguments: levels)
    func oracle(level: UInt32) throws {
        for (t, outputs, inputs) in [
            (0, 32, 32), (1, 1, 1), (11, 33, 65), (12, 64, 96), (13, 31, 7), (25, 100, 1201),
            (13, 2401, 50), (5, 300, 40), (26, 80, 48),
        ] {
            let it = PackedMatrixCase(t: t, outputs: outputs, inputs: inputs)
            for use in Self.uses {
                let (x, k, n) = it.left(use)
                let start = CentralDifference.numbers(t * n, seed: it.seed, stream: 4)
                let y = try it.product(use, skein_level(level))
                let onto = try it.product(use, skein_level(level), onto: start)
                try #require(y.count == t * n && onto.count == t * n)
                for place in 0..<t * n {
                    let (row, column) = (place / n, place % n)
                    var (sum, size) = (0.0, 0.0)
                    for i in 0..<k {
                        let w = use == .forward ? it.w[column * k + i] : it.w[i * n + column]
                        let term = Self.rounded(x[row * k + i]) * Self.rounded(w)
                        (sum, size) = (sum + term, size + abs(term))
                    }
                    let first = Double(start[place])
                    // k roundings, none larger than half an ulp of a partial sum.
                    let allowed = Double(k) * 0x1p-24
                    try #require(abs(Double(y[place]) - sum) <= size * allowed)
                    try #require(
                        abs(Double(onto[place]) - sum - first) <= (size + abs(first)) * allowed)
                }
            }
        }
    }

    @Test("all levels give the bits of the plain one", arguments: levels)
    func levelsAgree(level: UInt32) throws {
        for seed in UInt64(1)...3 {
            let it = PackedMatrixCase(t: 25, outputs: 301, inputs: 2577, seed: seed)
            for use in Self.uses {
                let plain = try it.product(use, SKEIN_PLAIN)
                #expect(try it.product(use, skein_level(level)) == plain, "seed \(seed)")
            }
        }
    }

    // x86-64 runs the code of `plain` at `fused`: a tiny product becomes zero before it is added.
    @Test(
        "where numbers become subnormal, levels with fused instructions still agree",
        .enabled(if: KernelLevel.fusedByProcessor.count > 1))
    func tinyNumbers() throws {
        let it = PackedMatrixCase(t: 25, outputs: 77, inputs: 20, spread: 0x1p-62)
        let all = try KernelLevel.fusedByProcessor.map {
            try it.product(.forward, $0).map(\.bitPattern)
        }
        for bits in all {
            #expect(bits == all[0])
            // The case would prove nothing if all sums were flushed, or none.
            let zeros = bits.count { $0 << 1 == 0 }
            #expect(zeros > 0 && zeros < bits.count)
        }
    }

    @Test(
        "a row's bits depend neither on how many rows there are nor on its place", arguments: levels
    )
    func rowsAreAlone(level: UInt32) throws {
        let it = PackedMatrixCase(t: 41, outputs: 70, inputs: 1203)
        for use in Self.uses {
            let n = it.left(use).n
            let all = try it.product(use, skein_level(level))
            for range in [0..<1, 7..<8, 40..<41, 3..<14, 5..<17, 1..<14, 2..<27] {
                let some = try it.product(use, skein_level(level), rows: range)
                #expect(some == Array(all[range.lowerBound * n..<range.upperBound * n]))
            }
        }
    }

    @Test("packing in pieces equals packing at once", arguments: levels)
    func pieces(level: UInt32) throws {
        let it = PackedMatrixCase(t: 5, outputs: 333, inputs: 45)
        for use in Self.uses {
            let whole = try it.product(use, SKEIN_PLAIN)
            for piece in [32, 64, 128, 320] {
                #expect(try it.product(use, skein_level(level), piece: piece) == whole)
            }
        }
    }

    @Test(
        "ranges of columns, and of rows onto each other, have the bits of the whole",
        arguments: levels)
    func ranges(level: UInt32) throws {
        let it = PackedMatrixCase(t: 13, outputs: 100, inputs: 2401)
        for use in Self.uses {
            let (_, k, n) = it.left(use)
            let whole = try it.product(use, skein_level(level))
            let matrix = try it.packed(use, skein_level(level))
            var y = [Float](repeating: .nan, count: it.t * n)
            it.rounded(use, skein_level(level)) { x in
                for rows in [0..<2, 2..<46, 46..<k] {
                    for columns in [0..<32, 64..<n, 32..<64] {
                        y.withUnsafeMutableBufferPointer { y in
                            guard let base = y.baseAddress else { return }
                            matrix.multiply(
                                x[columns: rows], rowRange: rows, columnRange: columns,
                                into: base + columns.lowerBound, stride: n,
                                accumulating: rows.lowerBound > 0)
                        }
                    }
                }
            }
            #expect(y == whole)
        }
    }

    @Test("streamed products have the bits of resident ones, whatever the block", arguments: levels)
    func streamed(level: UInt32) throws {
        for (outputs, inputs) in [(333, 45), (64, 576), (20, 33)] {
            let it = PackedMatrixCase(t: 14, outputs: outputs, inputs: inputs)
            for (use, block) in Self.uses.flatMap({ use in [32, 64, 256].map { (use, $0) } }) {
                let n = it.left(use).n
                let start = CentralDifference.numbers(it.t * n, seed: it.seed, stream: 4)
                let product = StreamedProduct(
                    outputs: outputs, inputs: inputs, blockRows: block, level: skein_level(level))
                let scratch = FloatBuffer(count: product.scratchBytes / 4)
                func rows(_ range: Range<Int>, _ to: UnsafeMutablePointer<Float>) {
                    for i in 0..<range.count * inputs {
                        to[i] = it.w[range.lowerBound * inputs + i]
                    }
                }
                for onto in [nil, start] {
                    var y = onto ?? [Float](repeating: .nan, count: it.t * n)
                    it.rounded(use, skein_level(level)) { x in
                        switch use {
                        case .forward:
                            product.forward(
                                x, into: &y, stride: n, accumulating: onto != nil,
                                scratch: scratch.base, rows: rows)
                        case .backward:
                            product.backward(
                                x, into: &y, stride: n, accumulating: onto != nil,
                                scratch: scratch.base, rows: rows)
                        }
                    }
                    #expect(y == (try it.product(use, skein_level(level), onto: onto)))
                }
            }
        }
    }

    @Test("NaN and infinity reach their own row and no other", arguments: levels)
    func notFinite(level: UInt32) throws {
        var it = PackedMatrixCase(t: 14, outputs: 40, inputs: 37)
        let before = try it.product(.forward, skein_level(level))
        it.x[3 * 37 + 36] = .nan
        it.x[12 * 37 + 5] = -.infinity
        let after = try it.product(.forward, skein_level(level))
        for (i, y) in after.enumerated() {
            switch i / 40 {
            case 3: #expect(y.isNaN)
            case 12: #expect(y == (it.w[i % 40 * 37 + 5] > 0 ? -.infinity : .infinity))
            default: #expect(y == before[i])
            }
        }
    }

    @Test("rounding goes to the nearest, ties to even, at every level", arguments: levels)
    func rounding(level: UInt32) {
        var x = CentralDifference.numbers(1000, seed: 5, stream: 1)
        x += [1, -0.0, 0x1.01p0, 0x1.03p0, 0x1.010002p0, -0x1.03p0, 0x1.fffffep127, 0x1p-126]
        x += [
            .infinity, -.infinity, 0x1p-127, -Float.leastNormalMagnitude.nextDown,
            .leastNonzeroMagnitude,
        ]
        let nan = x.count
        x += [.nan, Float(bitPattern: 0x7f80_0001), Float(bitPattern: 0xff80_0001)]
        x += x.reversed()  // So that each number is in a vector and in the tail.
        let scratch = FloatBuffer(count: RoundedRows.bytes(rows: 1, columns: x.count) / 4)
        let rows = RoundedRows(
            rounding: x, stride: x.count, rows: 1, columns: x.count, in: scratch.base,
            level: skein_level(level))
        for i in x.indices {
            let y = Float(bitPattern: UInt32(rows.base[i]) << 16)
            if x[i].isNaN {
                #expect(y.isNaN)
            } else {
                #expect(y == Float(Self.rounded(x[i])) && y.sign == x[i].sign, "\(x[i])")
            }
        }
        #expect(nan > 1000)
        withExtendedLifetime(scratch) {}
    }

    @Test("memory is estimated with its padding, and the kernel has a name")
    func facts() throws {
        #expect(PackedMatrix.bytes(rows: 576, columns: 1536) == 576 * 1536 * 2)
        #expect(PackedMatrix.bytes(rows: 7, columns: 33) == 8 * 64 * 2)
        let backward = try PackedMatrix(outputs: 7, inputs: 33, for: .backward)
        #expect(backward.bytes == 8 * 64 * 2)
        #expect(
            ["avx512bf16", "avx512", "avx2", "fused", "plain"].contains(PackedMatrix.kernelName))
    }
}
