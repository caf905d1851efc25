import SkeinBasics

/// Which training rows stand in an epoch, where files have weights that are no whole numbers.
///
/// Each epoch draws its part of such a file anew: the beginning of a permutation of the file's rows that
/// depends on the seed, the file's place and the epoch.
package struct EpochDraw: Sendable, Equatable {
    /// Neighbours among the training rows.
    package struct Piece: Sendable, Equatable {
        package let rows: Range<Int>
        /// How many of them stand in an epoch, and the place of their file; nil: all.
        package let drawn: (count: Int, place: UInt32)?

        package static func == (a: Piece, b: Piece) -> Bool {
            a.rows == b.rows && a.drawn?.count == b.drawn?.count && a.drawn?.place == b.drawn?.place
        }
    }

    package let pieces: [Piece]

    /// Rows of an epoch.
    package var rowCount: Int { pieces.reduce(0) { $0 + ($1.drawn?.count ?? $1.rows.count) } }

    /// The training rows that stand in an epoch, ascending.
    ///
    /// - Parameters:
    ///   - epoch: counted from 1.
    ///   - seed: of the run.
    /// - Returns: their indices.
    package func rows(ofEpoch epoch: Int, seed: UInt64) -> [Int] {
        var result: [Int] = []
        result.reserveCapacity(rowCount)
        for piece in pieces {
            guard let drawn = piece.drawn else {
                result += piece.rows
                continue
            }
            let order = AddressedRandom(seed: seed, purpose: .dataShare).permutation(
                count: piece.rows.count, drawn.place, UInt32(truncatingIfNeeded: epoch - 1))
            result += order.prefix(drawn.count).sorted().map { piece.rows.lowerBound + $0 }
        }
        return result
    }
}
