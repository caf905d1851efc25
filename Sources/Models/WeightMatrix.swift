import Basics
import Formats
import Tensors

/// One frozen matrix of the base model, [rows, columns], either ready as fp32 or dequantized each
/// time from the mapped file. Both give the same bits.
public struct WeightMatrix: Sendable {
    enum Storage {
        case resident(FloatBuffer)
        case streamed(TensorView)
    }

    public let rows: Int
    public let columns: Int
    let storage: Storage

    /// A matrix dequantized at each use into the caller's scratch.
    init(streaming view: TensorView) {
        rows = view.rows
        columns = view.columns
        storage = .streamed(view)
    }

    /// A matrix that lies in memory as fp32.
    init(resident buffer: FloatBuffer, rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
        storage = .resident(buffer)
    }

    /// Calls `body` with rows `range` as fp32, row-major.
    ///
    /// `scratch`: room for the rows; untouched when the matrix is resident.
    @inline(__always)
    func withRows<Result>(
        _ range: Range<Int>, scratch: UnsafeMutablePointer<Float>,
        _ body: (UnsafePointer<Float>) -> Result
    ) -> Result {
        switch storage {
        case .resident(let buffer):
            return body(UnsafePointer(buffer.base + range.lowerBound * columns))
        case .streamed(let view):
            view.dequantize(rows: range, into: scratch)
            return body(UnsafePointer(scratch))
        }
    }

    /// Copies one row as fp32.
    func copyRow(_ row: Int, into out: UnsafeMutablePointer<Float>) {
        switch storage {
        case .resident(let buffer):
            out.update(from: buffer.base + row * columns, count: columns)
        case .streamed(let view):
            view.dequantize(rows: row..<(row + 1), into: out)
        }
    }
}
