import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Products in 8-bit integers: equal bits at every level, and the formula of
/// CSkeinKernels/include/int8_product.h.
@Suite struct QuantizedWeightTests {
    /// Rows of numbers and their scales, by the definition.
    struct Model {
        /// [rows, k].
        var codes: [Int] = []
        /// [rows, blocks].
        var scales: [Float] = []
        let block: Int

        init(_ x: [Float], rows: Int, k: Int, block: Int, factors: [Float]? = nil) {
            self.block = block
            for r in 0..<rows {
                let row = (0..<k).map { x[r * k + $0] * (factors?[$0] ?? 1) }
                for start in stride(from: 0, to: k, by: block) {
                    let numbers = row[start..<min(k, start + block)]
                    let most = numbers.reduce(0) { max($0, abs($1)) }
                    scales.append(most / 127)
                    for number in numbers {
                        let exact = most == 0 ? 0 : number * (127 / most)
                        codes.append(Int(exact.rounded(.toNearestOrEven)))
                    }
                }
            }
        }
    }

    struct Case {
        let t: Int
        let outputs: Int
        let inputs: Int
        let w: [Float]
        let x: [Float]
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
                let scratch = Self.scratch(count, inputs)
                weight.pack(
                    Array(w[first * inputs..<(first + count) * inputs]), first: first,
                    count: count, scratch: scratch.base)
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
        (1, 1, 1), (5, 3, 7), (6, 64, 64), (7, 65, 130), (13, 130, 66), (4, 70, 643),
    ]

    /// y [t, n] of codes by the definition; `scale`, `code`: of the right factor.
    private static func product(
        _ x: Model, _ t: Int, _ k: Int, _ n: Int, scale: (_ block: Int, _ n: Int) -> Float,
        code: (_ k: Int, _ n: Int) -> Int, onto start: [Float]?
    ) -> [Float] {
        let blocks = x.scales.count / t
        return (0..<t * n).map { place in
            let (r, c) = (place / n, place % n)
            var part: Float = 0
            for b in 0..<blocks {
                let range = b * x.block..<min(k, (b + 1) * x.block)
                let sum = range.reduce(0) { $0 + x.codes[r * k + $1] * code($1, c) }
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
            let forth = Model(it.w, rows: outputs, k: inputs, block: 64)
            let back = Model(it.w, rows: outputs, k: inputs, block: inputs)
            let x = Model(it.x, rows: t, k: inputs, block: 64)
            let dy = Model(it.dy, rows: t, k: outputs, block: 64, factors: back.scales)
            let blocks = (inputs + 63) / 64
            for onto in [false, true] {
                let forward = Self.product(
                    x, t, inputs, outputs, scale: { forth.scales[$1 * blocks + $0] },
                    code: { forth.codes[$1 * inputs + $0] }, onto: onto ? it.start : nil)
                #expect(
                    try it.forward(level, accumulating: onto) == forward,
                    "forward \(level) \(t) \(outputs) \(inputs)")
                let backward = Self.product(
                    dy, t, outputs, inputs, scale: { _, _ in 1 },
                    code: { back.codes[$0 * inputs + $1] }, onto: onto ? it.start : nil)
                #expect(
                    try it.backward(level, accumulating: onto) == backward,
                    "backward \(level) \(t) \(outputs) \(inputs)")
            }
        }
    }

    @Test("an outlier makes its own block coarse, and no other number")
    func outlier() throws {
        let (t, outputs, inputs) = (3, 64, 640)
        var x = CentralDifference.numbers(t * inputs, seed: 6, stream: 1)
        func error(_ x: [Float]) throws -> Double {
            let it = Case(t, outputs, inputs)
            let weight = try it.weight(currentLevel())
            let scratch = Case.scratch(t, inputs)
            let rows = QuantizedRows(
                quantizing: x, stride: inputs, rows: t, columns: inputs, in: scratch.base)
            var y = [Float](repeating: 0, count: t * outputs)
            weight.forward(rows: 0..<outputs, rows, into: &y, stride: outputs, accumulating: false)
            let w = Model(it.w, rows: outputs, k: inputs, block: 64)
            var sum = 0.0
            for r in 0..<t {
                for c in 0..<outputs {
                    let exact = (0..<inputs).reduce(0.0) {
                        $0 + Double(x[r * inputs + $1]) * Double(w.codes[c * inputs + $1])
                            * Double(w.scales[(c * inputs + $1) / 64])
                    }
                    let off = Double(y[r * outputs + c]) - exact
                    sum += off * off
                }
            }
            return withExtendedLifetime(scratch) { sum.squareRoot() }
        }
        let usual = try error(x)
        for r in 0..<t { x[r * inputs + 100] = 200 }
        let worse = try error(x)
        // Nine of ten blocks are as before. One scale for a row would give 300 times the error.
        #expect(worse < 200 * usual, "\(usual), \(worse)")
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
