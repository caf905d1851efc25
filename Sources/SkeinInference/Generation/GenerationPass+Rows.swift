import SkeinModels
import SkeinTensors

/// A few tokens, each at the end of its own sequence: products of packed weights with vectors, as
/// fast as memory delivers the weights, or as multiply-adds are done.
extension GenerationPass {
    /// Pieces of a product for each thread: enough that they end at about the same time.
    private static let piecesPerThread = 8
    /// From this number of keys on, sharing out the heads pays.
    private static let keysWorthSharing = 32

    /// A projection and where its result goes, [R, out].
    private typealias Product = (module: TargetModule, out: UnsafeMutablePointer<Float>)

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
        add(.output, layer, batch, memory.attended, norm: vectors.afterAttention, to: x)
        activate(layer, batch, normalize(x, rows: count, vectors.beforeFeedForward))
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

    /// The products of the inputs with the adapters' A: run by run, each of rows of one adapter.
    private func reduce(
        _ modules: [TargetModule], _ layer: Int, _ batch: RowBatch,
        _ vectors: InterleavedMatrix.Vectors
    ) {
        let memory = self.memory
        var pieces: [(projection: GenerationProjection, rows: Range<Int>, place: Int)] = []
        for run in batch.runs where run.projections.rank > 0 {
            for (i, module) in modules.enumerated() {
                let projection = run.projections[layer, module]
                if projection.adapter != nil { pieces.append((projection, run.rows, i)) }
            }
        }
        let plan = pieces
        func reduce(_ piece: Int) {
            let (projection, rows, place) = plan[piece]
            projection.reduce(
                vectors[rows], into: memory.reduced[place] + rows.lowerBound * memory.rank)
        }
        if batch.rows.count == 1 {
            for piece in plan.indices { reduce(piece) }
        } else if !plan.isEmpty {
            team.run(plan.count) { piece, _ in reduce(piece) }
        }
    }

    /// All products of the same inputs in one fork.
    private func multiply(
        _ products: [Product], _ layer: Int, _ batch: RowBatch, _ x: UnsafePointer<Float>,
        adding: Bool = false
    ) {
        let base = batch.runs[0].projections
        let weights = products.map { base[layer, $0.module].weight }
        let vectors = spread(x, rows: batch.rows.count, columns: weights[0].columns)
        reduce(products.map(\.module), layer, batch, vectors)
        run(groups: weights.reduce(0) { $0 + $1.groups }) { range in
            var first = 0
            for (i, product) in products.enumerated() {
                let count = weights[i].groups
                let own = range.clamped(to: first..<(first + count))
                if !own.isEmpty {
                    self.multiply(
                        groups: (own.lowerBound - first)..<(own.upperBound - first),
                        product.module, layer, batch, vectors, reduced: i, into: product.out,
                        adding: adding)
                }
                first += count
            }
        }
    }

    /// Y = (adding ? Y : 0) + X W^T + bias + B reduced for the rows of some groups of W.
    private func multiply(
        groups: Range<Int>, _ module: TargetModule, _ layer: Int, _ batch: RowBatch,
        _ vectors: InterleavedMatrix.Vectors, reduced place: Int,
        into y: UnsafeMutablePointer<Float>, adding: Bool
    ) {
        let base = batch.runs[0].projections[layer, module]
        let stride = base.weight.rows
        let first = groups.lowerBound * InterleavedMatrix.groupRows
        let end = min(stride, groups.upperBound * InterleavedMatrix.groupRows)
        scaling(batch.runs[...], module, layer, columns: first..<end, of: y, adding: adding) {
            base.weight.multiply(groups: groups, vectors, into: y, stride: stride, adding: adding)
        }
        base.addBias(groups: groups, rows: vectors.count, to: y)
        for run in batch.runs where run.projections.rank > 0 {
            run.projections[layer, module].expand(
                groups: groups, memory.reduced[place] + run.rows.lowerBound * memory.rank,
                rows: run.rows.count, addingTo: y + run.rows.lowerBound * stride)
        }
    }

    /// Calls `body`; the rows of runs whose adapters have gains get its product scaled.
    private func scaling(
        _ runs: ArraySlice<RowBatch.Run>, _ module: TargetModule, _ layer: Int,
        columns: Range<Int>, of y: UnsafeMutablePointer<Float>, adding: Bool, _ body: () -> Void
    ) {
        guard let run = runs.first else { return body() }
        let projection = run.projections[layer, module]
        projection.scaling(
            columns: columns, rows: run.rows.count,
            of: y + run.rows.lowerBound * projection.weight.rows, adding: adding
        ) {
            scaling(runs.dropFirst(), module, layer, columns: columns, of: y, adding: adding, body)
        }
    }

    /// gate = f(gate(x)) * up(x), in one fork.
    private func activate(_ layer: Int, _ batch: RowBatch, _ x: UnsafePointer<Float>) {
        let gate = batch.runs[0].projections[layer, .gate].weight
        let activation = model.design.blocks[layer].activation
        let (g, u) = (memory.gate, memory.up)
        let count = batch.rows.count
        let vectors = spread(x, rows: count, columns: gate.columns)
        reduce([.gate, .up], layer, batch, vectors)
        run(groups: gate.groups) { groups in
            for (i, (module, out)) in [(TargetModule.gate, g), (.up, u)].enumerated() {
                self.multiply(
                    groups: groups, module, layer, batch, vectors, reduced: i, into: out,
                    adding: false)
            }
            let first = groups.lowerBound * InterleavedMatrix.groupRows
            let end = min(gate.rows, groups.upperBound * InterleavedMatrix.groupRows)
            for row in 0..<count {
                let at = row * gate.rows + first
                activation.forward(gate: g + at, up: u + at, count: end - first, into: g + at)
            }
        }
    }

    /// A piece of work is the heads that share keys and values, or one head if there is but one row:
    /// then the pieces must be enough for all threads.
    private func attend(_ layer: Int, _ batch: RowBatch) {
        let memory = self.memory
        let rows = batch.rows
        let (heads, width) = (model.headCount, model.headCount * model.headDimension)
        let together = rows.count == 1 ? 1 : heads / model.keyValueHeadCount
        let pieces = heads / together
        func attend(_ piece: Int, _ thread: Int) {
            let row = rows[piece / pieces]
            let first = piece % pieces * together
            row.sequence.attentions[layer].attend(
                heads: first..<(first + together), q: memory.q + piece / pieces * width,
                layer: row.sequence.cached(layer), keys: row.position + 1,
                out: memory.attended + piece / pieces * width, scratch: memory.scratch[thread])
        }
        if rows.reduce(0, { $0 + $1.position + 1 }) < Self.keysWorthSharing {
            for piece in 0..<rows.count * pieces { attend(piece, 0) }
        } else {
            team.run(rows.count * pieces, attend)
        }
    }
}
