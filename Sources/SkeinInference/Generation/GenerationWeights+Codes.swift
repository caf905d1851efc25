import SkeinModels
import SkeinTensors

/// The second copy of the weights that prompts in int8 are multiplied by: a byte a weight, and a float for
/// 128.
extension GenerationWeights {
    /// Whether a block of a prompt is multiplied by a projection: in the last layer only the last token is
    /// read, as an answer, but for keys and values.
    private static func serves(_ projection: Int, in layer: Int, of design: DecoderDesign) -> Bool {
        if layer < design.blocks.count - 1 { return true }
        let places = design.blocks[layer].places
        return [TargetModule.key, .value].contains { places[$0.rawValue] == projection }
    }

    /// Bytes of the codes of matrices in the order of `sources`, [rows, columns] each.
    static func codeBytes(
        of shapes: [(rows: Int, columns: Int)], _ design: DecoderDesign
    ) -> Int {
        coded(design).reduce(0) { sum, place in
            let (rows, columns) = shapes[place.matrix]
            return sum + QuantizedPanels.bytes(outputs: rows, inputs: columns)
        }
    }

    /// The projections that have codes, and where their matrices stand: the embedding is the first one.
    private static func coded(
        _ design: DecoderDesign
    ) -> [(layer: Int, projection: Int, matrix: Int)] {
        var found: [(layer: Int, projection: Int, matrix: Int)] = []
        var matrix = 1
        for (layer, block) in design.blocks.enumerated() {
            for projection in block.projections.indices {
                if serves(projection, in: layer, of: design) {
                    found.append((layer, projection, matrix))
                }
                matrix += 1
            }
        }
        return found
    }

    /// Pieces between two calls of `check`: some ten milliseconds.
    private static let piecesBetweenChecks = 256

    /// Quantizes packed matrices, on all threads.
    ///
    /// Shapes and ranges:
    ///   - matrices: in the order of `sources`.
    ///
    /// - Returns: for each layer the codes of each projection, or nil where a prompt needs none.
    /// - Throws: `PackedMatrixError.noMemory`; what `check` throws.
    static func codes(
        of matrices: [InterleavedMatrix], _ design: DecoderDesign, team: ComputeTeam,
        check: () throws -> Void
    ) throws -> [[QuantizedPanels?]] {
        var codes: [[QuantizedPanels?]] = design.blocks.map {
            Array(repeating: nil, count: $0.projections.count)
        }
        var pieces: [(matrix: InterleavedMatrix, codes: QuantizedPanels, first: Int)] = []
        for place in coded(design) {
            let matrix = matrices[place.matrix]
            let made = try QuantizedPanels(outputs: matrix.rows, inputs: matrix.columns)
            codes[place.layer][place.projection] = made
            for first in stride(from: 0, to: matrix.rows, by: QuantizedPanels.panelRows) {
                pieces.append((matrix, made, first))
            }
        }
        let plan = pieces
        let widest = plan.reduce(1) { max($0, $1.matrix.columns) }
        let rooms = (0..<team.threadCount).map { _ in Room(columns: widest) }
        for start in stride(from: 0, to: plan.count, by: piecesBetweenChecks) {
            try check()
            team.run(min(piecesBetweenChecks, plan.count - start)) { piece, thread in
                let (matrix, codes, first) = plan[start + piece]
                rooms[thread].quantize(matrix, from: first, into: codes)
            }
        }
        return codes
    }

    /// A thread's scratch: rows of a panel as floats, and what their conversions need.
    private struct Room: Sendable {
        let floats: FloatBuffer
        let packing: FloatBuffer
        let scratch: FloatBuffer

        init(columns: Int) {
            let rows = QuantizedPanels.panelRows
            floats = FloatBuffer(count: rows * columns)
            packing = FloatBuffer(
                count: QuantizedPanels.packingBytes(rows: rows, inputs: columns) / 4)
            scratch = FloatBuffer(count: InterleavedMatrix.scratchCount)
        }

        func quantize(_ matrix: InterleavedMatrix, from first: Int, into codes: QuantizedPanels) {
            let size = InterleavedMatrix.groupRows
            let count = min(QuantizedPanels.panelRows, matrix.rows - first)
            for row in stride(from: 0, to: count, by: size) {
                matrix.copyGroup(
                    (first + row) / size, into: floats.base + row * matrix.columns,
                    scratch: scratch.base)
            }
            codes.pack(floats.base, first: first, count: count, scratch: packing.base)
        }
    }
}
