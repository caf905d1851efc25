import SkeinModels
import SkeinTensors

/// A few tokens, each at the end of its own sequence: products of packed weights with vectors, as
/// fast as memory delivers the weights, or as multiply-adds are done.
extension GenerationPass {
    /// Pieces of a product for each thread: enough that they end at about the same time.
    private static let piecesPerThread = 8
    /// Pieces of one row's heads for each thread.
    private static let headPiecesPerThread = 2
    /// From this number of keys on, sharing out the heads pays.
    private static let keysWorthSharing = 32

    private typealias Product = RowProducts.Request

    /// The rows' x through a layer, in place, as `DecoderPass.blockForward` states it.
    ///
    /// Shapes and ranges:
    ///   - x: [R, D].
    ///   - areCached: their keys and values are in the cache already.
    func readRows(
        _ layer: Int, _ batch: RowBatch, _ x: UnsafeMutablePointer<Float>, areCached: Bool = false
    ) {
        let vectors = weights.blocks[layer].vectors
        let count = batch.rows.count
        announce(.output, in: layer)
        let input = normalize(x, rows: count, vectors.beforeAttention)
        if areCached {
            multiply([(.query, memory.q)], layer, batch, input)
        } else {
            multiply(
                [(.query, memory.q), (.key, memory.k), (.value, memory.v)], layer, batch, input)
        }
        let (queries, keys) = (
            model.headCount * model.headDimension, model.keyValueHeadCount * model.headDimension
        )
        for (i, row) in batch.rows.enumerated() {
            turnQueries(
                layer, of: row.sequence, memory.q + i * queries, tokens: 1, position: row.position)
            if areCached { continue }
            let (k, v) = (memory.k + i * keys, memory.v + i * keys)
            turnKeys(layer, of: row.sequence, k, tokens: 1, position: row.position)
            row.sequence.attentions[layer].append(
                k: k, v: v, tokens: 1, position: row.position, to: row.sequence.cached(layer))
        }
        attend(layer, batch)
        announce(.gate, .up, in: layer)
        add(.output, layer, batch, memory.attended, norm: vectors.afterAttention, to: x)
        announce(.down, in: layer)
        activate(layer, batch, normalize(x, rows: count, vectors.beforeFeedForward))
        announceEnd(of: layer)
        add(.down, layer, batch, memory.gate, norm: vectors.afterFeedForward, to: x)
    }

    /// Y += m norm(X W^T).
    private func add(
        _ module: TargetModule, _ layer: Int, _ batch: RowBatch, _ x: UnsafePointer<Float>,
        norm: FloatBuffer?, to y: UnsafeMutablePointer<Float>
    ) {
        guard addsDirectly(layer, norm) else {
            multiply([(module, memory.branch)], layer, batch, x)
            addBranch(layer, norm, tokens: 0..<batch.rows.count, to: y)
            return
        }
        multiply([(module, y)], layer, batch, x, adding: true)
    }

    /// The rows, or their norms.
    private func normalize(
        _ x: UnsafePointer<Float>, rows: Int, _ weight: FloatBuffer?
    ) -> UnsafePointer<Float> {
        guard let weight else { return x }
        RMSNorm.forward(
            x, weight: weight.base, epsilon: model.normEpsilon, tokens: rows, width: model.width,
            into: memory.normed, inverse: memory.inverse)
        return UnsafePointer(memory.normed)
    }

    func spread(
        _ x: UnsafePointer<Float>, rows: Int, columns: Int
    ) -> InterleavedMatrix.Vectors {
        let stride = InterleavedMatrix.spreadStride(columns: columns)
        for row in 0..<rows {
            InterleavedMatrix.spread(
                x + row * columns, columns: columns, into: memory.spread + row * stride)
        }
        return InterleavedMatrix.Vectors(
            x: x, stride: columns, spread: memory.spread, spreadStride: stride, count: rows)
    }

