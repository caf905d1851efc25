import CSkeinKernels

/// Causal attention with grouped queries over a cache of keys and values.
///
/// Letters: `H` query heads, `G` key/value heads, `N` head dimension, `C` tokens that fit, `S` slots
/// for them. For each key/value head the cache holds keys as [S / 16, N, 16], so that 16 scores are
/// computed side by side and none needs a sum across lanes, and values as [S, N]; `S` and the values'
/// `N` are rounded up to 16. They are held as a `CacheType` says. Without a window S is C; with one,
/// token t lies in slot t mod S, and S is what the tokens appended at once see. No product depends on
/// the others of the call, so heads and queries can be split at will.
package struct CachedAttention: Sendable {
    package let shape: AttentionShape
    /// How keys and values are held.
    package let type: CacheType
    /// `C`.
    package let capacity: Int
    /// `S`.
    let slots: Int
    /// The values' `N`, rounded up to 16.
    private let padded: Int

    /// Queries of a block of `attend(block:)`.
    package static let block = 32
    /// Keys of a rounded cache that become floats at once; sums over values are cut at its multiples.
    private static let piece = 256

    /// Positions are below `capacity`.
    ///
    /// With a window, `appended` is how many tokens are appended at most before they attend: what the
    /// first of them sees must still be there.
    package init(
        _ shape: AttentionShape, type: CacheType = .fp32, capacity: Int,
        appended: Int = Self.block
    ) {
        self.shape = shape
        self.type = type
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

    /// Tokens whose keys lie side by side.
    package static let group = 16
    private static func up(_ count: Int) -> Int { (count + group - 1) / group * group }

    package var heads: Int { shape.heads }
    package var keyValueHeads: Int { shape.keyValueHeads }
    package var headDimension: Int { shape.headDimension }

    var keyBytes: Int { skein_cache_key_bytes(type.kernel, headDimension) }
    var valueBytes: Int { skein_cache_value_bytes(type.kernel, headDimension) }
    /// Bytes of a head's keys, and of its values with their scales; each whole cache lines.
    private var keysBytes: Int { slots / Self.group * keyBytes }
    private var valuesBytes: Int {
        slots * valueBytes + (type == .int8 ? slots * MemoryLayout<Float>.stride : 0)
    }
    /// Floats of one layer's keys and values.
    package var layerCount: Int {
        keyValueHeads * (keysBytes + valuesBytes) / MemoryLayout<Float>.stride
    }
    /// Floats of scratch that a thread needs over `keys` keys in fp32, whatever the window.
    package static func scratchCount(keys: Int) -> Int { block * up(keys) }
    /// Floats of scratch that a thread needs for tokens at positions below `keys`.
    package func scratchCount(keys: Int) -> Int {
        // A block's first query sees a window, which begins inside a group of 16.
        let scores = Self.scratchCount(
            keys: min(keys, (shape.window ?? keys) + Self.block + 15))
        return scores + (type == .fp32 ? 0 : Self.piece * padded)
    }
    /// Bytes that one token's queries read when it is the last of `keys`.
    package func byteCount(keys: Int) -> Int {
        keyValueHeads * min(keys, shape.window ?? keys)
            * (layerCount * MemoryLayout<Float>.stride / (keyValueHeads * slots))
    }
    /// Whether the cache still holds what a token at `position` sees, if `count` were appended: what
    /// a window has passed is overwritten, so that not every earlier place can be returned to.
    package func holds(whatIsSeenAt position: Int, of count: Int) -> Bool {
        position >= count || shape.firstSeen(from: position) + slots >= count
    }

    func keys(_ layer: UnsafeMutableRawPointer, _ head: Int) -> UnsafeMutableRawPointer {
        layer + head * keysBytes
    }

    func values(_ layer: UnsafeMutableRawPointer, _ head: Int) -> UnsafeMutableRawPointer {
        layer + keyValueHeads * keysBytes + head * valuesBytes
    }

    /// [S], only with 8 bits.
    func valueScales(
        _ layer: UnsafeMutableRawPointer, _ head: Int
    ) -> UnsafeMutablePointer<Float> {
        (values(layer, head) + slots * valueBytes).assumingMemoryBound(to: Float.self)
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
        to layer: UnsafeMutableRawPointer
    ) {
        let n = headDimension
        for t in 0..<tokens {
            let place = (position + t) % slots
            for head in 0..<keyValueHeads {
                let from = (t * keyValueHeads + head) * n
                skein_cache_put(
                    type.kernel, k + from, v + from, n,
                    keys(layer, head) + place / Self.group * keyBytes, place % Self.group,
                    values(layer, head) + place * valueBytes, valueScales(layer, head) + place)
            }
        }
    }

    /// Some of one token's query heads over the last of the first `keys` tokens that it sees; those
    /// that share a key/value head read its keys and values together.
    ///
    /// Shapes and ranges:
    ///   - q: [H * N], rotated.
    ///   - out: [H * N]; only the heads' part is written.
    ///   - scratch: `scratchCount(keys:)` floats.
    package func attend(
        heads range: Range<Int>, q: UnsafePointer<Float>, layer: UnsafeMutableRawPointer,
        keys count: Int, out: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>
    ) {
        let (n, shared) = (headDimension, heads / keyValueHeads)
        var first = range.lowerBound
        while first < range.upperBound {
            let own = first / shared
            let end = min(range.upperBound, (own + 1) * shared)
            if shape.window == nil && shape.softCap == nil && type == .fp32 {
                skein_attend_heads(
                    skein_level(), q + first * n, end - first,
                    keys(layer, own).assumingMemoryBound(to: Float.self),
                    values(layer, own).assumingMemoryBound(to: Float.self), count, n,
                    shape.scale, scratch, out + first * n)
            } else {
                var cached = skein_cached(
                    type: type.kernel, k: keys(layer, own), v: values(layer, own),
                    value_scales: valueScales(layer, own), slots: slots,
                    first: shape.firstSeen(from: count - 1), end: count)
                for head in first..<end {
                    skein_attend_cached(
                        skein_level(), q + head * n, &cached, n, shape.scale, shape.softCap ?? 0,
                        scratch, out + head * n)
                }
            }
            first = end
        }
    }

    /// A query head of up to `block` tokens, each over itself and the tokens before it in the window.
    ///
    /// The probability of a later token of the block is 0, and is multiplied with its value: one that
    /// is not finite makes those before it not finite, too. Finite results do not depend on it.
    ///
    /// Shapes and ranges:
    ///   - q: [tokens, H * N], rotated.
    ///   - position: of the first of these tokens, whose keys and values are cached.
    ///   - out: [tokens, H * N]; only the head's part is written.
    ///   - scratch: `scratchCount(keys: position + tokens)` floats.
    package func attend(
        block tokens: Int, head: Int, q: UnsafePointer<Float>, position: Int,
        layer: UnsafeMutableRawPointer, out: UnsafeMutablePointer<Float>,
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
        let floats = scratch + Self.block * room
        for (column, slot, columns) in pieces(low, room) {
            var scores = skein_panel(
                x: q + head * n, row_x: heads * n, step_x: 1,
                w: keys(layer, own, slot: slot, count: columns, floats), group_w: 16 * n,
                step_w: 16, y: scratch + column, stride_y: room, rows: tokens,
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
                w: values(layer, own, slot: slot, count: rows, floats), group_w: 16,
                step_w: padded,
                y: out + head * n, stride_y: heads * n, rows: tokens, n: n, k: rows,
                accumulate: column > 0 ? 1 : 0)
            skein_multiply_panel(level, &mean)
        }
    }

    /// Keys as floats, [count / 16, N, 16], from a slot that begins a group: where they lie, or
    /// converted into `floats`.
    private func keys(
        _ layer: UnsafeMutableRawPointer, _ head: Int, slot: Int, count: Int,
        _ floats: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        let held = keys(layer, head) + slot / Self.group * keyBytes
        if type == .fp32 { return held.assumingMemoryBound(to: Float.self) }
        skein_cached_keys(
            skein_level(), type.kernel, held, headDimension, Self.up(count) / Self.group, floats)
        return floats
    }

    /// Values as floats, [count, padded N].
    private func values(
        _ layer: UnsafeMutableRawPointer, _ head: Int, slot: Int, count: Int,
        _ floats: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        let held = values(layer, head) + slot * valueBytes
        if type == .fp32 { return held.assumingMemoryBound(to: Float.self) }
        skein_cached_values(
            skein_level(), type.kernel, held, valueScales(layer, head) + slot, padded, count,
            floats)
        return floats
    }

    /// Where `count` tokens from `first` on lie: in one or two runs of slots and, if they are not
    /// floats, in pieces that end at multiples of `piece`.
    private func pieces(_ first: Int, _ count: Int) -> [(offset: Int, slot: Int, count: Int)] {
        var pieces: [(offset: Int, slot: Int, count: Int)] = []
        var offset = 0
        while offset < count {
            let slot = (first + offset) % slots
            var most = min(count - offset, slots - slot)
            if type != .fp32 { most = min(most, Self.piece - (first + offset) % Self.piece) }
            pieces.append((offset, slot, most))
            offset += most
        }
        return pieces
    }
}
