import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Products in 8-bit integers: equal bits at every level, and the formula of
/// CSkeinKernels/include/int8_product.h.
@Suite struct QuantizedWeightTests {
    /// Rows of numbers, turned and as integers, and their scales, by the definition.
    struct Model {
        /// [rows, k and zeros up to a multiple of 64].
        var codes: [Int] = []
        /// [rows, blocks], or [rows].
        var scales: [Float] = []

        /// 64 numbers of a row are turned together; up to 128 are a block.
        init(_ x: [Float], rows: Int, k: Int, factors: [Float]? = nil) {
            for r in 0..<rows {
                let row = stride(from: 0, to: k, by: 64).flatMap { start in
                    var some = (0..<64).map { start + $0 < k ? x[r * k + start + $0] : 0 }
                    Self.turn(&some)
                    if let factors { for i in 0..<64 { some[i] *= factors[start + i] } }
                    return some
                }
                for start in stride(from: 0, to: row.count, by: 128) {
                    append(Array(row[start..<min(start + 128, row.count)]))
                }
            }
        }

        /// Blocks of 64 rows of each column; a scale for each turned row.
        init(turningRowsOf w: [Float], rows: Int, k: Int) {
            for start in stride(from: 0, to: rows, by: 64) {
                let columns = (0..<k).map { c in
                    var block = (0..<64).map { start + $0 < rows ? w[(start + $0) * k + c] : 0 }
                    Self.turn(&block)
                    return block
                }
                for r in 0..<64 { append(columns.map { $0[r] }) }
            }
        }

        private mutating func append(_ numbers: [Float]) {
            let most = numbers.reduce(0) { max($0, abs($1)) }
            scales.append(most / 127 / 8)
            codes += numbers.map {
                most == 0 ? 0 : Int(($0 * (127 / most)).rounded(.toNearestOrEven))
            }
        }

        private static func turn(_ x: inout [Float]) {
            var distance = 1
            while distance < 64 {
                for i in 0..<64 where i & distance == 0 {
                    (x[i], x[i + distance]) = (x[i] + x[i + distance], x[i] - x[i + distance])
                }
                distance *= 2
            }
        }
    }

    struct Case {
        let t: Int
        let outputs: Int
        let inputs: Int
        let w: [Float]
        var x: [Float]
        let dy: [Float]
        let start: [Float]

        init(_ t: Int, _ outputs: Int, _ inputs: Int, seed: UInt64 = 5) {
            (self.t, self.outputs, self.inputs) = (t, outputs, inputs)
            w = CentralDifference.numbers(outputs * inputs, seed: seed, stream: 1)
            x = CentralDifference.numbers(t * inputs, seed: seed, stream: 2)
            dy = CentralDifference.numbers(t * outputs, seed: seed, stream: 3)
            start = CentralDifference.numbers(t * max(outputs, inputs), seed: seed, stream: 4)
        }

        /// Packed in pieces of 64 rows, the last piece first.
        func weight(_ level: skein_level) throws -> QuantizedWeight {
            let weight = try QuantizedWeight(outputs: outputs, inputs: inputs, level: level)
            for first in Array(stride(from: 0, to: outputs, by: 64)).reversed() {
                let count = min(64, outputs - first)
                let scratch = Self.scratch(64, inputs)
                var rows = Array(w[first * inputs..<(first + count) * inputs])
                rows += Array(repeating: .nan, count: (64 - count) * inputs)
                weight.pack(&rows, first: first, count: count, scratch: scratch.base)
                withExtendedLifetime(scratch) {}
            }
            return weight
        }

        static func scratch(_ rows: Int, _ columns: Int) -> FloatBuffer {
            let scratch = FloatBuffer(
                count: QuantizedRows.bytes(rows: rows, columns: columns) / 4)
            scratch.base.update(repeating: .nan, count: scratch.count)
            return scratch
        }

        func forward(
            _ level: skein_level, rows: Range<Int>? = nil,
            outputs range: Range<Int>? = nil, accumulating: Bool = false
        ) throws -> [Float] {
            let (rows, range) = (rows ?? 0..<t, range ?? 0..<outputs)
            let weight = try weight(level)
            let scratch = Self.scratch(rows.count, inputs)
            let quantized = QuantizedRows(
                quantizing: Array(x[rows.lowerBound * inputs..<rows.upperBound * inputs]),
                stride: inputs, rows: rows.count, columns: inputs, factors: nil,
                in: scratch.base, level: level)
            var y = Array(start.prefix(rows.count * range.count))
            weight.forward(
                rows: range, quantized, into: &y, stride: range.count, accumulating: accumulating)
            return withExtendedLifetime(scratch) { y }
        }

