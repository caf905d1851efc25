import SkeinTensors

/// One token: products of packed weights with a vector, as fast as memory delivers the weights.
extension DecoderSession {
    /// Pieces of a product for each thread: enough that they end at about the same time.
    private static let piecesPerThread = 8
    /// From this number of keys on, sharing out the heads pays.
    private static let keysWorthSharing = 32

    /// A projection and where its result goes.
    typealias Product = (projection: GenerationProjection, out: UnsafeMutablePointer<Float>)

    /// x' = x + attention(norm(x)); x'' = x' + feedForward(norm(x')) for one token, in place.
    ///
    /// Shapes and ranges:
    ///   - x: [D].
    ///   - isCached: its key and value are in the cache already.
    func readToken(
        _ layer: Int, _ x: UnsafeMutablePointer<Float>, position: Int, isCached: Bool = false
    ) {
        let block = weights.blocks[layer]
        let query = (projections[layer, .query], memory.q)
        normalize(x, block.inputNorm)
        if isCached {
            multiply([query], memory.normed)
        } else {
            multiply(
                [
                    query, (projections[layer, .key], memory.k),
                    (projections[layer, .value], memory.v),
                ], memory.normed)
            rotary[layer].rotate(
                memory.k, tokens: 1, heads: model.keyValueHeadCount, firstPosition: position)
            attention.append(
                k: memory.k, v: memory.v, tokens: 1, position: position, to: cached(layer))
        }
        rotary[layer].rotate(memory.q, tokens: 1, heads: model.headCount, firstPosition: position)
        attend(layer, keys: position + 1)
        multiply([(projections[layer, .output], x)], memory.attended, adding: true)
        normalize(x, block.middleNorm)
        activate(layer)
        multiply([(projections[layer, .down], x)], memory.gate, adding: true)
    }

    /// logits = head(normed).
    func predict(_ normed: UnsafePointer<Float>) {
        let head = GenerationProjection(weight: weights.head, adapter: nil)
        multiply([(head, memory.logits)], normed)
    }

    private func normalize(_ x: UnsafePointer<Float>, _ weight: FloatBuffer) {
        RMSNorm.forward(
            x, weight: weight.base, epsilon: model.normEpsilon, tokens: 1, width: model.width,
            into: memory.normed, inverse: memory.inverse)
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

    /// gate = silu(gate(normed)) * up(normed), in one fork.
    private func activate(_ layer: Int) {
        let (gate, up) = (projections[layer, .gate], projections[layer, .up])
        let (g, u, x) = (memory.gate, memory.up, memory.normed)
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
            SwiGLU.forward(gate: g + first, up: u + first, count: end - first, into: g + first)
        }
    }

    private func attend(_ layer: Int, keys: Int) {
        let (attention, memory, cached) = (self.attention, self.memory, cached(layer))
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
