import SkeinBasics
import SkeinModels
import SkeinTensors

/// The name of a block of keys and values: SHA-256 of everything that its bits depend on.
struct PrefixName: Sendable, Hashable {
    private let digest: SHA256.Digest

    /// Bytes that a name takes in memory: an address, and an array of 32 bytes with its header.
    static let heldBytes = 80

    /// What all blocks of a row depend on besides its tokens.
    ///
    /// Shapes and ranges:
    ///   - turns: for each layer whether the row is long enough to be turned otherwise.
    ///   - byteCounts: of a block, for each layer: models of other sizes share no block, whatever
    ///     their digest.
    init(
        model: SHA256.Digest, adapter: SHA256.Digest, compute: ComputeType, cacheType: CacheType,
        turns: [Bool], byteCounts: [Int]
    ) {
        var hash = SHA256()
        // Each part has a fixed length or ends the text, so no two facts give one message.
        hash.update("skein prefix 2; \(compute.rawValue); \(cacheType.rawValue); ")
        hash.update("\(byteCounts.count) layers; ")
        hash.update(model.bytes + adapter.bytes + turns.map { $0 ? 1 : 0 })
        byteCounts.withUnsafeBytes { hash.update($0) }
        digest = hash.finish()
    }

    /// The block after this one; the root's is the first block. Names never leave the process, so the
    /// bytes of a token are hashed as they lie in memory.
    init(after name: PrefixName, tokens: ArraySlice<Int32>) {
        var hash = SHA256()
        hash.update(name.digest.bytes)
        tokens.withUnsafeBytes { hash.update($0) }
        digest = hash.finish()
    }

    /// The names of all whole blocks of a row, which is given from its first token on.
    static func blocks(of tokens: ArraySlice<Int32>, root: PrefixName) -> [PrefixName] {
        var names: [PrefixName] = []
        let size = PrefixCache.blockTokens
        names.reserveCapacity(tokens.count / size)
        var rest = tokens
        while rest.count >= size {
            names.append(PrefixName(after: names.last ?? root, tokens: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return names
    }
}
