import CSkeinKernels
import Foundation
import SkeinTestSupport

@testable import SkeinTensors

/// A matrix W [outputs, inputs] and what it is multiplied with, in both uses.
struct PackedMatrixCase {
    let t: Int
    let outputs: Int
    let inputs: Int
    let seed: UInt64
    let w: [Float]
    /// [t, inputs] and [t, outputs].
    var x: [Float]
    var dy: [Float]

    init(t: Int, outputs: Int, inputs: Int, seed: UInt64 = 7, spread: Float = 1) {
        (self.t, self.outputs, self.inputs, self.seed) = (t, outputs, inputs, seed)
        w = CentralDifference.numbers(outputs * inputs, seed: seed, stream: 1, spread: spread)
        x = CentralDifference.numbers(t * inputs, seed: seed, stream: 2, spread: spread)
        dy = CentralDifference.numbers(t * outputs, seed: seed, stream: 3, spread: spread)
    }

    /// The left factor, its columns and the result's.
    func left(_ use: PackedMatrix.Use) -> (x: [Float], k: Int, n: Int) {
        use == .forward ? (x, inputs, outputs) : (dy, outputs, inputs)
    }

    /// Packed in pieces of `piece` rows, the last piece first; nil for all at once.
    func packed(
        _ use: PackedMatrix.Use, _ level: skein_level, piece: Int? = nil
    ) throws -> PackedMatrix {
        let matrix = try PackedMatrix(outputs: outputs, inputs: inputs, for: use, level: level)
        let piece = piece ?? outputs
        for first in Array(stride(from: 0, to: outputs, by: piece)).reversed() {
            let count = min(piece, outputs - first)
            matrix.pack(
                Array(w[first * inputs..<(first + count) * inputs]), first: first, count: count)
        }
        return matrix
    }

    /// Rows `range` of the left factor, rounded into memory that held NaN.
    func rounded(
        _ use: PackedMatrix.Use, _ level: skein_level, rows range: Range<Int>? = nil,
        _ body: (RoundedRows) -> Void
    ) {
        let (x, k, _) = left(use)
        let range = range ?? 0..<t
        let scratch = FloatBuffer(count: RoundedRows.bytes(rows: range.count, columns: k) / 4)
        scratch.base.update(repeating: .nan, count: scratch.count)
        body(
            RoundedRows(
                rounding: Array(x[range.lowerBound * k..<range.upperBound * k]), stride: k,
                rows: range.count, columns: k, in: scratch.base, level: level))
        withExtendedLifetime(scratch) {}
    }

    /// The product of rows `range`, or that onto `y`; three columns of the result's memory are not
    /// its own and keep a mark.
    func product(
        _ use: PackedMatrix.Use, _ level: skein_level, rows range: Range<Int>? = nil,
        onto y: [Float]? = nil, piece: Int? = nil
    ) throws -> [Float] {
        let n = left(use).n
        let count = range?.count ?? t
        let matrix = try packed(use, level, piece: piece)
        var out = [Float](repeating: 1234, count: count * (n + 3))
        if let y { for i in y.indices { out[i / n * (n + 3) + i % n] = y[i] } }
        rounded(use, level, rows: range) {
            matrix.multiply($0, into: &out, stride: n + 3, accumulating: y != nil)
        }
        return Self.own(out, rows: count, columns: n)
    }

    /// What precedes the three marks of each row; empty when a mark is gone.
    static func own(_ out: [Float], rows: Int, columns n: Int) -> [Float] {
        var own: [Float] = []
        for row in 0..<rows {
            let start = row * (n + 3)
            if out[start + n..<start + n + 3].contains(where: { $0 != 1234 }) { return [] }
            own += out[start..<start + n]
        }
        return own
    }
}
