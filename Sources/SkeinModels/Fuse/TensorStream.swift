import SkeinFormats
import SkeinTensors

/// How far what was written of a tensor is from its numbers.
package struct Deviation: Sendable, Equatable {
    /// Sums over all numbers.
    package var errorSquares = 0.0
    package var squares = 0.0

    /// Root mean square of the differences in units of that of the numbers.
    package var relative: Double { squares > 0 ? (errorSquares / squares).squareRoot() : 0 }

    static func += (left: inout Deviation, right: Deviation) {
        left.errorSquares += right.errorSquares
        left.squares += right.squares
    }
}

/// Encodes merged tensors in blocks of rows on the threads of a team; in memory are the blocks of
/// one round. Blocks are a function of the tensor's shape, so nothing depends on the threads.
final class TensorStream {
    typealias Append = GGUFWriter.Tensor.Append

    /// Floats in a block of rows: 1 MiB, and a row at least.
    private static let blockFloats = 1 << 18

    private let team: ComputeTeam
    /// Gets the number of floats that were encoded since its last call; what it throws ends the work.
    private let progress: (Int) throws -> Void

    init(team: ComputeTeam, progress: @escaping (Int) throws -> Void) {
        self.team = team
        self.progress = progress
    }

    /// What one piece of work gives.
    private struct Block {
        var deviation = Deviation()
        /// The first row with a number that the type does not have.
        var badRow: Int?
    }

    /// Appends all bytes of a tensor.
    ///
    /// - Parameters:
    ///   - tensor: its numbers.
    ///   - type: of `ElementType.written`; its blocks divide the rows.
    ///   - name: for the error.
    ///   - append: gets the bytes in order.
    /// - Returns: how far they are from the numbers.
    /// - Throws: `FuseError.notFinite`; what `append` throws.
    func write(
        _ tensor: MergedTensor, as type: ElementType, name: String, _ append: Append
    ) throws -> Deviation {
        let columns = tensor.columns
        let blockRows = max(1, Self.blockFloats / max(1, columns))
        let blocks = (tensor.rows + blockRows - 1) / blockRows
        let slots = min(blocks, 2 * team.threadCount)
        let size = min(blockRows, tensor.rows) * columns
        let floats = (0..<slots).map { _ in FloatBuffer(count: size) }
        let decoded = (0..<slots).map { _ in FloatBuffer(count: size) }
        let rowBytes = columns / type.blockElements * type.blockBytes
        // Four bytes hold a number in any type that is written.
        let encoded = (0..<slots).map { _ in FloatBuffer(count: size) }
        var deviation = Deviation()
        for first in stride(from: 0, to: blocks, by: max(1, slots)) {
            let count = min(slots, blocks - first)
            func rows(_ slot: Int) -> Range<Int> {
                let start = (first + slot) * blockRows
                return start..<min(start + blockRows, tensor.rows)
            }
            var results = [Block](repeating: Block(), count: count)
            results.withUnsafeMutableBufferPointer { results in
                guard let results = results.baseAddress else { return }
                team.run(count) { slot, _ in
                    results[slot] = Self.encode(
                        tensor, rows(slot), type, floats[slot].base, encoded[slot].base,
                        decoded[slot].base)
                }
            }
            for slot in 0..<count {
                if let row = results[slot].badRow {
                    throw FuseError.notFinite(tensor: name, row: row, type: type.name)
                }
                deviation += results[slot].deviation
                try append(
                    UnsafeRawBufferPointer(
                        start: encoded[slot].base, count: rows(slot).count * rowBytes))
                try progress(rows(slot).count * columns)
            }
        }
        return deviation
    }

    private static func encode(
        _ tensor: MergedTensor, _ rows: Range<Int>, _ type: ElementType,
        _ floats: UnsafeMutablePointer<Float>, _ encoded: UnsafeMutablePointer<Float>,
        _ decoded: UnsafeMutablePointer<Float>
    ) -> Block {
        tensor.read(rows, into: floats)
        let count = rows.count * tensor.columns
        let largest = type.largest
        var block = Block()
        // Also for NaN.
        if let bad = (0..<count).first(where: { !(abs(floats[$0]) <= largest) }) {
            block.badRow = rows.lowerBound + bad / max(1, tensor.columns)
            return block
        }
        type.encode(floats, blocks: count / type.blockElements, into: encoded)
        if type == .f32 {
            for index in 0..<count {
                block.deviation.squares += Double(floats[index]) * Double(floats[index])
            }
            return block
        }
        type.dequantize(from: encoded, blocks: count / type.blockElements, into: decoded)
        for index in 0..<count {
            let x = Double(floats[index])
            let difference = Double(decoded[index]) - x
            block.deviation.errorSquares += difference * difference
            block.deviation.squares += x * x
        }
        return block
    }

    /// Appends the bytes of a tensor as its file has them.
    ///
    /// - Parameters:
    ///   - view: a tensor of one element type, in the order of its file.
    ///   - append: gets the bytes.
    /// - Throws: what `append` throws.
    func copy(_ view: TensorView, _ append: Append) throws {
        guard view.elementCount > 0 else { return }
        let rowBytes = view.byteCount / view.rows
        let step = max(1, (Self.blockFloats * 4) / max(1, rowBytes))
        for first in stride(from: 0, to: view.rows, by: step) {
            let count = min(step, view.rows - first)
            let failure: (any Error)? = view.withRowAddresses(first..<(first + 1)) { addresses in
                guard let start = addresses.first else { return nil }
                do {
                    try append(UnsafeRawBufferPointer(start: start, count: count * rowBytes))
                    return nil
                } catch {
                    return error
                }
            }
            if let failure { throw failure }
            try progress(count * view.columns)
        }
    }
}
