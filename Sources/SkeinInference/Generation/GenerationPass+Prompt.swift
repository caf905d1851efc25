import SkeinModels
import SkeinTensors

/// Many tokens: pieces of the weights, as floats, in bf16 or as 8-bit codes, are multiplied with many tokens
/// of a block at once.
extension GenerationPass {
    /// A projection and where its result goes.
    private typealias Product = (
        projection: GenerationProjection, out: UnsafeMutablePointer<Float>
    )

    /// Tokens in one piece of elementwise work.
    private static let rowTokens = 32

    /// Runs a layer over a block, in place. Only the last token's logits are wanted, so in the last
    /// layer the others give only keys and values.
    ///
    /// Shapes and ranges:
    ///   - tokens: of the residual stream, which follow those that the sequence has.
    ///   - wantsLast: the block's last token is the one whose logits are wanted.
    func readBlock(_ layer: Int, of sequence: CachedSequence, tokens: Int, wantsLast: Bool) {
        let projections = sequence.projections
        let vectors = weights.blocks[layer].vectors
        let isLastLayer = layer == model.layerCount - 1
        let input = normalize(tokens, vectors.beforeAttention)
        let keys: [Product] = [
            (projections[layer, .key], memory.k), (projections[layer, .value], memory.v),
        ]
        if isLastLayer {
            multiply(keys, input, tokens: tokens)
            store(layer, of: sequence, tokens: tokens, rotatesQueries: false)
            let last = memory.residual + (tokens - 1) * model.width
            if wantsLast {
                let position = sequence.count + tokens - 1
                let batch = RowBatch(cached: sequence, positions: position..<position + 1)
                readRows(layer, batch, last, areCached: true)
            }
            return
        }
        multiply([(projections[layer, .query], memory.q)] + keys, input, tokens: tokens)
        store(layer, of: sequence, tokens: tokens, rotatesQueries: true)
        attend(layer, of: sequence, tokens: tokens)
        add(
            projections[layer, .output], layer, memory.attended, tokens: tokens,
            norm: vectors.afterAttention)
        activate(
            layer, (projections[layer, .gate], projections[layer, .up]),
            normalize(tokens, vectors.beforeFeedForward), tokens: tokens)
        add(
            projections[layer, .down], layer, memory.gate, tokens: tokens,
            norm: vectors.afterFeedForward)
    }

    /// residual += m norm(X W^T).
    private func add(
        _ projection: GenerationProjection, _ layer: Int, _ x: UnsafePointer<Float>, tokens: Int,
        norm: FloatBuffer?
    ) {
        guard addsDirectly(layer, norm) else {
            multiply([(projection, memory.branch)], x, tokens: tokens)
            run(tokens: tokens) {
                self.addBranch(layer, norm, tokens: $0, to: self.memory.residual)
            }
            return
        }
        multiply([(projection, memory.residual)], x, tokens: tokens, adding: true)
    }

    /// Splits tokens into pieces of equal size.
    private func run(tokens: Int, _ body: @escaping (Range<Int>) -> Void) {
        team.run((tokens + Self.rowTokens - 1) / Self.rowTokens) { piece, _ in
            body(piece * Self.rowTokens..<min(tokens, (piece + 1) * Self.rowTokens))
        }
    }

    /// The residual stream, or its norm.
    private func normalize(_ tokens: Int, _ weight: FloatBuffer?) -> UnsafePointer<Float> {
        let (model, memory) = (self.model, self.memory)
        guard let weight else { return UnsafePointer(memory.residual) }
        run(tokens: tokens) { range in
            let first = range.lowerBound * model.width
            RMSNorm.forward(
                memory.residual + first, weight: weight.base, epsilon: model.normEpsilon,
                tokens: range.count, width: model.width, into: memory.normed + first,
                inverse: memory.inverse + range.lowerBound)
        }
        return UnsafePointer(memory.normed)
    }

    /// Rotates keys, and queries if there are any, and puts keys and values into the cache.
    private func store(
        _ layer: Int, of sequence: CachedSequence, tokens: Int, rotatesQueries: Bool
    ) {
        let (model, memory, count) = (self.model, self.memory, sequence.count)
        let (attention, cached) = (sequence.attentions[layer], sequence.cached(layer))
        run(tokens: tokens) { range in
            let position = count + range.lowerBound
            if rotatesQueries {
                self.turnQueries(
                    layer, of: sequence,
                    memory.q + range.lowerBound * model.headCount * model.headDimension,
                    tokens: range.count, position: position)
            }
            let first = range.lowerBound * model.keyValueHeadCount * model.headDimension
            self.turnKeys(
                layer, of: sequence, memory.k + first, tokens: range.count, position: position)
            attention.append(
                k: memory.k + first, v: memory.v + first, tokens: range.count,
                position: position, to: cached)
        }
    }

