import SkeinTensors

/// How a layer turns queries and keys by their positions.
struct Rotation: Sendable {
    /// nil: it does not.
    private let table: RotaryEmbedding?
    /// For rows of more tokens than `longFrom`; nil: one table for all.
    private let long: RotaryEmbedding?
    private let longFrom: Int
    /// The factor of a query at each position; empty: 1.
    private let growth: [Float]

    /// The rotations of all layers for positions 0 ..< `positions`; layers share tables.
    static func ofLayers(_ design: DecoderDesign, positions: Int) -> [Rotation] {
        let tables = design.rotaryTables.map { table in
            (
                short: RotaryEmbedding(table, table.divisors, positions: positions),
                long: table.longDivisors.map {
                    RotaryEmbedding(table, $0, positions: positions)
                }
            )
        }
        return design.blocks.map { block in
            let index = block.rotaryTable
            return Rotation(
                table: index.map { tables[$0].short }, long: index.flatMap { tables[$0].long },
                longFrom: index.map { design.rotaryTables[$0].longFrom } ?? 0,
                growth: block.queryGrowth?.factors(positions: positions) ?? [])
        }
    }

    /// Whether rows of some lengths are turned differently from others.
    var dependsOnLength: Bool { long != nil }

    /// Whether rows of these two lengths are turned differently.
    func differs(_ one: Int, _ other: Int) -> Bool {
        long != nil && (one > longFrom) != (other > longFrom)
    }

    /// Turns queries, [tokens, heads * N], in place.
    ///
    /// Shapes and ranges:
    ///   - x: the queries, or their gradient.
    ///   - first: position of the first; the others follow.
    ///   - length: tokens of the whole row, as far as it is known.
    ///   - inverse: the backward pass.
    func turnQueries(
        _ x: UnsafeMutablePointer<Float>, tokens: Int, heads: Int, headDimension: Int, first: Int,
        length: Int, inverse: Bool = false
    ) {
        turnKeys(x, tokens: tokens, heads: heads, first: first, length: length, inverse: inverse)
        if growth.isEmpty { return }
        let width = heads * headDimension
        for t in 0..<tokens where growth[first + t] != 1 {
            Vector.scale(x + t * width, width, by: growth[first + t])
        }
    }

    /// Turns keys, [tokens, heads * N], in place. Arguments as in `turnQueries`.
    func turnKeys(
        _ x: UnsafeMutablePointer<Float>, tokens: Int, heads: Int, first: Int, length: Int,
        inverse: Bool = false
    ) {
        (length > longFrom ? long ?? table : table)?.rotate(
            x, tokens: tokens, heads: heads, firstPosition: first, inverse: inverse)
    }
}

extension RotaryEmbedding {
    /// One of a design's tables for positions 0 ..< `positions`.
    fileprivate init(_ table: DecoderDesign.RotaryTable, _ divisors: [Float]?, positions: Int) {
        self.init(
            headDimension: table.dimension, theta: table.theta, divisors: divisors,
            positions: positions)
    }
}
