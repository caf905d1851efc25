/// Causal attention with grouped queries over one sequence, block of queries by block of queries.
///
/// Letters: `T` tokens of the sequence, `H` query heads, `G` key/value heads, `N` head dimension,
/// `B` queries in a block. Scores of a block, [B, keys], exist one at a time; T x T is never
/// stored, and keys after the block's last query, or before its first one's window, are never
/// multiplied; nor are most of those that a query of the block does not see (`MatMul.Causal`).
/// Backward needs only each row's log-sum-exp (Dao et al. 2022, "FlashAttention", section 3.1).
package struct Attention: Sendable {
    package let shape: AttentionShape

    /// Queries in a block: tall enough for the products, little waste above the diagonal.
    static let block = 64

    package init(_ shape: AttentionShape) {
        self.shape = shape
    }

    package init(heads: Int, keyValueHeads: Int, headDimension: Int) {
        self.init(
            AttentionShape(
                heads: heads, keyValueHeads: keyValueHeads, headDimension: headDimension))
    }

    /// Floats of scratch that a sequence of T tokens needs, whatever its window.
    package static func scratchCount(tokens: Int) -> Int { 2 * block * tokens }

    /// Floats of scratch that a sequence of up to `tokens` tokens needs.
    package func scratchCount(tokens: Int) -> Int {
        Self.scratchCount(tokens: min(tokens, (shape.window ?? tokens) + Self.block))
    }

    private var heads: Int { shape.heads }
    private var group: Int { heads / shape.keyValueHeads }
    private var queryWidth: Int { heads * shape.headDimension }
    private var keyWidth: Int { shape.keyValueHeads * shape.headDimension }

    /// out = softmax(capped(scale q k^T)) v, each token over itself and those before it in the window.
    ///
    /// Shapes and ranges:
    ///   - q: [T, H * N], rotated.
    ///   - k: [T, G * N], rotated.
    ///   - v: [T, G * N].
    ///   - out: [T, H * N].
    ///   - logSumExp: [H, T], receives each row's log of the sum of exponentials; nil if not needed.
    ///   - scratch: `scratchCount(tokens: T)` floats.
    package func forward(
        q: UnsafePointer<Float>, k: UnsafePointer<Float>, v: UnsafePointer<Float>,
        tokens: Int, out: UnsafeMutablePointer<Float>,
        logSumExp: UnsafeMutablePointer<Float>?, scratch: UnsafeMutablePointer<Float>,
        matMul: MatMul
    ) {
        let n = shape.headDimension
        for h in 0..<heads {
            for first in stride(from: 0, to: tokens, by: Self.block) {
                let rows = min(Self.block, tokens - first)
                let seen = shape.firstSeen(from: first)
                let keys = first + rows - seen
                let key = k + seen * keyWidth + h / group * n
                let value = v + seen * keyWidth + h / group * n
                let query = q + first * queryWidth + h * n
                // By the block's first query.
                let own = first + 1 - seen
                matMul(
                    m: rows, n: keys, k: n, query, strideA: queryWidth,
                    key, .transposed, strideB: keyWidth, into: scratch, strideC: keys,
                    causal: .result(seen: own))
                for i in 0..<rows {
                    let hidden = shape.firstSeen(from: first + i) - seen
                    let row = scratch + i * keys
                    Softmax.clear(row, hidden)
                    let (largest, sum) = Softmax.row(
                        row + hidden, seen: first + i + 1 - seen - hidden, count: keys - hidden,
                        scale: shape.scale, cap: shape.softCap)
                    if let logSumExp {
                        logSumExp[h * tokens + first + i] =
                            largest + Float(logarithm(Double(sum)))
                    }
                }
                matMul(
                    m: rows, n: n, k: keys, scratch, strideA: keys, value, strideB: keyWidth,
                    into: out + first * queryWidth + h * n, strideC: queryWidth,
                    causal: .left(seen: own))
            }
        }
    }

    /// Gradients of q, k and v of one sequence; overwrites dq, dk and dv.
    ///
    /// P = e^(S - logSumExp); dV = P^T dO; dP = dO V^T; dS = scale P * (dP - rowsum(dO * O)), times
    /// 1 - (S / cap)^2 with a cap; dQ = dS K; dK = dS^T Q.
    ///
    /// Shapes and ranges:
    ///   - out: [T, H * N], the forward result.
    ///   - dOut: [T, H * N].
    ///   - dq: [T, H * N].
    ///   - dk: [T, G * N].
    ///   - dv: [T, G * N].
    package func backward(
        q: UnsafePointer<Float>, k: UnsafePointer<Float>, v: UnsafePointer<Float>,
        out: UnsafePointer<Float>, dOut: UnsafePointer<Float>,
        logSumExp: UnsafePointer<Float>, tokens: Int,
        dq: UnsafeMutablePointer<Float>, dk: UnsafeMutablePointer<Float>,
        dv: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>, matMul: MatMul
    ) {
        let n = shape.headDimension
        Softmax.clear(dk, tokens * keyWidth)
        Softmax.clear(dv, tokens * keyWidth)
        let p = scratch
        let ds = scratch + scratchCount(tokens: tokens) / 2
        for h in 0..<heads {
            for first in stride(from: 0, to: tokens, by: Self.block) {
                let rows = min(Self.block, tokens - first)
                let seen = shape.firstSeen(from: first)
                let keys = first + rows - seen
                let column = seen * keyWidth + h / group * n
                let place = first * queryWidth + h * n
                let own = first + 1 - seen
                matMul(
                    m: rows, n: keys, k: n, q + place, strideA: queryWidth,
                    k + column, .transposed, strideB: keyWidth, into: p, strideC: keys,
                    causal: .result(seen: own))
                matMul(
                    m: rows, n: keys, k: n, dOut + place, strideA: queryWidth,
                    v + column, .transposed, strideB: keyWidth, into: ds, strideC: keys,
                    causal: .result(seen: own))
                for i in 0..<rows {
                    let hidden = shape.firstSeen(from: first + i) - seen
                    let at = place + i * queryWidth
                    let delta = dot(out + at, dOut + at, n)
                    Softmax.clear(p + i * keys, hidden)
                    Softmax.clear(ds + i * keys, hidden)
                    Softmax.backward(
                        p: p + i * keys + hidden, ds: ds + i * keys + hidden,
                        seen: first + i + 1 - seen - hidden, count: keys - hidden,
                        logSumExp: logSumExp[h * tokens + first + i], delta: delta,
                        scale: shape.scale, cap: shape.softCap)
                }
                matMul(
                    m: rows, n: n, k: keys, ds, strideA: keys, k + column, strideB: keyWidth,
                    into: dq + place, strideC: queryWidth, causal: .left(seen: own))
                matMul(
                    m: keys, n: n, k: rows, ds, .transposed, strideA: keys,
                    q + place, strideB: queryWidth, into: dk + column, strideC: keyWidth,
                    accumulating: true, causal: .left(seen: own))
                matMul(
                    m: keys, n: n, k: rows, p, .transposed, strideA: keys,
                    dOut + place, strideB: queryWidth, into: dv + column, strideC: keyWidth,
                    accumulating: true, causal: .left(seen: own))
            }
        }
    }
}
