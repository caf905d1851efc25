import SkeinTraining

// The values of a recipe that are neither numbers nor flags.
extension Recipe {
    /// How the learning rate goes on after the warm-up. All but `constant` fall to
    /// `Recipe.minLearningRate`.
    public enum Schedule: String, Sendable, CaseIterable {
        case constant
        /// Falls linearly, so that a step after the last would have that rate.
        case linear
        /// Falls on half a cosine, so that a step after the last would have that rate.
        case cosine
        /// As `cosine`, several times: each cycle begins at `Recipe.learningRate`.
        case cosineWithRestarts = "cosine-with-restarts"
        /// Falls on a power of the share of steps that are left.
        case polynomial
    }

    /// How a row of data becomes text. An adapter should be asked in the format that it was trained
    /// in: another one can make its answers worse.
    public enum PromptFormat: String, Sendable, CaseIterable {
        /// `chat` if the model has a template, else `eos`.
        case auto
        /// The model's chat template.
        case chat
        /// Prompt, end token, completion, end token.
        case eos
        /// Prompt, completion, end token.
        case raw
    }

    /// Which assistant turns of a conversation carry loss. All other text is only read.
    public enum TrainedTurns: String, Sendable, CaseIterable {
        case all
        case last
    }

    /// What is held out for validation as a whole. If rows share prompts, `prompt` keeps a prompt
    /// that is trained on out of the validation rows.
    public enum SplitUnit: String, Sendable, CaseIterable {
        case row
        /// All rows that the model sees the same prompt of.
        case prompt
    }

    /// A loss of pairs of answers, of rows with `prompt`, `chosen` and `rejected`. Both answers of
    /// a row are computed; `dpo` also needs what its `Reference` makes of them.
    public enum PreferenceLoss: String, Sendable, CaseIterable {
        /// Direct preference optimization, which compares with `Reference`.
        case dpo
        /// Odds ratio preference optimization.
        case orpo
        /// Simple preference optimization.
        case simpo
    }

    /// What DPO compares with.
    public enum Reference: String, Sendable, CaseIterable {
        /// The base model without an adapter.
        case base
        /// The base model with the adapter that the run starts from, as it is then.
        case initial = "init"
    }

    /// What makes a validation the best one of a run, whose adapter is kept.
    public enum BestMetric: String, Sendable, CaseIterable {
        /// The lowest loss.
        case loss
        /// The highest share of loss tokens that the model would have picked itself; with a loss of
        /// pairs, of pairs whose chosen answer is ahead.
        case accuracy
    }

    /// Precision of a gradient that leaves its micro-batch. A coarser one takes fewer bytes on the
    /// network; a run in one process rounds likewise, so that it ends with the same adapter.
    public enum Precision: String, Sendable, CaseIterable {
        /// Not rounded.
        case fp32
        /// Rounded to bfloat16.
        case bf16
        /// Blocks of 64 with one scale, rounded stochastically.
        case int8
    }

    /// Precision of a change of parameters between two averages of a run with local steps. A
    /// coarser one takes fewer bytes on the network.
    public enum DeltaPrecision: String, Sendable, CaseIterable {
        /// Not rounded.
        case fp32
        /// Rounded to bfloat16.
        case bf16
        /// Blocks of 64 with one scale, rounded stochastically.
        case int8
        /// Only the largest numbers, as `int8`.
        case topk
    }

    /// Precision of multiplying by the frozen weights; all else is fp32.
    public enum Compute: String, Sendable, CaseIterable {
        case fp32
        /// Weights and inputs are rounded to bfloat16, sums stay fp32. Takes about half the time on AMD
        /// Zen 4 and 5, and more time than `fp32` on some Intel Xeons.
        case bf16
        /// Weights and inputs are quantized to 8-bit integers, sums are exact: the fastest where a
        /// processor has VNNI, and the same bits on every processor.
        case int8
    }

    /// How numbers that enter the lowest adapted block are taken on.
    public enum FeatureType: String, Sendable, CaseIterable {
        /// As they are.
        case fp32
        /// Rounded to bfloat16, so that `Machine.reusesFeatures` takes half the disk.
        case bf16
    }

    /// Which decoder blocks get an adapter. No pass goes back through the blocks below the lowest
    /// one, unless the embedding is adapted, too, and `Machine.reusesFeatures` computes those only
    /// once for each row.
    public enum Layers: Sendable, Equatable {
        case all
        /// The last n blocks.
        case last(Int)
        /// The blocks of a range, counted from 0.
        case range(ClosedRange<Int>)
    }
}

extension RawRepresentable<String> {
    /// The case of the same name: the library's enumerations mirror those of the engine, which are
    /// not public.
    init(named other: some RawRepresentable<String>) {
        guard let value = Self(rawValue: other.rawValue) else {
            preconditionFailure("\(Self.self) has no \(other.rawValue)")
        }
        self = value
    }
}

extension Recipe.Layers {
    init(_ value: LayerSelection) {
        switch value {
        case .all: self = .all
        case .last(let count): self = .last(count)
        case .range(let range): self = .range(range)
        }
    }

    var selection: LayerSelection {
        switch self {
        case .all: .all
        case .last(let count): .last(count)
        case .range(let range): .range(range)
        }
    }
}
