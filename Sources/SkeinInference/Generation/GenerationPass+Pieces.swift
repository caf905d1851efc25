import SkeinModels
import SkeinTensors

/// How a prompt's products are shared out. No number depends on it: each belongs to one token and one row
/// of a weight.
extension GenerationPass {
    /// A part of one product.
    struct Piece {
        /// Which of the matrices.
        let matrix: Int
        /// Which of its rows, as groups.
        let groups: Range<Int>
        let tokens: Range<Int>
    }

    /// Pieces for each thread at least, where they do not become too small: then all threads end at about
    /// the same time.
    private static let piecesPerThread = 8
    /// Tokens of a piece in int8 at least: fewer would read the weights for too little work.
    private static let leastTokens = 64

    /// The pieces of products of one input with some matrices, for all threads.
    func pieces(of matrices: [InterleavedMatrix], tokens: Int) -> [Piece] {
        compute == .int8
            ? quantizedPieces(matrices, tokens) : floatPieces(matrices, tokens)
    }

    /// Panels as wide as a tile for all tokens, so that a weight is converted once; at the end halves of
    /// them.
    private func floatPieces(_ matrices: [InterleavedMatrix], _ tokens: Int) -> [Piece] {
        let (whole, threads) = (InterleavedMatrix.panelGroups, team.threadCount)
        var left = matrices.reduce(0) { $0 + $1.groups }
        var pieces: [Piece] = []
        for (index, matrix) in matrices.enumerated() {
            var first = 0
            while first < matrix.groups {
                let isEnd = threads > 1 && left <= whole * threads
                let count = min(matrix.groups - first, isEnd ? whole / 2 : whole)
                pieces.append(
                    Piece(matrix: index, groups: first..<first + count, tokens: 0..<tokens))
                first += count
                left -= count
            }
        }
        return pieces
    }

    /// Whole panels; if they are few, for some of the tokens each.
    private func quantizedPieces(_ matrices: [InterleavedMatrix], _ tokens: Int) -> [Piece] {
        let whole = QuantizedPanels.panelRows / InterleavedMatrix.groupRows
        let panels = matrices.reduce(0) { $0 + ($1.groups + whole - 1) / whole }
        let wanted = team.threadCount > 1 ? Self.piecesPerThread * team.threadCount : 1
        let cuts = max(1, min((wanted + panels - 1) / panels, tokens / Self.leastTokens))
        var pieces: [Piece] = []
        for (index, matrix) in matrices.enumerated() {
            for first in stride(from: 0, to: matrix.groups, by: whole) {
                let groups = first..<min(matrix.groups, first + whole)
                for cut in 0..<cuts {
                    let range = cut * tokens / cuts..<(cut + 1) * tokens / cuts
                    pieces.append(Piece(matrix: index, groups: groups, tokens: range))
                }
            }
        }
        return pieces
    }
}

extension GenerationProjection {
    /// A piece of Y = (adding ? Y : 0) + X W^T + bias + reduced B^T.
    ///
    /// Shapes and ranges:
    ///   - x: [T, in].
    ///   - reduced: [T, R].
    ///   - y: [T, out].
    func multiply(
        _ piece: GenerationPass.Piece, _ x: Operand, reduced: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>, adding: Bool, scratch: UnsafeMutablePointer<Float>
    ) {
        let (first, count) = (piece.tokens.lowerBound, piece.tokens.count)
        let part: Operand =
            switch x {
            case .single(let x): .single(x + first * weight.columns)
            case .rounded(let x):
                .rounded(
                    RoundedRows(
                        base: x.base + first * x.stride, rows: count, columns: x.columns,
                        stride: x.stride))
            case .quantized(let x): .quantized(x[piece.tokens])
            }
        multiply(
            groups: piece.groups, tokens: count, part, reduced: reduced + first * rank,
            into: y + first * weight.rows, adding: adding, scratch: scratch)
    }
}
