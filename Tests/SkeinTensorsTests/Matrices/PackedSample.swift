import CSkeinKernels
import SkeinBasics

@testable import SkeinTensors

/// A matrix of random bytes in a file's layout, packed, and its numbers computed another way.
struct PackedSample {
    let matrix: InterleavedMatrix
    /// [rows, columns].
    let weights: [Double]
    private let memory: InterleavedMemory

    init(_ element: InterleavedMatrix.Element, rows: Int, columns: Int, seed: UInt64) {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        var bytes: [[UInt8]] = []
        var weights: [Double] = []
        for row in 0..<rows {
            var next: UInt32 = 0
            var line: [UInt8] = []
            func draw() -> UInt32 {
                defer { next += 1 }
                return random.block(next, UInt32(row)).x
            }
            func half(_ value: Float) -> Double {
                let rounded = Float16(value)
                line += withUnsafeBytes(of: rounded.bitPattern) { Array($0) }
                return Double(rounded)
            }
            while weights.count < (row + 1) * columns {
                let scale = AddressedRandom.unitFloat(draw()) * 2 - 1
                switch element {
                case .f32:
                    line += withUnsafeBytes(of: scale) { Array($0) }
                    weights.append(Double(scale))
                case .f16: weights.append(half(scale))
                case .bf16:
                    let bits = UInt16(scale.bitPattern >> 16)
                    line += withUnsafeBytes(of: bits) { Array($0) }
                    weights.append(Double(Float(bitPattern: UInt32(bits) << 16)))
                case .q8x0:
                    let d = half(scale)
                    let codes = (0..<32).map { _ in UInt8(truncatingIfNeeded: draw()) }
                    line += codes
                    weights += codes.map { Double(Int8(bitPattern: $0)) * d }
                case .q4x0, .q4x1:
                    let d = half(scale)
                    let m = element == .q4x1 ? half(-8 * scale + 0.25) : -8 * d
                    let codes = (0..<16).map { _ in UInt8(truncatingIfNeeded: draw()) }
                    line += codes
                    weights += codes.map { Double($0 & 15) * d + m }
                    weights += codes.map { Double($0 >> 4) * d + m }
                case .q4K, .q5K:
                    let (d, dmin) = (half(scale / 32), half(0.25 - scale / 32))
                    let scales = (0..<16).map { _ in UInt8(draw() % 64) }
                    line += scales
                    for group in 0..<8 {
                        let codes = (0..<32).map { _ in UInt8(draw() % (element == .q4K ? 16 : 32))
                        }
                        line +=
                            element == .q5K
                            ? codes : (0..<16).map { codes[$0] | codes[$0 + 16] << 4 }
                        weights += codes.map {
                            d * Double(scales[group]) * Double($0)
                                - dmin * Double(scales[8 + group])
                        }
                    }
                case .q6K:
                    let d = half(scale / 32)
                    let scales = (0..<16).map { _ in UInt8(truncatingIfNeeded: draw()) }
                    let codes = (0..<256).map { _ in UInt8(truncatingIfNeeded: draw()) }
                    line += [0, 0] + scales + codes
                    weights += codes.indices.map {
                        d * Double(Int8(bitPattern: scales[$0 / 16]))
                            * Double(Int8(bitPattern: codes[$0]))
                    }
                }
            }
            bytes.append(line)
        }
        memory = InterleavedMemory(
            byteCount: InterleavedMatrix.byteCount(element, rows: rows, columns: columns))
        matrix = InterleavedMatrix(element, rows: rows, columns: columns, at: memory.base)
        self.weights = weights
        for group in 0..<matrix.groups {
            let own = matrix.rows(ofGroup: group)
            let joined = Array(bytes[own].joined())
            joined.withUnsafeBytes { all in
                guard let base = all.baseAddress else { return }
                let stride = all.count / own.count
                matrix.pack(group: group, (0..<own.count).map { base + $0 * stride })
            }
        }
    }