        func backward(
            _ level: skein_level, accumulating: Bool = false
        ) throws -> [Float] {
            let weight = try weight(level)
            let scratch = Self.scratch(t, outputs)
            var dx = Array(start.prefix(t * inputs))
            weight.backward(
                rows: 0..<outputs, dy, strideDY: outputs, tokens: t, into: &dx,
                accumulating: accumulating, scratch: scratch.base)
            return withExtendedLifetime(scratch) { dx }
        }
    }

    /// Raw values: the C function shares its name with the type.
    private static let levels = KernelLevel.all.map(\.rawValue)
    private static let shapes = [
        (1, 1, 1), (5, 3, 7), (6, 64, 64), (7, 65, 130), (13, 130, 66), (3, 192, 128), (4, 70, 643),
    ]

    /// y [t, n] of codes by the definition; `scale`, `code`: of the right factor.
    private static func product(
        _ x: Model, _ t: Int, _ n: Int, scale: (_ block: Int, _ n: Int) -> Float,
        code: (_ k: Int, _ n: Int) -> Int, onto start: [Float]?
    ) -> [Float] {
        let (blocks, width) = (x.scales.count / t, x.codes.count / t)
        return (0..<t * n).map { place in
            let (r, c) = (place / n, place % n)
            var part: Float = 0
            for b in 0..<blocks {
                let sum = (b * 128..<min((b + 1) * 128, width)).reduce(0) {
                    $0 + x.codes[r * width + $1] * code($1, c)
                }
                part.addProduct(Float(sum), x.scales[r * blocks + b] * scale(b, c))
            }
            return start.map { $0[place] + part } ?? part
        }
    }

