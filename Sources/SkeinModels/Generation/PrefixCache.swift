import SkeinBasics
import Synchronization

/// Keys and values of the beginnings of prompts, in blocks of 64 tokens, so that a conversation's next
/// turn need not read the turns before again.
///
/// A block's name is a hash over everything that its bits depend on: the model, the adapter, the
/// number formats, how the row is turned, and all tokens up to its end. Only what a prompt's kernels
/// computed is kept, and a prompt's bits do not depend on how it was cut: so whether a block is here
/// changes what is computed, never what comes out. Blocks that were not used for longest leave first;
/// `byteLimit` is never exceeded, not even for a moment. Any thread may call.
package final class PrefixCache: Sendable {
    /// Tokens of a block.
    package static let blockTokens = 64
    /// Bytes that a block takes besides keys and values: its tokens, its name and the table's share.
    package static let blockOverhead = 1024

    /// The model's own digest, or anything else that names its bytes.
    package let model: SHA256.Digest
    package let byteLimit: Int

    /// What the cache holds, and what happened to it.
    package struct Usage: Sendable, Equatable {
        package var blocks = 0
        package var bytes = 0
        /// Blocks that were asked for and found.
        package var hits = 0
        /// Blocks that were computed and kept.
        package var stored = 0
        /// Blocks that left to make room.
        package var evicted = 0
    }

    private struct Block {
        let tokens: [Int32]
        let bytes: [UInt8]
        var lastUse: UInt64
    }

    private struct State {
        var blocks: [PrefixName: Block] = [:]
        var usage = Usage()
        var uses: UInt64 = 0

        mutating func touch(_ name: PrefixName) {
            uses += 1
            blocks[name]?.lastUse = uses
        }

        mutating func evictOldest() {
            guard let oldest = blocks.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                return
            }
            blocks[oldest.key] = nil
            usage.blocks -= 1
            usage.bytes -= oldest.value.bytes.count + PrefixCache.blockOverhead
            usage.evicted += 1
        }
    }

    private let state = Mutex(State())

    /// Shapes and ranges:
    ///   - byteLimit: of all blocks together; below one block nothing is ever kept.
    package init(model: SHA256.Digest, byteLimit: Int) {
        self.model = model
        self.byteLimit = max(0, byteLimit)
    }

    package var usage: Usage { state.withLock { $0.usage } }

    /// Forgets all blocks.
    package func removeAll() {
        state.withLock { state in
            state.blocks = [:]
            state.usage.blocks = 0
            state.usage.bytes = 0
        }
    }

    /// How many of these blocks, from the first on, are here.
    func count(of names: [PrefixName], tokens: [Int32]) -> Int {
        state.withLock { state in
            names.indices.prefix { Self.matches(state.blocks[names[$0]], $0, tokens) }.count
        }
    }

    /// Calls `body` with the index and the bytes of each of these blocks, as far as they are here
    /// without a gap, and with how many they are.
    ///
    /// Shapes and ranges:
    ///   - tokens: of the row, at least 64 for each name; a block with other tokens does not match,
    ///     whatever its name.
    @discardableResult
    func restore(
        _ names: [PrefixName], tokens: [Int32],
        _ body: (_ index: Int, _ count: Int, UnsafeRawBufferPointer) -> Void
    ) -> Int {
        state.withLock { state in
            let found = names.indices.prefix {
                Self.matches(state.blocks[names[$0]], $0, tokens)
            }
            for index in found {
                state.blocks[names[index]]?.bytes.withUnsafeBytes { body(index, found.count, $0) }
            }
            // The first blocks of a row are of use to more rows than the last: they leave later.
            for index in found.reversed() { state.touch(names[index]) }
            state.usage.hits += found.count
            return found.count
        }
    }

    private static func matches(_ block: Block?, _ index: Int, _ tokens: [Int32]) -> Bool {
        let range = index * blockTokens..<(index + 1) * blockTokens
        return block.map { $0.tokens[...] == tokens[range] } ?? false
    }

    /// Keeps a block unless it is here already or larger than the limit.
    ///
    /// `fill` writes `byteCount` bytes.
    func store(
        _ name: PrefixName, tokens: ArraySlice<Int32>, byteCount: Int,
        fill: (UnsafeMutableRawPointer) -> Void
    ) {
        let needed = byteCount + Self.blockOverhead
        guard needed <= byteLimit else { return }
        state.withLock { state in
            if state.blocks[name] != nil { return state.touch(name) }
            while state.usage.bytes + needed > byteLimit { state.evictOldest() }
            state.uses += 1
            state.blocks[name] = Block(
                tokens: Array(tokens),
                bytes: [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
                    if let base = buffer.baseAddress { fill(UnsafeMutableRawPointer(base)) }
                    count = byteCount
                }, lastUse: state.uses)
            state.usage.blocks += 1
            state.usage.bytes += needed
            state.usage.stored += 1
        }
    }
}
