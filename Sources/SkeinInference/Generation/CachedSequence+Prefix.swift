import SkeinModels
import SkeinTensors

/// What a sequence need not compute: what it holds itself, and blocks of a `PrefixCache`.
extension CachedSequence {
    /// Prepares for a prompt from its first token on: keeps what it begins with, from the cache or
    /// from what this sequence holds, and forgets the rest.
    ///
    /// Only what a prompt's kernels have read is kept, so the result is that of reading all of it. At
    /// least the last token is left to read, because its logits are not kept.
    ///
    /// `check` is called before each block that is copied; what it throws ends that, and nothing is
    /// kept then.
    ///
    /// - Returns: leading tokens of the prompt that are in the cache now.
    @discardableResult
    package func reuse(
        for prompt: [Int32], from cache: PrefixCache?, compute: ComputeType,
        check: () throws -> Void
    ) rethrows -> Int {
        let length = max(expectedLength, prompt.count)
        let isOther = count > 0 && rotations.contains { $0.differs(rowLength, length) }
        let most = prompt.count - 1
        var own = isOther ? 0 : zip(tokens, prompt).prefix { $0 == $1 }.count
        own = max(0, min(own, exactCount, most))
        if !canTruncate(to: own) { own = 0 }
        guard let cache else {
            truncate(to: own)
            planRow(of: length)
            return count
        }
        let turns = turns(of: length)
        let root = PrefixName(
            model: cache.model, adapter: projections.digest, compute: compute,
            cacheType: cacheType, turns: turns, byteCounts: blockByteCounts)
        let names = PrefixName.blocks(of: prompt[..<max(0, most)], root: root)
        let blocks = cache.count(of: names, tokens: prompt, byteCount: blockBytes)
        if blocks * PrefixCache.blockTokens > own {
            truncate(to: 0)
            try restore(names[..<blocks], of: prompt, from: cache, check: check)
        } else {
            truncate(to: own)
        }
        planRow(of: length)
        let whole = names.prefix(count / PrefixCache.blockTokens)
        begin(PrefixChain(root: root, turns: turns, names: Array(whole)))
        return count
    }

    private func restore(
        _ names: ArraySlice<PrefixName>, of prompt: [Int32], from cache: PrefixCache,
        check: () throws -> Void
    ) rethrows {
        let size = PrefixCache.blockTokens
        // Another thread may have made some leave since they were counted.
        let found = try cache.restore(
            Array(names), tokens: prompt, byteCount: blockBytes, check: check
        ) { index, count, bytes in
            guard var from = bytes.baseAddress else { return }
            let end = (index + 1) * size
            for (layer, attention) in attentions.enumerated() {
                // A ring has no room for what a window has passed; later tokens take its slots.
                if attention.holds(end - CachedAttention.group..<end, of: count * size) {
                    attention.restore(
                        tokens: size, position: end - size, from: from, into: cached(layer))
                }
                from += attention.byteCount(tokens: size)
            }
        }
        didRestore(prompt[..<(found * size)])
    }

    /// Bytes of a block's keys and values, for each layer.
    private var blockByteCounts: [Int] {
        attentions.map { $0.byteCount(tokens: PrefixCache.blockTokens) }
    }
    private var blockBytes: Int { blockByteCounts.reduce(0, +) }

    /// Offers the blocks that have become whole since the last call; `reuse` came before.
    func store(in cache: PrefixCache) {
        guard var chain = prefixChain else { return }
        let size = PrefixCache.blockTokens
        let byteCount = blockBytes
        while (chain.names.count + 1) * size <= exactCount {
            let range = chain.names.count * size..<(chain.names.count + 1) * size
            let before = chain.names.last
            let name = PrefixName(after: before ?? chain.root, tokens: tokens[range])
            chain.names.append(name)
            guard attentions.allSatisfy({ holds(range, in: $0) }) else { continue }
            cache.store(
                name, after: before, tokens: tokens[range], byteCount: byteCount
            ) { to in
                var to = to
                for (layer, attention) in attentions.enumerated() {
                    attention.copy(
                        tokens: size, position: range.lowerBound, of: cached(layer), into: to)
                    to += attention.byteCount(tokens: size)
                }
            }
        }
        begin(chain)
    }
}

/// The names of a sequence's whole blocks, as far as they were offered or restored.
struct PrefixChain {
    let root: PrefixName
    /// The turns of the row for which the root was made.
    let turns: [Bool]
    var names: [PrefixName]
}
