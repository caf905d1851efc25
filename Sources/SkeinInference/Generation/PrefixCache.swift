import SkeinBasics
import Synchronization

/// Keys and values of the beginnings of prompts, in blocks of 64 tokens, so that a conversation's next
/// turn need not read the turns before again.
///
/// A block's name is a hash over everything that its bits depend on: the model, the adapter, the
/// number formats, how the row is turned, and all tokens up to its end. Only what a prompt's kernels
/// computed is kept, and a prompt's bits do not depend on how it was cut: so whether a block is here
/// changes what is computed, never what comes out. Blocks that were not used for longest leave first,
/// of a row always its last, because a block without those before it is of no use: of a row that is
/// longer than the limit the beginning stays. `byteLimit` is never exceeded, not even for a moment.
/// Any thread may call.
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

    private struct State {
        var table = PrefixTable()
        var usage = Usage()
    }

    private let state = Mutex(State())
    /// A copy that can be read while blocks are copied.
    private let published = Mutex(Usage())

    /// Shapes and ranges:
    ///   - byteLimit: of all blocks together; below one block nothing is ever kept.
    package init(model: SHA256.Digest, byteLimit: Int) {
        self.model = model
        self.byteLimit = max(0, byteLimit)
    }

    package var usage: Usage { published.withLock { $0 } }

    private func publish(_ usage: Usage) { published.withLock { $0 = usage } }

    /// How many of these blocks, from the first on, are here. Arguments as in `restore`.
    func count(of names: [PrefixName], tokens: [Int32], byteCount: Int) -> Int {
        state.withLock { Self.found(names, tokens, byteCount, in: $0.table).count }
    }

    /// Calls `body` with the index and the bytes of each of these blocks, as far as they are here
    /// without a gap, and with how many they are.
    ///
    /// Shapes and ranges:
    ///   - names: of a row's blocks from its first on.
    ///   - tokens: of the row, at least 64 for each name; a block with other tokens does not match,
    ///     whatever its name.
    ///   - byteCount: of a block; one of another size does not match either, so that a reader never
    ///     reads behind its end.
    ///   - check: called before each block, and not of this cache; what it throws ends the restoring, as
    ///     if nothing had been found.
    @discardableResult
    func restore(
        _ names: [PrefixName], tokens: [Int32], byteCount: Int, check: () throws -> Void,
        _ body: (_ index: Int, _ count: Int, UnsafeRawBufferPointer) -> Void
    ) rethrows -> Int {
        try state.withLock { state in
            let found = Self.found(names, tokens, byteCount, in: state.table)
            for index in found {
                try check()
                state.table.block(names[index])?.bytes.withUnsafeBytes {
                    body(index, found.count, $0)
                }
            }
            if let last = found.last, let place = state.table.place(of: names[last]) {
                state.table.use(place)
            }
            state.usage.hits += found.count
            publish(state.usage)
            return found.count
        }
    }

    private static func found(
        _ names: [PrefixName], _ tokens: [Int32], _ byteCount: Int, in table: PrefixTable
    ) -> Range<Int> {
        names.indices.prefix { index in
            let range = index * blockTokens..<(index + 1) * blockTokens
            return table.block(names[index]).map {
                $0.bytes.count == byteCount && $0.tokens[...] == tokens[range]
            } ?? false
        }
    }

    /// Keeps a block unless it is here already, the one before it is not, or there is no room but
    /// that of blocks before it.
    ///
    /// Shapes and ranges:
    ///   - parent: the block before it; nil: it is a row's first.
    ///   - fill: writes `byteCount` bytes.
    func store(
        _ name: PrefixName, after parent: PrefixName?, tokens: ArraySlice<Int32>, byteCount: Int,
        fill: (UnsafeMutableRawPointer) -> Void
    ) {
        let needed = byteCount + Self.blockOverhead
        guard needed <= byteLimit else { return }
        state.withLock { state in
            if let place = state.table.place(of: name) { return state.table.use(place) }
            let before = parent.flatMap { state.table.place(of: $0) }
            if parent != nil {
                guard let before else { return }
                // Those before it are the youngest now: if the next to leave is its parent, there
                // are no others.
                state.table.use(before)
            }
            while state.usage.bytes + needed > byteLimit {
                guard state.table.oldest != before else { return }
                guard let old = state.table.removeOldest() else { return }
                state.usage.blocks -= 1
                state.usage.bytes -= old.bytes.count + Self.blockOverhead
                state.usage.evicted += 1
                publish(state.usage)
            }
            let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
                if let base = buffer.baseAddress { fill(UnsafeMutableRawPointer(base)) }
                count = byteCount
            }
            state.table.add(name, after: before, tokens: Array(tokens), bytes: bytes)
            state.usage.blocks += 1
            state.usage.bytes += needed
            state.usage.stored += 1
            publish(state.usage)
        }
    }
}
