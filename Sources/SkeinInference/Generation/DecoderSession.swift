import SkeinModels
import SkeinTensors

/// Reads the tokens of one sequence with a cache and gives the logits of the last one.
///
/// Not Sendable: one generation owns it. No dropout; the adapter is applied as in training, up to
/// rounding. `BatchDecoder` does the same for many sequences, with the same bits.
package final class DecoderSession {
    /// By whose kernels tokens are read; a function of what they are, never of how many are read at
    /// once.
    package enum Reading: Sendable {
        /// As a prompt: pieces of the weights as floats, multiplied with all tokens of a block. Keys,
        /// values and logits do not depend on how the prompt is cut into calls, as long as they are
        /// finite: a token whose values are not may make those before it, in its block of 32, not
        /// finite too (`CachedAttention.attend(block:)`). Nothing of such a block is kept for others.
        case prompt
        /// As an answer: each token by itself with the packed weights. They do not depend on how
        /// many tokens a call has.
        case answer
    }

    let pass: GenerationPass
    package let sequence: CachedSequence
    /// Where beginnings of prompts are kept and found; nil: nowhere.
    package let prefixes: PrefixCache?
    /// Tokens of the session behind those that `sequence` holds: they were being read again, because
    /// the row is turned otherwise now (longrope), when a `check` ended it.
    var unread: [Int32] = []

    static func blockTokens(_ compute: ComputeType) -> Int {
        GenerationPass.blockTokens(compute)
    }

    /// Bytes of keys and values for `tokens` tokens of prompt and answer.
    package static func cacheBytes(
        _ tokens: Int, of model: ModelConfiguration, type: CacheType = .fp32
    ) -> Int {
        CachedSequence.byteCount(
            model, type: type, capacity: tokens, appended: blockTokens(.bf16))
    }

    /// Shapes and ranges:
    ///   - adapter: nil for the base model.
    ///   - capacity: tokens of prompt and answer together.
    ///   - team: the threads that compute; no other work may use them at the same time.
    ///   - compute: for a prompt's products with the weights; an answer is multiplied in fp32.
    ///   - cacheType: how keys and values are held.
    ///   - answerRows: tokens of an answer that are read together, 1 to the tokens of a block (256 in
    ///     fp32); others become the nearest of these.
    ///   - prefixes: of the same model.
    package convenience init(
        weights: GenerationWeights, adapter: AdapterParameters?, capacity: Int, team: ComputeTeam,
        compute: ComputeType = .fp32, cacheType: CacheType = .fp32, answerRows: Int = 1,
        prefixes: PrefixCache? = nil
    ) {
        self.init(
            GenerationProjections(weights, adapter: adapter), capacity: capacity, team: team,
            compute: compute, cacheType: cacheType, answerRows: answerRows, prefixes: prefixes)
    }

    /// A session over a training decoder's weights, packed once more for it.
    ///
    /// Shapes and ranges:
    ///   - parameters: the flat vector of LoRA matrices; nil for the base model.
    ///   - capacity: tokens of prompt and answer together.
    package convenience init(
        decoder: Decoder, parameters: [Float]?, capacity: Int, threads: Int = 1
    ) {
        let team = ComputeTeam(threadCount: threads)
        self.init(
            GenerationProjections(
                GenerationWeights(decoder: decoder, team: team), adapter: decoder.adapter,
                parameters: parameters),
            capacity: capacity, team: team, compute: .fp32, cacheType: .fp32, answerRows: 1)
    }

    /// A session with an adapter that others may use, too.
    package init(
        _ projections: GenerationProjections, capacity: Int, team: ComputeTeam,
        compute: ComputeType, cacheType: CacheType = .fp32, answerRows: Int = 1,
        prefixes: PrefixCache? = nil
    ) {
        self.prefixes = prefixes
        let model = projections.weights.configuration
        pass = GenerationPass(
            weights: projections.weights, compute: compute, cacheType: cacheType, team: team,
            rows: answerRows, capacity: capacity, rank: projections.rank)
        sequence = CachedSequence(
            model, projections, rotations: Rotation.ofLayers(model, positions: capacity),
            type: cacheType, capacity: capacity, appended: pass.blockTokens)
    }

    var model: ModelConfiguration { pass.model }
    /// Tokens that were appended.
    package var count: Int { sequence.count + unread.count }
    /// Tokens that still fit.
    package var room: Int { sequence.capacity - count }
    /// Tokens that the row will have at least: the caller reads them in parts and wants them as if
    /// they were read at once.
    package var expectedLength: Int {
        get { sequence.expectedLength }
        set { sequence.expectedLength = newValue }
    }

    /// Tokens that were computed since the session began, those that were read again included.
    package var tokensComputed: Int { pass.tokensComputed }

    /// Bytes of weights and cache read for a token that sees `keys` tokens, itself included.
    package func bytesOfToken(keys: Int) -> Int {
        sequence.attentions.reduce(pass.weights.bytesPerToken) { $0 + $1.byteCount(keys: keys) }
    }

    /// Whether the session can go back to its first `tokens` tokens: whether the cache still has what
    /// the next one sees.
    package func canTruncate(to tokens: Int) -> Bool {
        tokens <= count && (tokens > sequence.count || sequence.canTruncate(to: tokens))
    }

    /// Tokens of a guess that may be read and truncated again without a trace.
    package var guessRoom: Int { unread.isEmpty ? sequence.guessRoom : 0 }

    /// Forgets the last tokens, to continue from an earlier place, which `canTruncate` allows.
    package func truncate(to tokens: Int) {
        precondition(canTruncate(to: tokens), "a window has forgotten what came before")
        unread = Array(unread.prefix(max(0, tokens - sequence.count)))
        if tokens < sequence.count { sequence.truncate(to: tokens) }
    }

    /// The `check` of a caller that wants what it asks for.
    package static func uninterrupted() {}

    /// Appends `tokens` (at least one, at most `room`, each of the model's vocabulary) and returns the
    /// last one's logits, [V].
    package func logits(after tokens: [Int32], as reading: Reading = .prompt) -> [Float] {
        withLogits(after: tokens, as: reading, check: Self.uninterrupted) { Array($0) }
    }

    /// Appends `tokens` and calls `body` with the last one's logits, [V], without a copy.
    ///
    /// `tokens` are at least one, at most `room`, each of the model's vocabulary: the caller knows
    /// these limits, and other tokens are a bug of its own that ends the process. `check` is called
    /// before each layer of each block; what it throws ends the reading. Those of `tokens` beyond
    /// `count` then were not read; with the rest of them the bits are those of an uninterrupted
    /// call.
    package func withLogits<Result>(
        after tokens: [Int32], as reading: Reading = .prompt, check: () throws -> Void,
        _ body: (UnsafeBufferPointer<Float>) throws -> Result
    ) rethrows -> Result {
        try append(tokens, as: reading, check: check)
        return try body(pass.logits(0))
    }

    /// Reads a whole prompt from its first token on and calls `body` with its last token's logits, [V].
    ///
    /// What it shares with what the session holds, and with `prefixes`, is not computed again. An
    /// answer in it counts as new: it was read as an answer, and is read as a prompt now. The prompt
    /// has at least one token and at most `capacity`, each of the model's vocabulary, as in
    /// `withLogits(after:)`, which says when `check` is called; it is before each block of `prefixes`,
    /// too. What it throws ends the reading, and the same call goes on from there, or begins anew if it
    /// was copying blocks.
    package func withLogits<Result>(
        ofPrompt prompt: [Int32], check: () throws -> Void,
        _ body: (UnsafeBufferPointer<Float>) throws -> Result
    ) rethrows -> Result {
        precondition(
            !prompt.isEmpty && prompt.count <= sequence.capacity, "a prompt fits the session")
        unread = []
        let known = try sequence.reuse(
            for: prompt, from: prefixes, compute: pass.compute, check: check)
        return try withLogits(after: Array(prompt[known...]), check: check, body)
    }

    /// Appends tokens of an answer and calls `body` with the index and the logits of each, [V]: what a
    /// guess of several tokens is judged by. The bits are those of one call for each token.
    package func withLogits(
        afterEach tokens: [Int32], check: () throws -> Void,
        _ body: (_ index: Int, UnsafeBufferPointer<Float>) throws -> Void
    ) rethrows {
        try appendAnswer(tokens, check: check, wantsEach: true, each: body)
    }

    /// Appends `tokens`; the logits of the last one, and its residual stream after the embedding,
    /// after each block and after the final norm: `layerCount + 2` vectors of [D].
    package func read(
        _ tokens: [Int32], as reading: Reading = .prompt
    ) -> (logits: [Float], hidden: [[Float]]) {
        var hidden: [[Float]] = []
        let width = model.width
        append(tokens, as: reading, check: Self.uninterrupted) {
            hidden.append(Array(UnsafeBufferPointer(start: $0, count: width)))
        }
        return (Array(pass.logits(0)), Array(hidden.suffix(model.layerCount + 2)))
    }
}
