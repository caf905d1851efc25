import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors
import Synchronization

/// Collects the matrices that will be resident, then fills them on several threads.
struct WeightLoader {
    private enum Target {
        case single(FloatBuffer)
        case packed(PackedWeight)
        case quantized(QuantizedWeight)
    }

    /// Rows that are dequantized at once; small enough that they stay in the cache for packing.
    private static let pieceRows = 256

    let residence: WeightResidence
    let compute: ComputeType
    private var pending: [(view: TensorView, target: Target)] = []

    init(residence: WeightResidence, compute: ComputeType) {
        self.residence = residence
        self.compute = compute
    }

    /// The matrix of a tensor; a resident one is empty until `run`.
    ///
    /// - Throws: `PackedMatrixError` when memory cannot be allocated.
    mutating func add(_ view: TensorView) throws -> WeightMatrix {
        guard residence == .resident else {
            return WeightMatrix(streaming: view, compute: compute)
        }
        switch compute {
        case .fp32:
            let buffer = FloatBuffer(count: view.rows * view.columns)
            pending.append((view, .single(buffer)))
            return WeightMatrix(.resident(buffer), rows: view.rows, columns: view.columns)
        case .bf16:
            let weight = try PackedWeight(rows: view.rows, columns: view.columns)
            pending.append((view, .packed(weight)))
            return WeightMatrix(.packed(weight), rows: view.rows, columns: view.columns)
        case .int8:
            let weight = try QuantizedWeight(outputs: view.rows, inputs: view.columns)
            pending.append((view, .quantized(weight)))
            return WeightMatrix(.quantized(weight), rows: view.rows, columns: view.columns)
        }
    }

    /// Fills every matrix once; the pieces are disjoint.
    ///
    /// - Parameters:
    ///   - threads: how many dequantize at once.
    ///   - progress: gets each piece's bytes in the file; false ends the loading.
    /// - Returns: whether all matrices were filled.
    func run(threads: Int, progress: @Sendable (Int) -> Bool) -> Bool {
        let pieces = pending.flatMap { item in
            stride(from: 0, to: item.view.rows, by: Self.pieceRows).map { first in
                (item.view, item.target, first..<min(first + Self.pieceRows, item.view.rows))
            }
        }
        let widest = compute == .fp32 ? 0 : pending.reduce(0) { max($0, $1.view.columns) }
        let lanes = max(1, threads)
        let isWanted = Atomic<Bool>(true)
        BriefThreads.perform(lanes) { lane in
            let scratch = FloatBuffer(count: Self.pieceRows * widest)
            let room = FloatBuffer(
                count: compute == .int8
                    ? QuantizedWeight.packingBytes(rows: Self.pieceRows, inputs: widest) / 4 : 0)
            for index in stride(from: lane, to: pieces.count, by: lanes) {
                guard isWanted.load(ordering: .relaxed) else { return }
                let (view, target, rows) = pieces[index]
                switch target {
                case .single(let buffer):
                    view.dequantize(
                        rows: rows, into: buffer.base + rows.lowerBound * view.columns)
                case .packed(let weight):
                    view.dequantize(rows: rows, into: scratch.base)
                    weight.pack(rows: rows, from: scratch.base)
                case .quantized(let weight):
                    view.dequantize(rows: rows, into: scratch.base)
                    weight.pack(
                        scratch.base, first: rows.lowerBound, count: rows.count,
                        scratch: room.base)
                }
                if !progress(view.byteCount / view.rows * rows.count) {
                    isWanted.store(false, ordering: .relaxed)
                }
            }
        }
        return isWanted.load(ordering: .relaxed)
    }
}
