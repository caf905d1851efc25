import SkeinModels
import SkeinTensors

/// One sequence of tokens as generation keeps it: the adapter that reads it, and the keys and values
/// of what was read.
///
/// Tokens are read in two ways. *Prompt* tokens are multiplied by the prompt's kernels, *answer*
/// tokens by the token's; the two differ in the last bits (decision 9). Keys and values of the first
/// `exactCount` tokens are those of a prompt, so that a sequence that reads the same tokens as a
/// prompt has the same bits. Not Sendable: one thread at a time.
package final class CachedSequence {
    let projections: GenerationProjections
    /// How keys and values are held.
    let cacheType: CacheType
    /// One for each layer.
    let attentions: [CachedAttention]
    /// One for each layer.
    let rotations: [Rotation]
    /// Tokens that fit.
    package let capacity: Int
    /// Where each layer's keys and values begin in `cache`.
    private let places: [Int]
    private let cache: FloatBuffer
    /// What is in the cache.
    package private(set) var tokens: [Int32] = []
    /// Leading tokens that prompt kernels have read.
    package private(set) var exactCount = 0
    /// Tokens up to which slots of the cache were written, also by a block that was interrupted and
    /// does not count: what a window's ring held there is lost.
    private var writtenCount = 0
    /// Tokens of the row as far as it was known when the cached keys were turned.
    private(set) var rowLength = 0
    /// Tokens that the row will have at least: the caller reads them in parts and wants them as if
    /// they were read at once.
    package var expectedLength = 0
    /// nil before `reuse` with a cache.
    private(set) var prefixChain: PrefixChain?

    /// Shapes and ranges:
    ///   - rotations: for at least `capacity` positions.
    ///   - appended: tokens that are read at once, at most.
    init(
        _ model: ModelConfiguration, _ projections: GenerationProjections, rotations: [Rotation],
        type: CacheType, capacity: Int, appended: Int
    ) {
        self.projections = projections
        cacheType = type
        self.rotations = rotations
        self.capacity = capacity
        attentions = Self.attentions(
            model, type: type, capacity: capacity, appended: appended)
        var count = 0
        places = attentions.map { attention in
            defer { count += attention.layerCount }
            return count
        }
        cache = FloatBuffer(count: count)
        tokens.reserveCapacity(capacity)
    }

    /// How each layer attends; `appended`: tokens whose keys are cached before the first attends.
    static func attentions(
        _ model: ModelConfiguration, type: CacheType, capacity: Int, appended: Int
    ) -> [CachedAttention] {
        (0..<model.layerCount).map {
            CachedAttention(
                model.attention($0), type: type, capacity: capacity, appended: appended)
        }
    }

    /// Bytes of keys and values.
    static func byteCount(
        _ model: ModelConfiguration, type: CacheType, capacity: Int, appended: Int
    ) -> Int {
        attentions(model, type: type, capacity: capacity, appended: appended).reduce(0) {
            $0 + 4 * $1.layerCount
        }
    }

    /// Tokens that the cache holds.
    package var count: Int { tokens.count }
    /// Tokens that still fit.
    package var room: Int { capacity - count }
    /// A layer's keys and values.
    func cached(_ layer: Int) -> UnsafeMutablePointer<Float> { cache.base + places[layer] }

    /// Whether the cache still has what the token after the first `tokens` sees.
    package func canTruncate(to tokens: Int) -> Bool {
        guard tokens >= 0 && tokens <= count else { return false }
        return tokens == 0
            || attentions.allSatisfy { $0.holds(whatIsSeenAt: tokens, of: writtenCount) }
    }

    /// Forgets the last tokens, to continue from an earlier place.
    package func truncate(to count: Int) {
        precondition(canTruncate(to: count), "a window has forgotten what came before")
        tokens.removeLast(tokens.count - count)
        exactCount = min(exactCount, count)
        if count == 0 { writtenCount = 0 }
        let blocks = count / PrefixCache.blockTokens
        if let chain = prefixChain, chain.names.count > blocks {
            prefixChain?.names.removeLast(chain.names.count - blocks)
        }
    }

    /// `tokens` more are going to be read, in one block or in several.
    func plan(_ tokens: Int) {
        rowLength = max(expectedLength, count + tokens)
        // Blocks of a row that is turned otherwise have other names.
        if let chain = prefixChain, chain.turns != turns(of: rowLength) { prefixChain = nil }
    }

    /// For each layer whether a row of this length is long enough to be turned otherwise.
    func turns(of length: Int) -> [Bool] { rotations.map { $0.isLong(length) } }

    /// The row will have this many tokens, in all.
    func planRow(of length: Int) { rowLength = length }

    /// `tokens` are about to be written into the cache behind what it holds.
    func willRead(_ tokens: Int) {
        writtenCount = max(writtenCount, count + tokens)
    }

    /// `tokens` are in the cache.
    ///
    /// `asPrompt`: prompt kernels have read them, and nothing else entered their keys and values.
    func didRead(_ tokens: some Collection<Int32>, asPrompt: Bool) {
        if asPrompt, exactCount == count { exactCount += tokens.count }
        self.tokens += tokens
    }

    /// `tokens` were put into the empty cache as prompt kernels had computed them.
    func didRestore(_ tokens: ArraySlice<Int32>) {
        self.tokens.removeAll(keepingCapacity: true)
        self.tokens += tokens
        exactCount = count
        writtenCount = count
    }

    func begin(_ chain: PrefixChain) { prefixChain = chain }

    /// Whether a layer's ring still holds some tokens.
    func holds(_ tokens: Range<Int>, in attention: CachedAttention) -> Bool {
        attention.holds(tokens, of: writtenCount)
    }

    /// Whether what is cached was turned otherwise than a row that `tokens` more make.
    func isTurnedOtherwise(before tokens: Int) -> Bool {
        tokens > 0 && count > 0 && areTurned(rowLength, otherwiseThan: tokens)
    }

    /// The first of `tokens`, at most `most`, before which nothing has to be turned again; none if it
    /// has to be before the first. A function of the row and not of `most`: rows that are read one by
    /// one end where those that are read together do.
    func rowsTurnedAlike(_ tokens: ArraySlice<Int32>, most: Int) -> ArraySlice<Int32> {
        var rows = tokens.prefix(most)
        guard rotations.contains(where: \.dependsOnLength) else { return rows }
        let before = count > 0 ? rowLength : max(expectedLength, 1)
        while !rows.isEmpty, areTurned(before, otherwiseThan: rows.count) { rows.removeLast() }
        return rows
    }

    /// Whether a row of one length is turned otherwise than this one with `tokens` more.
    private func areTurned(_ length: Int, otherwiseThan tokens: Int) -> Bool {
        let new = max(expectedLength, count + tokens)
        return rotations.contains { $0.differs(length, new) }
    }

    /// Tokens of a guess that may be read and truncated again without a trace: those before which
    /// nothing is turned again, which would read answers as prompts.
    var guessRoom: Int {
        var most = min(room, GenerationPass.blockTokens(.fp32))
        if rotations.contains(where: \.dependsOnLength) {
            while isTurnedOtherwise(before: most) { most -= 1 }
        }
        return most
    }

    /// Empties the cache; what it held must be read again, as a prompt.
    func restart() -> [Int32] {
        let old = tokens
        truncate(to: 0)
        // The caller has the old array; a row grows in one that never moves.
        tokens = []
        tokens.reserveCapacity(capacity)
        // Blocks of a row that is turned otherwise have other names.
        prefixChain = nil
        return old
    }

    /// Bytes that this object holds now: keys and values, tokens, and the names of its blocks.
    var heldBytes: Int {
        cache.count * MemoryLayout<Float>.stride + tokens.capacity * MemoryLayout<Int32>.stride
            + attentions.capacity * MemoryLayout<CachedAttention>.stride
            + places.capacity * MemoryLayout<Int>.stride
            + (prefixChain?.names.count ?? 0) * PrefixName.heldBytes
    }
}
