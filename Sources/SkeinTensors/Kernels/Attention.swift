/// Causal attention with grouped queries over one sequence, block of queries by block of queries.
///
/// Letters: `T` tokens of the sequence, `H` query heads, `G` key/value heads, `N` head dimension,
/// `B` queries in a block. Scores of a block, [B, keys], exist one at a time; T x T is never
/// stored, and keys after the block's last query are never multiplied.
/// Backward needs only each row's log-sum-exp (Dao et al. 2022, "FlashAttention", section 3.1).
package struct Attention: Sendable {
    package let heads: Int
    package let keyValueHeads: Int
    package let headDimension: Int

    /// Queries in a block: tall enough for the products, little waste above the diagonal.
    static let block = 64

    package init(heads: Int, keyValueHeads: Int, headDimension: Int) {
        self.heads = heads
        self.keyValueHeads = keyValueHeads
        self.headDimension = headDimension
    }

    /// Floats of scratch that a sequence of T tokens needs.
    package static func scratchCount(tokens: Int) -> Int { 2 * block * tokens }

    private var group: Int { heads / keyValueHeads }
    private var queryWidth: Int { heads * headDimension }
    private var keyWidth: Int { keyValueHeads * headDimension }
    private var scale: Float { 1 / Float(headDimension).squareRoot() }

    /// out = softmax(q k^T / sqrt(N)) v, each token over itself and those before it.
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
        let n = headDimension
        for h in 0..<heads {
            let key = k + h / group * n
            let value = v + h / group * n
            for first in stride(from: 0, to: tokens, by: Self.block) {
                let rows = min(Self.block, tokens - first)
                let keys = first + rows
                let query = q + first * queryWidth + h * n
                matMul(
                    m: rows, n: keys, k: n, query, strideA: queryWidth,
                    key, .transposed, strideB: keyWidth, into: scratch, strideC: keys)
                for i in 0..<rows {
                    let row = scratch + i * keys
                    let (largest, sum) = Softmax.row(
                        row, seen: first + i + 1, count: keys, scale: scale)
                    if let logSumExp {
                        logSumExp[h * tokens + first + i] =
                            largest + Float(logarithm(Double(sum)))
                    }
                }
                matMul(
                    m: rows, n: n, k: keys, scratch, strideA: keys, value, strideB: keyWidth,
                    into: out + first * queryWidth + h * n, strideC: queryWidth)
            }
        }
    }

    /// Gradients of q, k and v of one sequence; overwrites dq, dk and dv.
    ///
    /// P = e^(S / sqrt(N) - logSumExp); dV = P^T dO; dP = dO V^T; dS = P * (dP - rowsum(dO * O)) / sqrt(N);
    /// dQ = dS K; dK = dS^T Q.
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
        let n = headDimension
        Softmax.clear(dk, tokens * keyWidth)
        Softmax.clear(dv, tokens * keyWidth)
        let p = scratch
        let ds = scratch + Self.block * tokens
        for h in 0..<heads {
            let column = h / group * n
            for first in stride(from: 0, to: tokens, by: Self.block) {
                let rows = min(Self.block, tokens - first)
                let keys = first + rows
                let place = first * queryWidth + h * n
                matMul(
                    m: rows, n: keys, k: n, q + place, strideA: queryWidth,
                    k + column, .transposed, strideB: keyWidth, into: p, strideC: keys)
                matMul(
                    m: rows, n: keys, k: n, dOut + place, strideA: queryWidth,
                    v + column, .transposed, strideB: keyWidth, into: ds, strideC: keys)
                for i in 0..<rows {
                    let at = place + i * queryWidth
                    let delta = dot(out + at, dOut + at, n)
                    Softmax.backward(
                        p: p + i * keys, ds: ds + i * keys, seen: first + i + 1, count: keys,
                        logSumExp: logSumExp[h * tokens + first + i], delta: delta, scale: scale)
                }
                matMul(
                    m: rows, n: n, k: keys, ds, strideA: keys, k + column, strideB: keyWidth,
                    into: dq + place, strideC: queryWidth)
                matMul(
                    m: keys, n: n, k: rows, ds, .transposed, strideA: keys,
                    q + place, strideB: queryWidth, into: dk + column, strideC: keyWidth,
                    accumulating: true)
                matMul(
                    m: keys, n: n, k: rows, p, .transposed, strideA: keys,
                    dOut + place, strideB: queryWidth, into: dv + column, strideC: keyWidth,
                    accumulating: true)
            }
        }
    }
}