    /// Splits `groups` into pieces; the result does not depend on how many.
    func run(groups: Int, _ body: @escaping (Range<Int>) -> Void) {
        let threads = team.threadCount
        let pieces = threads == 1 ? 1 : max(1, min(groups, Self.piecesPerThread * threads))
        team.run(pieces) { piece, _ in
            body(piece * groups / pieces..<(piece + 1) * groups / pieces)
        }
    }

    /// The products of the inputs with the adapters' A.
    private func reduce(_ products: RowProducts, _ vectors: InterleavedMatrix.Vectors, rows: Int) {
        let parts = products.parts
        if parts.isEmpty { return }
        func reduce(_ piece: Int) {
            let part = parts[piece]
            part.projection.reduce(vectors[part.rows], into: part.reduced)
        }
        if rows == 1 {
            for piece in parts.indices { reduce(piece) }
        } else {
            team.run(parts.count) { piece, _ in reduce(piece) }
        }
    }

    /// All products of the same inputs in one fork.
    private func multiply(
        _ products: [Product], _ layer: Int, _ batch: RowBatch, _ x: UnsafePointer<Float>,
        adding: Bool = false
    ) {
        let products = RowProducts(products, layer, batch, memory)
        let vectors = spread(
            x, rows: batch.rows.count, columns: products.products[0].projection.weight.columns)
        reduce(products, vectors, rows: batch.rows.count)
        products.withAddresses { products in
            run(groups: products.groups) { range in
                products.multiply(allGroups: range, vectors, adding: adding)
            }
        }
    }

    /// gate = f(gate(x)) * up(x), in one fork.
    private func activate(_ layer: Int, _ batch: RowBatch, _ x: UnsafePointer<Float>) {
        let activation = model.design.blocks[layer].activation
        let (g, u) = (memory.gate, memory.up)
        let count = batch.rows.count
        let products = RowProducts([(.gate, g), (.up, u)], layer, batch, memory)
        let gate = products.products[0].projection.weight
        let vectors = spread(x, rows: count, columns: gate.columns)
        reduce(products, vectors, rows: count)
        products.withAddresses { products in
            run(groups: gate.groups) { groups in
                products.multiply(0, groups: groups, vectors, adding: false)
                products.multiply(1, groups: groups, vectors, adding: false)
                let columns = gate.rows(ofGroups: groups)
                for row in 0..<count {
                    let at = row * gate.rows + columns.lowerBound
                    activation.forward(gate: g + at, up: u + at, count: columns.count, into: g + at)
                }
            }
        }
    }

    /// A piece of work is the heads that share keys and values, or a part of all heads if there is but
    /// one row: then the pieces must be enough for all threads, and few, because heads of one piece
    /// read their keys and values once.
    private func attend(_ layer: Int, _ batch: RowBatch) {
        let memory = self.memory
        let rows = batch.rows.map { row in
            Attending(
                attention: row.sequence.attentions[layer], cached: row.sequence.cached(layer),
                keys: row.position + 1)
        }
        let (heads, width) = (model.headCount, model.headCount * model.headDimension)
        let pieces =
            rows.count == 1
            ? min(heads, Self.headPiecesPerThread * team.threadCount) : model.keyValueHeadCount
        let isShared = rows.reduce(0) { $0 + $1.keys } >= Self.keysWorthSharing
        rows.withUnsafeBufferPointer { rows in
            memory.scratch.withUnsafeBufferPointer { scratch in
                func attend(_ piece: Int, _ thread: Int) {
                    let row = rows[piece / pieces]
                    let part = piece % pieces
                    row.attention.attend(
                        heads: part * heads / pieces..<(part + 1) * heads / pieces,
                        q: memory.q + piece / pieces * width,
                        layer: row.cached, keys: row.keys,
                        out: memory.attended + piece / pieces * width, scratch: scratch[thread])
                }
                if isShared {
                    team.run(rows.count * pieces, attend)
                } else {
                    for piece in 0..<rows.count * pieces { attend(piece, 0) }
                }
            }
        }
    }

    /// What one row sees, without references that threads would count.
    private struct Attending {
        let attention: CachedAttention
        let cached: UnsafeMutablePointer<Float>
        let keys: Int
    }
}
