import SkeinModels
import SkeinTensors

/// What a prompt and single tokens have in common: norms of queries and keys, rotation, and what is
/// added to the residual stream.
extension GenerationPass {
    /// Norms and rotates queries, [tokens, H * N], in place.
    func turnQueries(
        _ layer: Int, of sequence: CachedSequence, _ q: UnsafeMutablePointer<Float>, tokens: Int,
        position: Int
    ) {
        norm(q, weights.blocks[layer].vectors.query, tokens: tokens, heads: model.headCount)
        sequence.rotations[layer].turnQueries(
            q, tokens: tokens, heads: model.headCount, headDimension: model.headDimension,
            first: position, length: sequence.rowLength)
    }

    /// Norms and rotates keys, [tokens, G * N], in place.
    func turnKeys(
        _ layer: Int, of sequence: CachedSequence, _ k: UnsafeMutablePointer<Float>, tokens: Int,
        position: Int
    ) {
        norm(k, weights.blocks[layer].vectors.key, tokens: tokens, heads: model.keyValueHeadCount)
        sequence.rotations[layer].turnKeys(
            k, tokens: tokens, heads: model.keyValueHeadCount, first: position,
            length: sequence.rowLength)
    }

    /// Norms each row that the weight spans, in place.
    private func norm(
        _ x: UnsafeMutablePointer<Float>, _ weight: FloatBuffer?, tokens: Int, heads: Int
    ) {
        guard let weight else { return }
        var inverse: Float = 0
        for row in 0..<tokens * heads * model.headDimension / weight.count {
            RMSNorm.forward(
                x + row * weight.count, weight: weight.base, epsilon: model.normEpsilon,
                tokens: 1, width: weight.count, into: x + row * weight.count, inverse: &inverse)
        }
    }

    /// Whether a product is added to the residual stream as it is.
    func addsDirectly(_ layer: Int, _ norm: FloatBuffer?) -> Bool {
        norm == nil && model.design.blocks[layer].residualMultiplier == 1
    }

    /// y += m norm(branch) for some tokens; the branch is overwritten.
    func addBranch(
        _ layer: Int, _ norm: FloatBuffer?, tokens: Range<Int>, to y: UnsafeMutablePointer<Float>
    ) {
        let width = model.width
        let branch = memory.branch + tokens.lowerBound * width
        if let norm {
            RMSNorm.forward(
                branch, weight: norm.base, epsilon: model.normEpsilon, tokens: tokens.count,
                width: width, into: branch, inverse: memory.inverse + tokens.lowerBound)
        }
        Rows.add(
            branch, times: model.design.blocks[layer].residualMultiplier,
            count: tokens.count * width, to: y + tokens.lowerBound * width)
    }
}
