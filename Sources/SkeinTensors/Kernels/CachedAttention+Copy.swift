/// Keys and values of some tokens, copied out of a cache and into another one of the same shape.
extension CachedAttention {
    /// Bytes of one layer's keys and values of `tokens` tokens, a multiple of `group`.
    package func byteCount(tokens: Int) -> Int {
        keyValueHeads * tokens / Self.group * groupBytes
    }

    /// Bytes of a group of one head: keys, values and, with 8 bits, the values' scales.
    private var groupBytes: Int {
        keyBytes + Self.group * (valueBytes + (type == .int8 ? MemoryLayout<Float>.stride : 0))
    }

    /// Whether the ring still holds `tokens` once `count` are written.
    package func holds(_ tokens: Range<Int>, of count: Int) -> Bool {
        tokens.lowerBound + slots >= count
    }

    /// Copies the tokens from `position` on, both multiples of `group`, out of a layer's cache.
    ///
    /// Shapes and ranges:
    ///   - layer: `layerCount` floats, which hold the tokens.
    ///   - out: `byteCount(tokens:)` bytes.
    package func copy(
        tokens: Int, position: Int, of layer: UnsafeMutableRawPointer,
        into out: UnsafeMutableRawPointer
    ) {
        move(tokens: tokens, position: position, of: layer, out) { cached, block, bytes in
            block.copyMemory(from: cached, byteCount: bytes)
        }
    }

    /// Puts what `copy` gave back at the same position, over what a ring held there.
    package func restore(
        tokens: Int, position: Int, from block: UnsafeRawPointer,
        into layer: UnsafeMutableRawPointer
    ) {
        // Only read: the pointer is mutable because both directions share the walk.
        let block = UnsafeMutableRawPointer(mutating: block)
        move(tokens: tokens, position: position, of: layer, block) { cached, block, bytes in
            cached.copyMemory(from: block, byteCount: bytes)
        }
    }

    private func move(
        tokens: Int, position: Int, of layer: UnsafeMutableRawPointer,
        _ block: UnsafeMutableRawPointer,
        _ body: (
            _ cached: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer, _ bytes: Int
        ) -> Void
    ) {
        var block = block
        for first in stride(from: position, to: position + tokens, by: Self.group) {
            let place = first % slots
            for head in 0..<keyValueHeads {
                body(keys(layer, head) + place / Self.group * keyBytes, block, keyBytes)
                block += keyBytes
                body(
                    values(layer, head) + place * valueBytes, block, Self.group * valueBytes)
                block += Self.group * valueBytes
                guard type == .int8 else { continue }
                let bytes = Self.group * MemoryLayout<Float>.stride
                body(UnsafeMutableRawPointer(valueScales(layer, head) + place), block, bytes)
                block += bytes
            }
        }
    }
}
