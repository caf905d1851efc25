import CSkeinKernels

/// Causal attention with grouped queries over a cache of keys and values.
///
/// Letters: `H` query heads, `G` key/value heads, `N` head dimension, `C` tokens that fit, `S` slots
/// for them. For each key/value head the cache holds keys as [S / 16, N, 16], so that 16 scores are
/// computed side by side and none needs a sum across lanes, and values as [S, N]; `S` and the values'
/// `N` are rounded up to 16. Without a window S is C; with one, token t lies in slot t mod S, and S
/// is what the tokens appended at once see. No product depends on the others of the call, so heads
/// and queries can be split at will.
package struct CachedAttention: Sendable {
    package let shape: AttentionShape
    /// `C`.
    package let capacity: Int
    /// `S`.
    private let slots: Int
    /// The values' `N`, rounded up to 16.
    private let padded: Int

    /// Queries of a block of `attend(block:)`.
    package static let block = 32

    /// Positions are below `capacity`.
    ///
    /// With a window, `appended` is how many tokens are appended at most before they attend: what the
    /// first of them sees must still be there.
    package init(_ shape: AttentionShape, capacity: Int, appended: Int = Self.block) {
        self.shape = shape
        self.capacity = Self.up(capacity)
        let seen = shape.window.map { Self.up($0 + appended) }
        slots = min(seen ?? self.capacity, self.capacity)
        padded = Self.up(shape.headDimension)
    }

    package init(heads: Int, keyValueHeads: Int, headDimension: Int, capacity: Int) {
        self.init(
            AttentionShape(
                heads: heads, keyValueHeads: keyValueHeads, headDimension: headDimension),
            capacity: capacity)
    }

    private static func up(_ count: Int) -> Int { (count + 15) / 16 * 16 }

    package var heads: Int { shape.heads }
    package var keyValueHeads: Int { shape.keyValueHeads }
    package var headDimension: Int { shape.headDimension }

    /// Floats of one layer's keys and values.
    package var layerCount: Int { keyValueHeads * slots * (headDimension + padded) }
    /// Floats of scratch that a thread needs over `keys` keys, whatever the window.
    package static func scratchCount(keys: Int) -> Int { block * up(keys) }
    /// Floats of scratch that a thread needs for tokens at positions below `keys`.
    package func scratchCount(keys: Int) -> Int {
        // A block's first query sees a window, which begins inside a group of 16.
        Self.scratchCount(keys: min(keys, (shape.window ?? keys) + Self.block + 15))
    }
    /// Bytes that one token's queries read when it is the last of `keys`.
    package func byteCount(keys: Int) -> Int {
        keyValueHeads * min(keys, shape.window ?? keys) * (headDimension + padded)
            * MemoryLayout<Float>.stride
    }
    /// Whether the cache still holds what a token at `position` sees, if `count` were appended: what
    /// a window has passed is overwritten, so that not every earlier place can be returned to.
    package func holds(whatIsSeenAt position: Int, of count: Int) -> Bool {
        position >= count || shape.firstSeen(from: position) + slots >= count
    }

    private func keys(_ layer: UnsafeMutablePointer<Float>, _ head: Int)
        -> UnsafeMutablePointer<Float>
    {
        layer + head * slots * headDimension
    }

    private func values(_ layer: UnsafeMutablePointer<Float>, _ head: Int)
        -> UnsafeMutablePointer<Float>
    {
        layer + keyValueHeads * slots * headDimension + head * slots * padded
    }

    /// Writes the keys and values of consecutive tokens: with a window, of no more than `appended`.
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
            let place = (position + t) % slots
            for head in 0..<keyValueHeads {
                let from = (t * keyValueHeads + head) * n
                let column = keys(layer, head) + place / 16 * 16 * n + place % 16
                for i in 0..<n { column[16 * i] = k[from + i] }
                (values(layer, head) + place * padded).update(from: v + from, count: n)
            }
        }
    }

    /// One token's query head over the last of the first `keys` tokens that it sees.
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
        let (q, out) = (q + head * n, out + head * n)
        if shape.window == nil && shape.softCap == nil {
            skein_attend(
                skein_level(), q, keys(layer, own), values(layer, own), count, n, shape.scale,
                scratch, out)
        } else {
            var cached = skein_cached(
                k: keys(layer, own), v: values(layer, own), slots: slots,
                first: shape.firstSeen(from: count - 1), end: count)
            skein_attend_cached(
                skein_level(), q, &cached, n, shape.scale, shape.softCap ?? 0, scratch, out)
        }
    }

    /// A query head of up to `block` tokens, each over itself and the tokens before it in the window.
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
        let level = skein_level()
        let own = head / (heads / keyValueHeads)
        let seen = shape.firstSeen(from: position)
        // Scores start at a group of 16 keys.
        let low = seen / 16 * 16
        let count = position + tokens - low
        let room = Self.up(count)
        for (column, slot, columns) in pieces(low, room) {
            var scores = skein_panel(
                x: q + head * n, row_x: heads * n, step_x: 1, w: keys(layer, own) + slot * n,
                group_w: 16 * n, step_w: 16, y: scratch + column, stride_y: room, rows: tokens,
                n: columns, k: n, accumulate: 0)
            skein_multiply_panel(level, &scores)
        }
        for t in 0..<tokens {
            let row = scratch + t * room
            let end = position + t + 1 - low
            var scale = shape.scale
            if let cap = shape.softCap {
                skein_softcap(level, row, end, scale / cap, cap)
                scale = 1
            }
            for i in 0..<shape.firstSeen(from: position + t) - low { row[i] = -.infinity }
            skein_softmax_row(level, row, end, room, scale)
        }
        for (column, slot, rows) in pieces(seen, position + tokens - seen) {
            var mean = skein_panel(
                x: scratch + seen - low + column, row_x: room, step_x: 1,
                w: values(layer, own) + slot * padded, group_w: 16, step_w: padded,
                y: out + head * n, stride_y: heads * n, rows: tokens, n: n, k: rows,
                accumulate: column > 0 ? 1 : 0)
            skein_multiply_panel(level, &mean)
        }
    }

    /// Where `count` tokens from `first` on lie: at most two runs of slots.
    private func pieces(_ first: Int, _ count: Int) -> [(offset: Int, slot: Int, count: Int)] {
        let slot = first % slots
        let whole = min(count, slots - slot)
        return whole == count
            ? [(0, slot, count)] : [(0, slot, whole), (whole, 0, count - whole)]
    }
}