    /// W x and the sum of |W x|'s terms, row by row.
    func product(_ x: [Float]) -> [(value: Double, size: Double)] {
        stride(from: 0, to: weights.count, by: matrix.columns).map { first in
            var (value, size) = (0.0, 0.0)
            for k in x.indices {
                value += weights[first + k] * Double(x[k])
                size += abs(weights[first + k] * Double(x[k]))
            }
            return (value, size)
        }
    }

    /// The kernel at a level, given all groups.
    func multiply(_ x: [Float], level: skein_level, adding y: [Float]? = nil) -> [Float] {
        var out = y ?? [Float](repeating: .nan, count: matrix.rows)
        var spread = [Float](
            repeating: 0, count: InterleavedMatrix.spreadCount(columns: matrix.columns))
        skein_spread(level, x, x.count, &spread)
        skein_matvec(
            level, matrix.element.kernel, memory.base, matrix.columns, matrix.groups, x, spread,
            &out, matrix.rows, y == nil ? 0 : 1)
        return out
    }

    /// Several vectors at once, [vectors, rows], rows one after the other. `padding`: floats between
    /// two vectors, and between two results, where nothing may be written.
    func multiply(
        _ x: [Float], vectors count: Int, level: skein_level, adding y: [Float]? = nil,
        padding: Int = 0
    ) -> [Float] {
        let (rows, columns) = (matrix.rows, matrix.columns)
        if padding > 0 {
            var wide: [Float] = []
            for v in 0..<count {
                wide += x[(v * columns)..<((v + 1) * columns)]
                wide += [Float](repeating: .nan, count: padding)
            }
            return multiply(
                wide, vectors: count, level: level, y, columns + padding, rows + padding)
        }
        return multiply(x, vectors: count, level: level, y, columns, rows)
    }

    private func multiply(
        _ x: [Float], vectors count: Int, level: skein_level, _ y: [Float]?, _ strideX: Int,
        _ strideY: Int
    ) -> [Float] {
        let (rows, columns) = (matrix.rows, matrix.columns)
        let stride = InterleavedMatrix.spreadStride(columns: columns)
        var spread = [Float](repeating: .nan, count: count * stride)
        var out = [Float](repeating: 12345, count: count * strideY)
        for v in 0..<count {
            for r in 0..<rows { out[v * strideY + r] = y?[v * rows + r] ?? .nan }
        }
        x.withUnsafeBufferPointer { x in
            spread.withUnsafeMutableBufferPointer { spread in
                guard let x = x.baseAddress, let spread = spread.baseAddress else { return }
                for v in 0..<count {
                    skein_spread(level, x + v * strideX, columns, spread + v * stride)
                }
                var vectors = skein_vectors(
                    x: x, stride_x: strideX, spread: spread, stride_spread: stride, count: count)
                skein_matvec_rows(
                    level, matrix.element.kernel, memory.base, columns, matrix.groups, &vectors,
                    &out, strideY, rows, y == nil ? 0 : 1)
            }
        }
        let isUntouched = (0..<count).allSatisfy { v in
            out[(v * strideY + rows)..<((v + 1) * strideY)].allSatisfy { $0 == 12345 }
        }
        precondition(isUntouched, "written between two results")
        return (0..<count).flatMap { out[($0 * strideY)..<($0 * strideY + rows)] }
    }

    /// All columns of a group at a level, [columns, 16].
    func unpack(_ group: Int, level: skein_level) -> [Float] {
        var out = [Float](repeating: .nan, count: matrix.columns * InterleavedMatrix.groupRows)
        let bytes = skein_packed_group_bytes(matrix.element.kernel, matrix.columns)
        skein_unpack_group(
            level, matrix.element.kernel, memory.base + group * bytes, 0, matrix.columns, &out,
            InterleavedMatrix.groupRows)
        return out
    }
}

extension InterleavedMatrix.Element {
    var isPlain: Bool { [.bf16, .f16, .f32].contains(self) }

    /// The fewest columns, `count` or more, that fill whole blocks.
    func whole(_ count: Int) -> Int {
        let block = isPlain ? 1 : [.q4K, .q5K, .q6K].contains(self) ? 256 : 32
        return (count + block - 1) / block * block
    }
}
