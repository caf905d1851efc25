import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Products with packed weights against plain loops in double precision, at every level of the machine.
@Suite struct InterleavedMatrixTests {
    private static let shapes = [(1, 32), (16, 64), (37, 576), (50, 160)]

    @Test("W x equals a plain loop's", arguments: InterleavedMatrix.Element.allCases)
    func vector(element: InterleavedMatrix.Element) {
        for (index, (rows, columns)) in Self.shapes.enumerated() {
            // The plain types take any number of columns.
            let columns = element.isPlain ? columns - 3 : element.whole(columns)
            let sample = PackedSample(element, rows: rows, columns: columns, seed: 3)
            let x = CentralDifference.numbers(columns, seed: 3, stream: UInt32(100_000 + index))
            let start = CentralDifference.numbers(rows, seed: 3, stream: 200_000)
            let expected = sample.product(x)
            for level in KernelLevel.all {
                let found = sample.multiply(x, level: level)
                let added = sample.multiply(x, level: level, adding: start)
                for row in 0..<rows {
                    let error = abs(Double(found[row]) - expected[row].value)
                    #expect(
                        error <= 2e-6 * expected[row].size,
                        "\(element) \(level) row \(row) of \(rows) x \(columns), seed 3")
                    #expect(added[row] == start[row] + found[row])
                }
            }
        }
    }

    @Test(
        "levels with fused multiply-add have the same bits",
        .enabled(if: KernelLevel.fusedByProcessor.count > 1))
    func sameBits() {
        for element in InterleavedMatrix.Element.allCases {
            let columns = element.whole(576)
            let sample = PackedSample(element, rows: 40, columns: columns, seed: 4)
            let x = CentralDifference.numbers(columns, seed: 4, stream: 100_000)
            let expected = sample.multiply(x, level: KernelLevel.fusedByProcessor[0])
            for level in KernelLevel.fusedByProcessor {
                #expect(sample.multiply(x, level: level) == expected, "\(element) \(level)")
                #expect(sample.unpack(0, level: level) == sample.unpack(0, level: SKEIN_PLAIN))
            }
        }
    }

    @Test("a row does not depend on the other rows of a call")
    func split() {
        for element in InterleavedMatrix.Element.allCases {
            let columns = element.whole(96)
            let matrix = PackedSample(element, rows: 75, columns: columns, seed: 5)
            let x = CentralDifference.numbers(columns, seed: 5, stream: 100_000)
            let whole = matrix.multiply(x, level: skein_level())
            var spread = [Float](
                repeating: 0, count: InterleavedMatrix.spreadCount(columns: columns))
            InterleavedMatrix.spread(x, columns: columns, into: &spread)
            var pieces = [Float](repeating: .nan, count: 75)
            for range in [3..<5, 0..<1, 1..<3] {
                matrix.matrix.multiply(groups: range, x, spread: spread, into: &pieces)
            }
            #expect(pieces == whole, "\(element)")
        }
    }

    @Test("several vectors at once have the bits that each has alone, at every level")
    func vectors() {
        for element in InterleavedMatrix.Element.allCases {
            for (rows, columns) in [(1, 32), (37, 96), (50, element.isPlain ? 61 : 64)] {
                let columns = element.whole(columns)
                let sample = PackedSample(element, rows: rows, columns: columns, seed: 11)
                let most = 19
                let x = CentralDifference.numbers(most * columns, seed: 11, stream: 100_000)
                for level in KernelLevel.all {
                    let alone = (0..<most).map { v in
                        sample.multiply(
                            Array(x[(v * columns)..<((v + 1) * columns)]), level: level)
                    }
                    for count in 1...most {
                        let first = (most - count) / 2
                        let some = Array(x[(first * columns)...])
                        let found = sample.multiply(some, vectors: count, level: level)
                        let what = "\(element) \(level) \(count) of \(rows) x \(columns), seed 11"
                        #expect(found == alone[first..<(first + count)].flatMap { $0 }, "\(what)")
                    }
                }
            }
        }
    }

    @Test("several vectors are added to what was there, and nothing else is touched")
    func addedVectors() {
        for element in InterleavedMatrix.Element.allCases {
            let columns = element.whole(200)
            let sample = PackedSample(element, rows: 37, columns: columns, seed: 13)
            let x = CentralDifference.numbers(7 * columns, seed: 13, stream: 100_000)
            let start = CentralDifference.numbers(7 * 37, seed: 13, stream: 200_000)
            for level in KernelLevel.all {
                for count in [1, 2, 3, 5, 7] {
                    var alone: [Float] = []
                    for v in 0..<count {
                        alone += sample.multiply(
                            Array(x[(v * columns)..<((v + 1) * columns)]), level: level,
                            adding: Array(start[(v * 37)..<((v + 1) * 37)]))
                    }
                    let found = sample.multiply(
                        x, vectors: count, level: level, adding: start, padding: 19)
                    #expect(found == alone, "\(element) \(level) \(count), seed 13")
                }
            }
        }
    }

    @Test("groups unpack to the file's numbers, at every level")
    func unpacked() {
        for element in InterleavedMatrix.Element.allCases {
            let columns = element.whole(64)
            let sample = PackedSample(element, rows: 21, columns: columns, seed: 6)
            for level in KernelLevel.all {
                for group in 0..<2 {
                    let found = sample.unpack(group, level: level)
                    for row in sample.matrix.rows(ofGroup: group) {
                        for k in 0..<columns {
                            let expected = Float(sample.weights[row * columns + k])
                            let error = abs(found[16 * k + row % 16] - expected)
                            #expect(error <= 1e-6 * abs(expected) + 1e-6, "\(element) \(level)")
                        }
                    }
                }
            }
        }
    }

    @Test("products of many tokens equal a plain loop's, and none depends on the others")
    func panels() {
        for (element, columns) in [
            (InterleavedMatrix.Element.q4x1, 640), (.q4K, 1280), (.q6K, 768), (.f32, 99), (.f32, 8),
        ] {
            let sample = PackedSample(element, rows: 53, columns: columns, seed: 7)
            let tokens = 29
            let x = CentralDifference.numbers(tokens * columns, seed: 7, stream: 100_000)
            var scratch = [Float](repeating: .nan, count: InterleavedMatrix.scratchCount)
            var y = [Float](repeating: .nan, count: tokens * 53)
            sample.matrix.multiply(
                groups: 0..<sample.matrix.groups, tokens: tokens, x, into: &y, scratch: &scratch)
            for t in 0..<tokens {
                let row = Array(x[(t * columns)..<((t + 1) * columns)])
                for (r, expected) in sample.product(row).enumerated() {
                    let error = abs(Double(y[t * 53 + r]) - expected.value)
                    #expect(error <= 3e-6 * expected.size, "\(element) token \(t) row \(r), seed 7")
                }
                var alone = [Float](repeating: 1, count: 53)
                for groups in [3..<4, 0..<3] {
                    sample.matrix.multiply(
                        groups: groups, tokens: 1, row, into: &alone, scratch: &scratch)
                }
                #expect(alone == Array(y[(t * 53)..<((t + 1) * 53)]))
            }
        }
    }

    @Test("in bf16 products of many tokens equal a loop's over rounded numbers")
    func roundedPanels() {
        func rounded(_ x: Float) -> Double {
            var (x, half) = (x, UInt16(0))
            skein_to_bf16(skein_level(), &x, 1, &half)
            return Double(Float(bitPattern: UInt32(half) << 16))
        }
        for (element, columns) in [
            (InterleavedMatrix.Element.q4x1, 1312), (.f32, 99), (.q8x0, 64), (.q5K, 1024),
        ] {
            let sample = PackedSample(element, rows: 41, columns: columns, seed: 9)
            let (tokens, rows) = (13, 41)
            let x = CentralDifference.numbers(tokens * columns, seed: 9, stream: 100_000)
            let start = CentralDifference.numbers(tokens * rows, seed: 9, stream: 100_001)
            let room = FloatBuffer(count: RoundedRows.bytes(rows: tokens, columns: columns) / 4)
            let scratch = FloatBuffer(count: InterleavedMatrix.scratchCount)
            let input = RoundedRows(
                rounding: x, stride: columns, rows: tokens, columns: columns, in: room.base)
            var y = start
            sample.matrix.multiply(
                groups: 0..<sample.matrix.groups, input, into: &y, adding: true,
                scratch: scratch.base)
            for t in 0..<tokens {
                for r in 0..<rows {
                    var (sum, size) = (Double(start[t * rows + r]), 1.0)
                    for k in 0..<columns {
                        let w = rounded(Float(sample.weights[r * columns + k]))
                        let term = w * rounded(x[t * columns + k])
                        sum += term
                        size += abs(term)
                    }
                    // A weight may be rounded to the other neighbour of the file's number.
                    let error = abs(Double(y[t * rows + r]) - sum)
                    #expect(error <= 1e-4 * size, "\(element) token \(t) row \(r), seed 9")
                }
            }
        }
    }

    @Test("every level multiplies panels alike")
    func panelLevels() {
        let (tokens, depth, columns) = (27, 70, 41)
        let x = CentralDifference.numbers(tokens * depth, seed: 8, stream: 1)
        let w = CentralDifference.numbers(3 * 16 * depth, seed: 8, stream: 2)
        let start = CentralDifference.numbers(tokens * columns, seed: 8, stream: 3)
        var results: [[Float]] = []
        for level in KernelLevel.all {
            var y = start
            x.withUnsafeBufferPointer { x in
                w.withUnsafeBufferPointer { w in
                    y.withUnsafeMutableBufferPointer { y in
                        var panel = skein_panel(
                            x: x.baseAddress, row_x: depth, step_x: 1, w: w.baseAddress,
                            group_w: 16 * depth, step_w: 16, y: y.baseAddress, stride_y: columns,
                            rows: tokens, n: columns, k: depth, accumulate: 1)
                        skein_multiply_panel(level, &panel)
                    }
                }
            }
            for t in 0..<tokens {
                for c in 0..<columns {
                    var (sum, size) = (Double(start[t * columns + c]), 0.0)
                    for i in 0..<depth {
                        let term =
                            Double(x[t * depth + i])
                            * Double(w[c / 16 * 16 * depth + i * 16 + c % 16])
                        sum += term
                        size += abs(term)
                    }
                    #expect(abs(Double(y[t * columns + c]) - sum) <= 1e-6 * (size + 1), "\(level)")
                }
            }
            if KernelLevel.fused.contains(level) { results.append(y) }
        }
        #expect(results.allSatisfy { $0 == results.first })
    }
}