    private func attend(_ layer: Int, of sequence: CachedSequence, tokens: Int) {
        let (attention, memory, count) = (sequence.attentions[layer], self.memory, sequence.count)
        let cached = sequence.cached(layer)
        let (heads, width) = (model.headCount, model.headCount * model.headDimension)
        let blocks = (tokens + CachedAttention.block - 1) / CachedAttention.block
        team.run(blocks * heads) { piece, thread in
            // Longest first.
            let first = (blocks - 1 - piece / heads) * CachedAttention.block
            attention.attend(
                block: min(CachedAttention.block, tokens - first), head: piece % heads,
                q: memory.q + first * width, position: count + first, layer: cached,
                out: memory.attended + first * width, scratch: memory.scratch[thread])
        }
    }

    /// All products of one input.
    private func multiply(
        _ products: [Product], _ x: UnsafePointer<Float>, tokens: Int, adding: Bool = false
    ) {
        let memory = self.memory
        reduce(products.map(\.projection), x, tokens: tokens)
        let operand = operand(x, tokens: tokens, columns: products[0].projection.weight.columns)
        let pieces = pieces(of: products.map(\.projection.weight), tokens: tokens)
        team.run(pieces.count) { index, thread in
            let piece = pieces[index]
            let (projection, out) = products[piece.matrix]
            projection.multiply(
                piece, operand, reduced: memory.reduced[piece.matrix], into: out, adding: adding,
                scratch: memory.scratch[thread])
        }
    }

    /// x as the weights take it: unchanged, or in `memory.converted`.
    private func operand(_ x: UnsafePointer<Float>, tokens: Int, columns: Int) -> Operand {
        switch compute {
        case .fp32: return .single(x)
        case .bf16:
            let base = memory.converted.assumingMemoryBound(to: UInt16.self)
            let stride = RoundedRows.bytes(rows: 1, columns: columns) / 2
            run(tokens: tokens) { range in
                _ = RoundedRows(
                    rounding: x + range.lowerBound * columns, stride: columns, rows: range.count,
                    columns: columns, in: base + range.lowerBound * stride)
            }
            return .rounded(RoundedRows(base: base, rows: tokens, columns: columns, stride: stride))
        case .int8:
            let rows = QuantizedRows(rows: tokens, columns: columns, in: memory.converted)
            run(tokens: tokens) { rows.quantize($0, of: x) }
            return .quantized(rows)
        }
    }

    /// The products of the input with the adapters' A.
    private func reduce(
        _ projections: [GenerationProjection], _ x: UnsafePointer<Float>, tokens: Int
    ) {
        let adapted = projections.enumerated().filter { $0.element.adapter != nil }
        if adapted.isEmpty { return }
        let memory = self.memory
        let blocks = (tokens + Self.rowTokens - 1) / Self.rowTokens
        team.run(blocks * adapted.count) { piece, thread in
            let (i, projection) = adapted[piece / blocks]
            let first = piece % blocks * Self.rowTokens
            projection.reduce(
                tokens: min(Self.rowTokens, tokens - first),
                x + first * projection.weight.columns,
                into: memory.reduced[i] + first * projection.rank,
                scratch: memory.scratch[thread])
        }
    }

    /// gate = f(gate(x)) * up(x).
    private func activate(
        _ layer: Int, _ projections: (gate: GenerationProjection, up: GenerationProjection),
        _ x: UnsafePointer<Float>, tokens: Int
    ) {
        let (gate, up) = projections
        let memory = self.memory
        let rows = gate.weight.rows
        let activation = model.design.blocks[layer].activation
        reduce([gate, up], x, tokens: tokens)
        let operand = operand(x, tokens: tokens, columns: gate.weight.columns)
        let pieces = pieces(of: [gate.weight], tokens: tokens)
        team.run(pieces.count) { index, thread in
            let piece = pieces[index]
            for (i, (projection, out)) in [(gate, memory.gate), (up, memory.up)].enumerated() {
                projection.multiply(
                    piece, operand, reduced: memory.reduced[i], into: out, adding: false,
                    scratch: memory.scratch[thread])
            }
            let columns = gate.weight.rows(ofGroups: piece.groups)
            for t in piece.tokens {
                let (g, u) = (memory.gate + t * rows, memory.up + t * rows)
                activation.forward(
                    gate: g + columns.lowerBound, up: u + columns.lowerBound,
                    count: columns.count, into: g + columns.lowerBound)
            }
        }
    }
}