    @Test("a product has the bits of the definition at every level", arguments: levels)
    func definition(level raw: UInt32) throws {
        let level = skein_level(raw)
        for (t, outputs, inputs) in Self.shapes {
            let it = Case(t, outputs, inputs)
            let forth = Model(it.w, rows: outputs, k: inputs)
            let back = Model(turningRowsOf: it.w, rows: outputs, k: inputs)
            let x = Model(it.x, rows: t, k: inputs)
            let dy = Model(it.dy, rows: t, k: outputs, factors: back.scales)
            let (blocks, width) = ((inputs + 127) / 128, (inputs + 63) / 64 * 64)
            for onto in [false, true] {
                let forward = Self.product(
                    x, t, outputs, scale: { forth.scales[$1 * blocks + $0] },
                    code: { forth.codes[$1 * width + $0] }, onto: onto ? it.start : nil)
                #expect(
                    try it.forward(level, accumulating: onto) == forward,
                    "forward \(level) \(t) \(outputs) \(inputs)")
                let backward = Self.product(
                    dy, t, inputs, scale: { _, _ in 1 },
                    code: { back.codes[$0 * inputs + $1] }, onto: onto ? it.start : nil)
                #expect(
                    try it.backward(level, accumulating: onto) == backward,
                    "backward \(level) \(t) \(outputs) \(inputs)")
            }
        }
    }

    @Test("both products are near to the exact ones, with and without outliers in x")
    func near() throws {
        let it = Case(9, 130, 320)
        func exact(
            _ x: [Float], _ k: Int, _ n: Int, _ w: (_ k: Int, _ n: Int) -> Float
        ) -> [Double] {
            (0..<it.t * n).map { place in
                (0..<k).reduce(0) {
                    $0 + Double(x[place / n * k + $1]) * Double(w($1, place % n))
                }
            }
        }
        let forward = exact(it.x, it.inputs, it.outputs) { it.w[$1 * it.inputs + $0] }
        let backward = exact(it.dy, it.outputs, it.inputs) { it.w[$0 * it.inputs + $1] }
        let level = currentLevel()
        #expect(
            CentralDifference.relativeError(try it.forward(level).map(Double.init), forward)
                < 0.012)
        #expect(
            CentralDifference.relativeError(try it.backward(level).map(Double.init), backward)
                < 0.015)
        // One number in 64 that is 30 times the others. By itself it would leave them 4 levels.
        var outlying = it
        for i in stride(from: 5, to: it.x.count, by: 64) { outlying.x[i] *= 30 }
        let changed = exact(outlying.x, it.inputs, it.outputs) { it.w[$1 * it.inputs + $0] }
        #expect(
            CentralDifference.relativeError(try outlying.forward(level).map(Double.init), changed)
                < 0.012)
    }

    @Test("rows and ranges of outputs have the bits that they have among all", arguments: levels)
    func parts(level raw: UInt32) throws {
        let level = skein_level(raw)
        let it = Case(14, 200, 99)
        let all = try it.forward(level)
        for rows in [0..<1, 5..<9, 13..<14] {
            let some = try it.forward(level, rows: rows)
            #expect(
                some == Array(all[rows.lowerBound * it.outputs..<rows.upperBound * it.outputs]))
        }
        let range = 64..<200
        let columns = try it.forward(level, outputs: range)
        let expected = (0..<it.t).flatMap { r in range.map { all[r * it.outputs + $0] } }
        #expect(columns == expected)
    }

    @Test("a weight that is quantized for each product gives the bits of a resident one")
    func streamed() throws {
        for (outputs, inputs) in [(300, 70), (65, 257), (9000, 6)] {
            let it = Case(8, outputs, inputs)
            for level in KernelLevel.all {
                let streamed = StreamedQuantizedProduct(
                    outputs: outputs, inputs: inputs, level: level)
                let scratch = FloatBuffer(count: (streamed.scratchBytes + 3) / 4)
                let rows: StreamedQuantizedProduct.Rows = { range, out in
                    for i in 0..<range.count * inputs {
                        out[i] = it.w[range.lowerBound * inputs + i]
                    }
                }
                let room = Case.scratch(it.t, max(inputs, outputs))
                let x = QuantizedRows(
                    quantizing: it.x, stride: inputs, rows: it.t, columns: inputs, factors: nil,
                    in: room.base, level: level)
                var y = it.start
                streamed.forward(
                    x, into: &y, stride: outputs, accumulating: true, scratch: scratch.base,
                    rows: rows)
                #expect(
                    try Array(y.prefix(it.t * outputs))
                        == it.forward(level, accumulating: true))
                var dx = it.start
                streamed.backward(
                    it.dy, strideDY: outputs, tokens: it.t, into: &dx,
                    accumulating: false, quantized: room.base, scratch: scratch.base, rows: rows)
                #expect(
                    try Array(dx.prefix(it.t * inputs)) == it.backward(level))
                withExtendedLifetime((scratch, room)) {}
            }
        }
    }

    @Test("rows that are made some at a time are quantized like all at once")
    func produced() {
        let (rows, columns) = (70, 1000)
        let x = CentralDifference.numbers(rows * columns, seed: 9, stream: 1)
        let (whole, pieces) = (Case.scratch(rows, columns), Case.scratch(rows, columns))
        _ = QuantizedRows(
            quantizing: x, stride: columns, rows: rows, columns: columns, in: whole.base)
        var made = [Float](repeating: .nan, count: x.count)
        var ranges: [Range<Int>] = []
        made.withUnsafeMutableBufferPointer { made in
            guard let base = made.baseAddress else { return }
            _ = QuantizedRows(of: base, rows: rows, columns: columns, in: pieces.base) { range in
                ranges.append(range)
                for i in range.lowerBound * columns..<range.upperBound * columns { base[i] = x[i] }
            }
        }
        #expect(ranges.count > 1 && ranges.flatMap(Array.init) == Array(0..<rows))
        let bytes = [whole, pieces].map {
            Array(UnsafeRawBufferPointer(start: $0.base, count: 4 * $0.count))
        }
        #expect(bytes[0] == bytes[1])
    }

    @Test("NaN and infinity in x reach y, zeros give zeros", arguments: levels)
    func special(level raw: UInt32) throws {
        let level = skein_level(raw)
        for (value, isFinite) in [(Float.nan, false), (.infinity, false), (0, true)] {
            let weight = try Case(1, 70, 40).weight(level)
            let scratch = Case.scratch(2, 40)
            var x = [Float](repeating: value == 0 ? 0 : 1, count: 80)
            x[39] = value
            let rows = QuantizedRows(
                quantizing: x, stride: 40, rows: 2, columns: 40, factors: nil,
                in: scratch.base, level: level)
            var y = [Float](repeating: 7, count: 140)
            weight.forward(rows: 0..<70, rows, into: &y, stride: 70, accumulating: false)
            #expect(y[..<70].allSatisfy { isFinite ? $0 == 0 : $0.isNaN }, "\(value)")
            #expect(y[70...].allSatisfy { $0.isFinite }, "the other row")
            withExtendedLifetime(scratch) {}
        }
    }
}
