import SkeinTensors

/// What the files of a family's models may state, and what a missing field of config.json means.
///
/// Only data, read by `ModelConfiguration`. What no family may state is refused by the field's name.
package struct FileTraits: Sendable {
    /// Which layers have the stated window.
    package enum Windows: Sendable, Equatable {
        /// None: a window shorter than the context is refused.
        case none
        case everywhere
        /// Those whose type is "sliding_attention"; without types, all but each `period`th.
        case alternating(period: Int)
        /// If use_sliding_window is true, as with `alternating`; without types those from
        /// max_window_layers on.
        case upper
        /// If use_sliding_window is true, as with `alternating`; without types those that are not
        /// rotated.
        case unrotated
    }

    /// Sizes that a missing field means; nil: the field is required, or its usual default holds.
    package struct Sizes: Sendable {
        package var vocabulary: Int?
        package var width: Int?
        package var feedForwardWidth: Int?
        package var layers: Int?
        package var heads: Int?
        package var keyValueHeads: Int?
        package var headDimension: Int?
    }

    package var sizes = Sizes()
    /// Whether the feed-forward part has the width of what a model with experts shares
    /// (shared_intermediate_size), whatever intermediate_size says.
    package var hasSharedWidth = false
    /// Whether a model may have Mamba layers and experts, and has them unless layer_types and
    /// num_local_experts say otherwise; neither is computed.
    package var isHybrid = false
    package var contextLength = 2048
    package var normEpsilon = 1e-6
    package var isTied = false

    package var windows = Windows.none
    /// nil: none.
    package var window: Int?

    package var theta = 10_000.0
    /// Whether layers of the type "sliding_attention" have a rotation of their own, without scaling.
    package var hasLocalRotation = false
    /// Its theta; nil: that of the other layers.
    package var localTheta: Double?
    /// Whether only a part of each head may be rotated (partial_rotary_factor).
    package var allowsPartialRotation = false
    /// Another name for "longrope", beside "su".
    package var longRopeName: String?
    /// original_max_position_embeddings beside rope_scaling.
    package var originalContextLength: Int?
    /// Each `period`th layer is not rotated, unless no_rope_layers says otherwise; nil: all are.
    package var unrotatedPeriod: Int?
    /// Whether layers are rotated only if position_embedding_type is "rope".
    package var statesPositions = false
    /// Whether queries grow with their position (llama_4_scaling_beta).
    package var hasQueryGrowth = false

    package var activation = GatedActivation.swiGLU
    /// Which of config.json's fields names it.
    package var activationField = "hidden_act"
    /// Projections that have a bias whatever the file says.
    package var biased: Set<TargetModule> = []
    /// Those that have one if attention_bias is true; empty: it must be false.
    package var attentionBias: Set<TargetModule> = []
    /// Those that have one if mlp_bias is true; empty: it must be false.
    package var feedForwardBias: Set<TargetModule> = []

    /// Whether embeddings, residuals, logits and attention have factors (Granite).
    package var hasMultipliers = false
    /// query_pre_attn_scalar, whose root divides q k^T; nil: it is not read.
    package var queryScalar: Double?
    /// Layers of the one size whose GGUF files divide by the width of a head of the residual stream
    /// instead; they do not state it.
    package var layersScaledByWidth: Int?
    /// Whether the field is read, and what a missing one means.
    package var attentionSoftCap = SoftCap.refused
    package var logitsSoftCap = SoftCap.refused

    package enum SoftCap: Sendable, Equatable {
        case refused
        /// nil: none.
        case read(default: Double?)
    }
}
