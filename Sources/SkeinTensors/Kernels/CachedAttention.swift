import CSkeinKernels

/// Causal attention with grouped queries over a cache of keys and values.
///
/// Letters: `H` query heads, `G` key/value heads, `N` head dimension, `C` tokens that fit. For each
/// key/value head the cache holds keys as [C / 16, N, 16], so that 16 scores are computed side by side
/// and none needs a sum across lanes, and values as [C, N]; `C` and the values' `N` are rounded up to
/// 16. No product depends on the others of the call, so heads and queries can be split at will.
package struct CachedAttention: Sendable {
    package let heads: Int
    package let keyValueHeads: Int
    package let headDimension: Int
    /// `C`.
    package let capacity: Int
    /// The values' `N`, rounded up to 16.
    private let padded: Int

    /// Queries of a block of `attend(block:)`.
    package static let block = 32

    package init(heads: Int, keyValueHeads: Int, headDimension: Int, capacity: Int) {
        self.heads = heads
        self.keyValueHeads = keyValueHeads
        self.headDimension = headDimension
        self.capacity = Self.up(capacity)
        padded = Self.up(headDimension)
    }

    private static func up(_ count: Int) -> Int { (count + 15) / 16 * 16 }

    /// Floats of one layer's keys and values.
    package var layerCount: Int { keyValueHeads * capacity * (headDimension + padded) }
    /// Floats of scratch that a thread needs over `keys` keys.
    package static func scratchCount(keys: Int) -> Int { block * up(keys) }
    /// Bytes that one token's queries read over `keys` keys.
    package func byteCount(keys: Int) -> Int {
        keyValueHeads * keys * (headDimension + padded) * MemoryLayout<Float>.stride
    }

    private func keys(_ layer: UnsafeMutablePointer<Float>, _ head: Int)
        -> UnsafeMutablePointer<Float>
    {
        layer + head * capacity * headDimension
    }

    private func values(_ layer: UnsafeMutablePointer<Float>, _ head: Int)
        -> UnsafeMutablePointer<Float>
    {
        layer + keyValueHeads * capacity * headDimension + head * capacity * padded
    }

    /// Writes the keys and values of consecutive tokens.
    ///
    /// Shapes and ranges:
    ///   - k: [tokens, G * N], rotated.
    ///   - v: [tokens, G * N].
    ///   - position: of the first token.
    ///   - layer: `layerCount` floats.
    package func append(
        k: UnsafePointer<Float>, v: UnsafePointer<Float>, tokens: Int, position: Int,
        to layer: UnsafeMutablePointer<Float>
    ) {
        let n = headDimension
        for t in 0..<tokens {
            let place = position + t
            for head in 0..<keyValueHeads {
                let from = (t * keyValueHeads + head) * n
                let column = keys(layer, head) + place / 16 * 16 * n + place % 16
                for i in 0..<n { column[16 * i] = k[from + i] }
                (values(layer, head) + place * padded).update(from: v + from, count: n)
            }
        }
    }

    /// One token's query head over the first `keys` cached tokens.
    ///
    /// Shapes and ranges:
    ///   - q: [H * N], rotated.
    ///   - out: [H * N]; only the head's part is written.
    ///   - scratch: `scratchCount(keys:)` floats.
    package func attend(
        head: Int, q: UnsafePointer<Float>, layer: UnsafeMutablePointer<Float>, keys count: Int,
        out: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
    ) {
        let n = headDimension
        let own = head / (heads / keyValueHeads)
        skein_attend(
            skein_level(), q + head * n, keys(layer, own), values(layer, own), count, n,
            1 / Float(n).squareRoot(), scratch, out + head * n)
    }

    /// A query head of up to `block` tokens, each over itself and all tokens before it.
    ///
    /// Shapes and ranges:
    ///   - q: [tokens, H * N], rotated.
    ///   - position: of the first of these tokens, whose keys and values are cached.
    ///   - out: [tokens, H * N]; only the head's part is written.
    ///   - scratch: `scratchCount(keys: position + tokens)` floats.
    package func attend(
        block tokens: Int, head: Int, q: UnsafePointer<Float>, position: Int,
        layer: UnsafeMutablePointer<Float>, out: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>
    ) {
        let n = headDimension
        let width = heads * n
        let level = skein_level()
        let own = head / (heads / keyValueHeads)
        let count = position + tokens
        let room = Self.up(count)
        var scores = skein_panel(
            x: q + head * n, row_x: width, step_x: 1, w: keys(layer, own), group_w: 16 * n,
            step_w: 16, y: scratch, stride_y: room, rows: tokens, n: room, k: n, accumulate: 0)
        skein_multiply_panel(level, &scores)
        for t in 0..<tokens {
            skein_softmax_row(
                level, scratch + t * room, position + t + 1, room, 1 / Float(n).squareRoot())
        }
        var mean = skein_panel(
            x: scratch, row_x: room, step_x: 1, w: values(layer, own), group_w: 16,
            step_w: padded, y: out + head * n, stride_y: width, rows: tokens, n: n, k: count,
            accumulate: 0)
        skein_multiply_panel(level, &mean)
    }
}
