import SkeinBasics
import SkeinTensors

/// How a layer turns queries and keys by their positions.
package struct Rotation: Sendable {
    /// nil: it does not.
    private let table: RotaryEmbedding?
    /// For rows of more tokens than `longFrom`; nil: one table for all.
    private let long: RotaryEmbedding?
    private let longFrom: Int
    /// How queries grow with their position; nil: they do not.
    private let growth: PositionScale?

    /// The rotations of all layers for positions 0 ..< `positions`; layers share tables.
    package static func ofLayers(_ model: ModelConfiguration, positions: Int) -> [Rotation] {
        let (design, headDimension) = (model.design, model.headDimension)
        let tables = design.rotaryTables.map { table in
            (
                short: table.made(table.divisors, headDimension, positions: positions),
                long: table.longDivisors.map {
                    table.made($0, headDimension, positions: positions)
                }
            )
        }
        let scales = growths(of: design).map {
            (
                growth: $0,
                scale: PositionScale(
                    beta: $0.beta, original: $0.original, positions: positions)
            )
        }
        return design.blocks.map { block in
            let index = block.rotaryTable
            return Rotation(
                table: index.map { tables[$0].short }, long: index.flatMap { tables[$0].long },
                longFrom: index.map { design.rotaryTables[$0].longFrom } ?? 0,
                growth: scales.first { $0.growth == block.queryGrowth }?.scale)
        }
    }

    /// Each growth of queries that some layer has, once.
    private static func growths(of design: DecoderDesign) -> [BlockDesign.QueryGrowth] {
        design.blocks.reduce(into: []) { growths, block in
            if let growth = block.queryGrowth, !growths.contains(growth) { growths.append(growth) }
        }
    }

    /// Bytes of the tables of all layers: cosines and sines, and growths of queries.
    package static func byteCount(_ model: ModelConfiguration, positions: Int) -> Int {
        let perPosition = model.design.rotaryTables.reduce(growths(of: model.design).count) {
            $0 + ($1.longDivisors == nil ? 1 : 2) * $1.dimension
        }
        return perPosition.saturatingTimes(positions).saturatingTimes(MemoryLayout<Float>.stride)
    }

    /// Bytes that these rotations hold, each table once.
    package static func heldBytes(_ rotations: [Rotation]) -> Int {
        var seen: Set<Int> = []
        var floats = 0
        func count(_ numbers: [Float]?) {
            guard let numbers else { return }
            let address = numbers.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
            if seen.insert(address).inserted { floats += numbers.count }
        }
        for rotation in rotations {
            for table in [rotation.table, rotation.long] {
                count(table?.cosines)
                count(table?.sines)
            }
            count(rotation.growth?.factors)
        }
        return floats * MemoryLayout<Float>.stride
    }

    /// Whether rows of some lengths are turned differently from others.
    package var dependsOnLength: Bool { long != nil }

    /// Whether a row of `length` tokens is turned as a long one.
    package func isLong(_ length: Int) -> Bool { long != nil && length > longFrom }

    /// Whether rows of these two lengths are turned differently.
    package func differs(_ one: Int, _ other: Int) -> Bool {
        long != nil && (one > longFrom) != (other > longFrom)
    }

    /// Turns queries, [tokens, heads * N], in place.
    ///
    /// Shapes and ranges:
    ///   - x: the queries, or their gradient.
    ///   - first: position of the first; the others follow.
    ///   - length: tokens of the whole row, as far as it is known.
    ///   - inverse: the backward pass.
    package func turnQueries(
        _ x: UnsafeMutablePointer<Float>, tokens: Int, heads: Int, headDimension: Int, first: Int,
        length: Int, inverse: Bool = false
    ) {
        turnKeys(x, tokens: tokens, heads: heads, first: first, length: length, inverse: inverse)
        growth?.apply(x, tokens: tokens, width: heads * headDimension, firstPosition: first)
    }

    /// Turns keys, [tokens, heads * N], in place. Arguments as in `turnQueries`.
    package func turnKeys(
        _ x: UnsafeMutablePointer<Float>, tokens: Int, heads: Int, first: Int, length: Int,
        inverse: Bool = false
    ) {
        (length > longFrom ? long ?? table : table)?.rotate(
            x, tokens: tokens, heads: heads, firstPosition: first, inverse: inverse)
    }
}

extension DecoderDesign.RotaryTable {
    /// The table for positions 0 ..< `positions`.
    fileprivate func made(
        _ divisors: [Float]?, _ headDimension: Int, positions: Int
    ) -> RotaryEmbedding {
        RotaryEmbedding(
            headDimension: headDimension, theta: theta, divisors: divisors, positions: positions,
            dimension: dimension, factor: attentionFactor)
    }
}
