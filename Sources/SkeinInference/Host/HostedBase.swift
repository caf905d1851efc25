import SkeinBasics
import SkeinModels
import SkeinTensors

/// A base model in memory: the one copy of its weights, to which adapters are added.
///
/// `TextGenerator`, `skein generate` and the samples of a run answer with it, one prompt at a time, on
/// threads of their own. `ModelHost` decodes the answers of many together.
package struct HostedBase: Sendable {
    package let model: ModelDirectory
    package let weights: GenerationWeights

    package init(_ model: ModelDirectory, weights: GenerationWeights) {
        self.model = model
        self.weights = weights
    }

    /// Loads the weights.
    ///
    /// - Parameters:
    ///   - model: the base.
    ///   - team: that packs them.
    ///   - check: called before each layer; what it throws ends the loading.
    /// - Throws: `FormatError`; what `check` throws.
    package init(
        _ model: ModelDirectory, team: ComputeTeam, check: () throws -> Void = {}
    ) throws {
        self.init(model, weights: try GenerationWeights(model: model, team: team, check: check))
    }

    /// Bytes of the weights, and of one answer's keys and values.
    package static func byteCount(of model: ModelDirectory, tokens: Int) -> Int {
        model.weightBytes.saturatingPlus(
            DecoderSession.cacheBytes(tokens, of: model.configuration))
    }

    /// What continues one prompt; `SamplingRule` says what counts where the wish is silent.
    ///
    /// - Parameters:
    ///   - wish: how tokens are picked.
    ///   - adapter: nil for the base model alone.
    ///   - capacity: tokens of prompt and answer together.
    ///   - stopTokens: end the answer.
    ///   - tokenCount: ids below it are tokens; nil: all are.
    ///   - team: the threads that compute; no others use them meanwhile.
    ///   - compute: precision of multiplying the prompt by the weights.
    ///   - answerRows: tokens of an answer that are read together.
    /// - Returns: the generator, with a session of its own.
    package func generator(
        _ wish: SamplingWish = SamplingWish(), adapter: AdapterParameters?, capacity: Int,
        stopTokens: Set<Int32>, tokenCount: Int? = nil, team: ComputeTeam,
        compute: ComputeType = .fp32, answerRows: Int = 1
    ) -> Generator {
        Generator(
            session: DecoderSession(
                weights: weights, adapter: adapter, capacity: capacity, team: team,
                compute: compute, answerRows: answerRows),
            sampler: SamplingRule(model: SamplingWish(model.sampling)).sampler(
                for: wish, hasAdapter: adapter != nil),
            stopTokens: stopTokens, tokenCount: tokenCount)
    }
}
