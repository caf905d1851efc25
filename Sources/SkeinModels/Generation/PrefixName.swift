import SkeinBasics
import SkeinTensors

/// The name of a block of keys and values: SHA-256 of everything that its bits depend on.
struct PrefixName: Sendable, Hashable {
    private let digest: SHA256.Digest

    /// What all blocks of a row depend on besides its tokens.
    ///
    /// Shapes and ranges:
    ///   - turns: for each layer whether the row is long enough to be turned otherwise.
    init(
        model: SHA256.Digest, adapter: SHA256.Digest, compute: ComputeType, cacheType: CacheType,
        turns: [Bool]
    ) {
        var hash = SHA256()
        // Each part has a fixed length or ends the text, so no two facts give one message.
        hash.update("skein prefix 1; \(compute.rawValue); \(cacheType.rawValue); ")
        hash.update(model.bytes + adapter.bytes + turns.map { $0 ? 1 : 0 })
        digest = hash.finish()
    }

    /// The block after this one; the root's is the first block.
    init(after name: PrefixName, tokens: ArraySlice<Int32>) {
        var hash = SHA256()
        hash.update(name.digest.bytes)
        hash.update(tokens.flatMap { withUnsafeBytes(of: $0.littleEndian) { Array($0) } })
        digest = hash.finish()
    }

    /// The names of all whole blocks of a row.
    static func blocks(of tokens: [Int32], root: PrefixName) -> [PrefixName] {
        var names: [PrefixName] = []
        let size = PrefixCache.blockTokens
        for end in stride(from: size, through: tokens.count, by: size) {
            names.append(
                PrefixName(after: names.last ?? root, tokens: tokens[(end - size)..<end]))
        }
        return names
    }
}
