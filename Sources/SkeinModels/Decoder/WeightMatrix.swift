import SkeinBasics
import SkeinFormats
import SkeinTensors

/// One frozen matrix of the base model, [rows, columns], ready for products or made ready for each
/// from the mapped file. Both give the same bits.
package struct WeightMatrix: Sendable {
    enum Storage {
        /// fp32, row-major.
        case resident(FloatBuffer)
        /// Dequantized to fp32 for each product.
        case streamed(TensorView)
        /// bf16, packed once for both directions.
        case packed(PackedWeight)
        /// Dequantized and packed to bf16 for each product.
        case packing(TensorView)
        /// 8-bit integers, packed once for both directions.
        case quantized(QuantizedWeight)
        /// Dequantized, and quantized to 8-bit integers, for each product.
        case quantizing(TensorView)
    }

    /// What its products take as input.
    enum Input { case single, rounded, quantized }

    package let rows: Int
    package let columns: Int
    let storage: Storage

    init(_ storage: Storage, rows: Int, columns: Int) {
        self.storage = storage
        self.rows = rows
        self.columns = columns
    }

    /// A matrix that is made ready for each use, in the caller's scratch.
    init(streaming view: TensorView, compute: ComputeType) {
        let storage: Storage =
            switch compute {
            case .fp32: .streamed(view)
            case .bf16: .packing(view)
            case .int8: .quantizing(view)
            }
        self.init(storage, rows: view.rows, columns: view.columns)
    }

    var input: Input {
        switch storage {
        case .resident, .streamed: .single
        case .packed, .packing: .rounded
        case .quantized, .quantizing: .quantized
        }
    }

    /// What a product uses besides its operands.
    struct Tools {
        let matMul: MatMul
        /// Room for a weight that is not resident.
        let scratch: UnsafeMutablePointer<Float>
        /// Room for a gradient that an int8 weight quantizes.
        let quantized: UnsafeMutableRawPointer

        /// Adds a product that `matMul` does not compute to a benchmark's tally.
        fileprivate func count(
            _ kind: MatMulTally.Kind = .packed, m: Int, n: Int, k: Int
        ) {
            matMul.tally?.add(MatMulTally.Shape(kind: kind, m: m, n: n, k: k))
        }
    }

    /// y = x W^T, or y += it, for rows `range` of W.
    ///
    /// Shapes and ranges:
    ///   - range: of W's rows; its start is a multiple of 64.
    ///   - x: [T, columns].
    ///   - y: [T, range.count], `strideY` floats from one row to the next.
    ///   - rounded: receives y as bf16, [T, range.count], rows `RoundedRows.stride(columns:)` apart,
    ///     from a bf16 weight when not accumulating; y is scratch then.
    func forward(
        rows range: Range<Int>, _ x: Operand, tokens: Int,
        into y: UnsafeMutablePointer<Float>, strideY: Int, accumulating: Bool,
        rounded: UnsafeMutablePointer<UInt16>? = nil, tools: Tools
    ) {
        switch (storage, x) {
        case (.resident(let buffer), .single(let x)):
            multiply(
                buffer.base + range.lowerBound * columns, range.count, x, tokens, y, strideY,
                accumulating, tools.matMul)
        case (.streamed(let view), .single(let x)):
            view.dequantize(rows: range, into: tools.scratch)
            multiply(tools.scratch, range.count, x, tokens, y, strideY, accumulating, tools.matMul)
        case (.packed(let weight), .rounded(let x)):
            tools.count(m: tokens, n: range.count, k: columns)
            weight.forward(
                rows: range, x, into: y, strideY: strideY, accumulating: accumulating,
                rounded: rounded,
                place: tools.matMul.place)
        case (.packing(let view), .rounded(let x)):
            tools.count(m: tokens, n: range.count, k: columns)
            StreamedProduct(outputs: range.count, inputs: columns).forward(
                x, into: y, stride: strideY, accumulating: accumulating, rounded: rounded,
                scratch: tools.scratch
            ) {
                let first = range.lowerBound + $0.lowerBound
                view.dequantize(rows: first..<first + $0.count, into: $1)
            }
        case (.quantized(let weight), .quantized(let x)):
            tools.count(.quantized, m: tokens, n: range.count, k: columns)
            weight.forward(
                rows: range, x, into: y, stride: strideY, accumulating: accumulating,
                place: tools.matMul.place)
        case (.quantizing(let view), .quantized(let x)):
            tools.count(.quantized, m: tokens, n: range.count, k: columns)
            StreamedQuantizedProduct(outputs: range.count, inputs: columns).forward(
                x, into: y, stride: strideY, accumulating: accumulating, scratch: tools.scratch
            ) {
                let first = range.lowerBound + $0.lowerBound
                view.dequantize(rows: first..<first + $0.count, into: $1)
            }
        default:
            preconditionFailure("a weight takes inputs of its own type")
        }
    }

    private func multiply(
        _ w: UnsafePointer<Float>, _ count: Int, _ x: UnsafePointer<Float>, _ tokens: Int,
        _ y: UnsafeMutablePointer<Float>, _ strideY: Int, _ accumulating: Bool, _ matMul: MatMul
    ) {
        matMul(
            m: tokens, n: count, k: columns, x, strideA: columns, w, .transposed,
            strideB: columns, into: y, strideC: strideY, accumulating: accumulating)
    }

    /// dx = dy W, or dx += it, for rows `range` of W.
    ///
    /// Shapes and ranges:
    ///   - range: of W's rows; its start is a multiple of 64.
    ///   - dy: [T, range.count]; rows of floats are `strideDY` apart.
    ///   - dx: [T, columns].
    ///   - rounded: receives dx as bf16, [T, columns], rows `RoundedRows.stride(columns:)` apart,
    ///     from a bf16 weight when not accumulating; dx is scratch then.
    func backward(
        rows range: Range<Int>, _ dy: Operand, strideDY: Int, tokens: Int,
        into dx: UnsafeMutablePointer<Float>, accumulating: Bool,
        rounded: UnsafeMutablePointer<UInt16>? = nil, tools: Tools
    ) {
        switch (storage, dy) {
        case (.resident(let buffer), .single(let dy)):
            tools.matMul(
                m: tokens, n: columns, k: range.count, dy, strideA: strideDY,
                buffer.base + range.lowerBound * columns, strideB: columns, into: dx,
                strideC: columns, accumulating: accumulating)
        case (.streamed(let view), .single(let dy)):
            view.dequantize(rows: range, into: tools.scratch)
            tools.matMul(
                m: tokens, n: columns, k: range.count, dy, strideA: strideDY, tools.scratch,
                strideB: columns, into: dx, strideC: columns, accumulating: accumulating)
        case (.packed(let weight), .rounded(let dy)):
            tools.count(m: tokens, n: columns, k: range.count)
            weight.backward(
                rows: range, dy, into: dx, accumulating: accumulating, rounded: rounded,
                place: tools.matMul.place)
        case (.packing(let view), .rounded(let dy)):
            tools.count(m: tokens, n: columns, k: range.count)
            StreamedProduct(outputs: range.count, inputs: columns).backward(
                dy, into: dx, stride: columns, accumulating: accumulating, scratch: tools.scratch
            ) {
                let first = range.lowerBound + $0.lowerBound
                view.dequantize(rows: first..<first + $0.count, into: $1)
            }
            if let rounded {
                _ = RoundedRows(
                    rounding: dx, stride: columns, rows: tokens, columns: columns, in: rounded)
            }
        case (.quantized(let weight), .single(let dy)):
            tools.count(.quantized, m: tokens, n: columns, k: range.count)
            weight.backward(
                rows: range, dy, strideDY: strideDY, tokens: tokens, into: dx,
                accumulating: accumulating, scratch: tools.quantized, place: tools.matMul.place)
        case (.quantizing(let view), .single(let dy)):
            tools.count(.quantized, m: tokens, n: columns, k: range.count)
            StreamedQuantizedProduct(outputs: range.count, inputs: columns).backward(
                dy, strideDY: strideDY, tokens: tokens, into: dx,
                accumulating: accumulating, quantized: tools.quantized, scratch: tools.scratch
            ) {
                let first = range.lowerBound + $0.lowerBound
                view.dequantize(rows: first..<first + $0.count, into: $1)
            }
        default:
            preconditionFailure("a weight takes gradients of its own type")
        }
    }

    /// Copies one row as fp32; the matrix must not be packed.
    package func copyRow(_ row: Int, into out: UnsafeMutablePointer<Float>) {
        switch storage {
        case .resident(let buffer):
            out.update(from: buffer.base + row * columns, count: columns)
        case .streamed(let view), .packing(let view), .quantizing(let view):
            view.dequantize(rows: row..<(row + 1), into: out)
        case .packed, .quantized:
            preconditionFailure("rows are not read back from a packed matrix")
        }
    }
}

/// The input of a product with a frozen weight, [T, columns].
package enum Operand {
    /// Rows contiguous.
    case single(UnsafePointer<Float>)
    /// bf16.
    case rounded(RoundedRows)
    /// 8-bit integers.
    case quantized(QuantizedRows)
}
