import SkeinTensors

/// One token: products of packed weights with a vector, as fast as memory delivers the weights.
extension DecoderSession {
    /// Pieces of a product for each thread: enough that they end at about the same time.
    private static let piecesPerThread = 8
    /// From this number of keys on, sharing out the heads pays.
    private static let keysWorthSharing = 32

    /// A projection and where its result goes.
    typealias Product = (projection: GenerationProjection, out: UnsafeMutablePointer<Float>)

    /// One token's x through a layer, in place, as `DecoderPass.blockForward` states it.
    ///
    /// Shapes and ranges:
    ///   - x: [D].
    ///   - isCached: its key and value are in the cache already.
    func readToken(
        _ layer: Int, _ x: UnsafeMutablePointer<Float>, position: Int, isCached: Bool = false
    ) {
        let vectors = weights.blocks[layer].vectors
        let query = (projections[layer, .query], memory.q)
        let input = normalize(x, vectors.beforeAttention)
        if isCached {
            multiply([query], input)
        } else {
            multiply(
                [
                    query, (projections[layer, .key], memory.k),
                    (projections[layer, .value], memory.v),
                ], input)
            turnKeys(layer, memory.k, tokens: 1, position: position)
            attentions[layer].append(
                k: memory.k, v: memory.v, tokens: 1, position: position, to: cached(layer))
        }
        turnQueries(layer, memory.q, tokens: 1, position: position)
        attend(layer, keys: position + 1)
        add(.output, layer, memory.attended, norm: vectors.afterAttention, to: x)
        activate(layer, normalize(x, vectors.beforeFeedForward))
        add(.down, layer, memory.gate, norm: vectors.afterFeedForward, to: x)
    }

    /// y += m norm(W x).
    private func add(
        _ module: TargetModule, _ layer: Int, _ x: UnsafePointer<Float>, norm: FloatBuffer?,
        to y: UnsafeMutablePointer<Float>
    ) {
        let projection = projections[layer, module]
        guard addsDirectly(layer, norm) else {
            multiply([(projection, memory.branch)], x)
            addBranch(layer, norm, tokens: 0..<1, to: y)
            return
        }
        multiply([(projection, y)], x, adding: true)
    }

    /// logits = head(normed).
    func predict(_ normed: UnsafePointer<Float>) {
        let head = GenerationProjection(weight: weights.head, adapter: nil)
        multiply([(head, memory.logits)], normed)
    }

    /// x, or its norm.
    private func normalize(
        _ x: UnsafePointer<Float>, _ weight: FloatBuffer?
    ) -> UnsafePointer<Float> {
        guard let weight else { return x }
        RMSNorm.forward(
            x, weight: weight.base, epsilon: model.normEpsilon, tokens: 1, width: model.width,
            into: memory.normed, inverse: memory.inverse)
        return UnsafePointer(memory.normed)
    }

    /// Splits `groups` into pieces; the result does not depend on how many.
    private func run(groups: Int, _ body: @escaping (Range<Int>) -> Void) {
        let threads = team.threadCount
        let pieces = threads == 1 ? 1 : max(1, min(groups, Self.piecesPerThread * threads))
        team.run(pieces) { piece, _ in
            body(piece * groups / pieces..<(piece + 1) * groups / pieces)
        }
    }

    /// All products of one vector in one fork.
    private func multiply(
        _ products: [Product], _ x: UnsafePointer<Float>, adding: Bool = false
    ) {
        let spread = memory.spread
        InterleavedMatrix.spread(x, columns: products[0].projection.weight.columns, into: spread)
        let reduced = memory.reduced
        var groups = 0
        for (i, product) in products.enumerated() {
            product.projection.reduce(x, into: reduced[i])
            groups += product.projection.weight.groups
        }
        run(groups: groups) { range in
            var first = 0
            for (i, product) in products.enumerated() {
                let count = product.projection.weight.groups
                let own = range.clamped(to: first..<(first + count))
                if !own.isEmpty {
                    product.projection.multiply(
                        groups: (own.lowerBound - first)..<(own.upperBound - first), x,
                        spread: spread, reduced: reduced[i], into: product.out, adding: adding)
                }
                first += count
            }
        }
    }

    /// gate = f(gate(x)) * up(x), in one fork.
    private func activate(_ layer: Int, _ x: UnsafePointer<Float>) {
        let (gate, up) = (projections[layer, .gate], projections[layer, .up])
        let activation = model.design.blocks[layer].activation
        let (g, u) = (memory.gate, memory.up)
        let (spread, reduced) = (memory.spread, memory.reduced)
        InterleavedMatrix.spread(x, columns: gate.weight.columns, into: spread)
        gate.reduce(x, into: reduced[0])
        up.reduce(x, into: reduced[1])
        run(groups: gate.weight.groups) { range in
            gate.multiply(
                groups: range, x, spread: spread, reduced: reduced[0], into: g, adding: false)
            up.multiply(
                groups: range, x, spread: spread, reduced: reduced[1], into: u, adding: false)
            let first = range.lowerBound * InterleavedMatrix.groupRows
            let end = min(gate.weight.rows, range.upperBound * InterleavedMatrix.groupRows)
            activation.forward(gate: g + first, up: u + first, count: end - first, into: g + first)
        }
    }

    private func attend(_ layer: Int, keys: Int) {
        let (attention, memory, cached) = (attentions[layer], self.memory, cached(layer))
        func attend(_ head: Int, _ thread: Int) {
            attention.attend(
                head: head, q: memory.q, layer: cached, keys: keys, out: memory.attended,
                scratch: memory.scratch[thread])
        }
        if keys < Self.keysWorthSharing {
            for head in 0..<attention.heads { attend(head, 0) }
        } else {
            team.run(attention.heads, attend)
        }
    }
}
