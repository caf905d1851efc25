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
        var first: [Int] = []
        var second: [Int] = []
        /// [rows, pieces].
        var scales: [Float] = []
        let piece: Int

        init(_ x: [Float], rows: Int, k: Int, piece: Int, factors: [Float]? = nil) {
            self.piece = piece
            for r in 0..<rows {
                let row = (0..<k).map { x[r * k + $0] * (factors?[$0] ?? 1) }
                for start in stride(from: 0, to: k, by: piece) {
                    let numbers = row[start..<min(k, start + piece)]
                    let most = numbers.reduce(0) { max($0, abs($1)) }
                    scales.append(most / 127)
                    for number in numbers {
                        let exact = most == 0 ? 0 : number * (127 / most)
                        let near = exact.rounded(.toNearestOrEven)
                        first.append(Int(near))
                        second.append(Int(((exact - near) * 254).rounded(.toNearestOrEven)))
                    }
                }
            }
        }

        var pieces: Int { scales.count }
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
                var codes = [Int8](
                    repeating: 77, count: QuantizedWeight.codeBytes(rows: count, inputs: inputs))
                weight.pack(
                    Array(w[first * inputs..<(first + count) * inputs]), first: first,
                    count: count, codes: &codes)
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
            _ level: skein_level, terms: QuantizedRows.Terms, rows: Range<Int>? = nil,
            outputs range: Range<Int>? = nil, accumulating: Bool = false
        ) throws -> [Float] {
            let (rows, range) = (rows ?? 0..<t, range ?? 0..<outputs)
            let weight = try weight(level)
            let scratch = Self.scratch(rows.count, inputs)
            let quantized = QuantizedRows(
                quantizing: Array(x[rows.lowerBound * inputs..<rows.upperBound * inputs]),
                stride: inputs, rows: rows.count, columns: inputs, factors: nil, terms: terms,
                in: scratch.base, level: level)
            var y = Array(start.prefix(rows.count * range.count))
            weight.forward(
                rows: range, quantized, into: &y, stride: range.count, accumulating: accumulating)
            return withExtendedLifetime(scratch) { y }
        }

        func backward(
            _ level: skein_level, terms: QuantizedRows.Terms, accumulating: Bool = false
        ) throws -> [Float] {
            let weight = try weight(level)
            let scratch = Self.scratch(t, outputs)
            var dx = Array(start.prefix(t * inputs))
            weight.backward(
                rows: 0..<outputs, dy, strideDY: outputs, tokens: t, terms: terms, into: &dx,
                accumulating: accumulating, scratch: scratch.base)
            return withExtendedLifetime(scratch) { dx }
        }
    }

    private static let levels = KernelLevel.all
    private static let piece = Int(SKEIN_INT8_PIECE)
    private static let shapes = [
        (1, 1, 1), (5, 3, 7), (6, 64, 64), (7, 65, 130), (13, 130, 66), (4, 70, 2 * piece + 9),
    ]

    /// y [t, n] of codes by the definition; `weights[n]`: the codes of a column; `scale[n]`.
    private static func product(
        _ x: Model, _ t: Int, _ k: Int, _ n: Int, terms: QuantizedRows.Terms,
        scale: (Int) -> Float, code: (_ k: Int, _ n: Int) -> Int, onto start: [Float]?
    ) -> [Float] {
        let pieces = x.scales.count / max(t, 1)
        return (0..<t * n).map { place in
            let (r, c) = (place / n, place % n)
            var y = start?[place]
            for p in 0..<pieces {
                for term in 0..<terms.rawValue {
                    let codes = term == 0 ? x.first : x.second
                    let range = p * x.piece..<min(k, (p + 1) * x.piece)
                    let sum = range.reduce(0) { $0 + codes[r * k + $1] * code($1, c) }
                    let own = x.scales[r * pieces + p] * (term == 0 ? 1 : 1 / 254)
                    let factor = own * scale(c)
                    y = y.map { $0.addingProduct(Float(sum), factor) } ?? Float(sum) * factor
                }
            }
            return y ?? 0
        }
    }

    @Test("a product has the bits of the definition at every level", arguments: levels)
    func definition(level: skein_level) throws {
        for (t, outputs, inputs) in Self.shapes {
            let it = Case(t, outputs, inputs)
            let w = Model(it.w, rows: outputs, k: inputs, piece: inputs)
            let x = Model(it.x, rows: t, k: inputs, piece: Self.piece)
            let dy = Model(it.dy, rows: t, k: outputs, piece: Self.piece, factors: w.scales)
            for terms in [QuantizedRows.Terms.one, .two] {
                for onto in [false, true] {
                    let forward = Self.product(
                        x, t, inputs, outputs, terms: terms, scale: { w.scales[$0] },
                        code: { w.first[$1 * inputs + $0] }, onto: onto ? it.start : nil)
                    #expect(
                        try it.forward(level, terms: terms, accumulating: onto) == forward,
                        "forward \(level) \(t) \(outputs) \(inputs) \(terms)")
                    let backward = Self.product(
                        dy, t, outputs, inputs, terms: terms, scale: { _ in 1 },
                        code: { w.first[$0 * inputs + $1] }, onto: onto ? it.start : nil)
                    #expect(
                        try it.backward(level, terms: terms, accumulating: onto) == backward,
                        "backward \(level) \(t) \(outputs) \(inputs) \(terms)")
                }
            }
        }
    }

    @Test("8 bits are near to the exact product, 16 bits of x as near as 8 bits of W allow")
    func error() throws {
        let it = Case(9, 200, 300)
        var exact: [Double] = []
        for r in 0..<it.t {
            for c in 0..<it.outputs {
                exact.append(
                    (0..<it.inputs).reduce(0) {
                        $0 + Double(it.x[r * it.inputs + $1]) * Double(it.w[c * it.inputs + $1])
                    })
            }
        }
        let errors = try [QuantizedRows.Terms.one, .two].map { terms in
            CentralDifference.relativeError(
                try it.forward(currentLevel(), terms: terms).map(Double.init), exact)
        }
        #expect(errors[0] < 0.015 && errors[1] < 0.8 * errors[0], "\(errors)")
    }

    @Test("rows and ranges of outputs have the bits that they have among all", arguments: levels)
    func parts(level: skein_level) throws {
        let it = Case(14, 200, 99)
        let all = try it.forward(level, terms: .two)
        for rows in [0..<1, 5..<9, 13..<14] {
            let some = try it.forward(level, terms: .two, rows: rows)
            #expect(
                some == Array(all[rows.lowerBound * it.outputs..<rows.upperBound * it.outputs]))
        }
        let range = 64..<200
        let columns = try it.forward(level, terms: .two, outputs: range)
        let expected = (0..<it.t).flatMap { r in range.map { all[r * it.outputs + $0] } }
        #expect(columns == expected)
    }

    @Test("a weight that is quantized for each product gives the bits of a resident one")
    func streamed() throws {
        for (outputs, inputs) in [(300, 70), (65, 257), (9000, 6)] {
            let it = Case(8, outputs, inputs)
            for level in Self.levels {
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
                    terms: .one, in: room.base, level: level)
                var y = it.start
                streamed.forward(
                    x, into: &y, stride: outputs, accumulating: true, scratch: scratch.base,
                    rows: rows)
                #expect(
                    try Array(y.prefix(it.t * outputs))
                        == it.forward(level, terms: .one, accumulating: true))
                var dx = it.start
                streamed.backward(
                    it.dy, strideDY: outputs, tokens: it.t, terms: .two, into: &dx,
                    accumulating: false, quantized: room.base, scratch: scratch.base, rows: rows)
                #expect(
                    try Array(dx.prefix(it.t * inputs)) == it.backward(level, terms: .two))
                withExtendedLifetime((scratch, room)) {}
            }
        }
    }

    @Test("NaN and infinity in x reach y, zeros give zeros", arguments: levels)
    func special(level: skein_level) throws {
        for (value, isFinite) in [(Float.nan, false), (.infinity, false), (0, true)] {
            let weight = try Case(1, 70, 40).weight(level)
            let scratch = Case.scratch(2, 40)
            var x = [Float](repeating: value == 0 ? 0 : 1, count: 80)
            x[39] = value
            let rows = QuantizedRows(
                quantizing: x, stride: 40, rows: 2, columns: 40, factors: nil, terms: .two,
                in: scratch.base, level: level)
            var y = [Float](repeating: 7, count: 140)
            weight.forward(rows: 0..<70, rows, into: &y, stride: 70, accumulating: false)
            #expect(y[..<70].allSatisfy { isFinite ? $0 == 0 : $0.isNaN }, "\(value)")
            #expect(y[70...].allSatisfy { $0.isFinite }, "the other row")
            withExtendedLifetime(scratch) {}
        }
    }
}
