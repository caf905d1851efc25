import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinRows
import SkeinTensors

/// Computes micro-batches: the loaded model with its adapter's shape, and a run's dropout, codec
/// and seed. It has no threads; the calling one computes.
///
/// `train`, workers, `evaluate` and `bench` all load their model here.
package struct MicroBatchEngine: Sendable {
    package let decoder: Decoder
    /// nil: nothing is dropped.
    package let dropout: Dropout?
    /// On embeddings; nil: none.
    package let noise: EmbeddingNoise?
    /// Only the training loss is smoothed.
    package let labelSmoothing: Float
    package let codec: GradientCodec
    package let seed: UInt64
    /// How answers are compared; nil: the loss is that of each row.
    package let preference: PreferenceLoss?
    /// Where the frozen blocks' output is kept; nil: it is computed each time. The bits are the same.
    package var features: FeatureStore?

    package init(
        decoder: Decoder, dropout: Dropout?, noise: EmbeddingNoise? = nil,
        labelSmoothing: Float = 0, codec: GradientCodec, seed: UInt64,
        preference: PreferenceLoss? = nil
    ) {
        self.preference = preference
        self.decoder = decoder
        self.dropout = dropout
        self.noise = noise
        self.labelSmoothing = labelSmoothing
        self.codec = codec
        self.seed = seed
    }

    /// Loads the weights of `model`.
    ///
    /// - Parameters:
    ///   - model: opened and checked.
    ///   - adapter: shape of the LoRA matrices; nil for the base model alone.
    ///   - configuration: dropout, noise, label smoothing, codec, seed, compute type and gradient checkpointing are used.
    ///   - residence: where the weights are.
    ///   - positions: tokens of the longest row.
    ///   - threads: threads that dequantize while loading.
    ///   - progress: gets the bytes of each piece of the model's file; false ends the loading.
    /// - Throws: `FormatError`; `CancellationError` when `progress` returned false.
    package init(
        model: ModelDirectory, adapter: AdapterShape?, configuration: TrainingConfiguration,
        residence: WeightResidence, positions: Int, threads: Int,
        progress: @Sendable (Int) -> Bool = { _ in true }
    ) throws {
        try self.init(
            weights: DecoderWeights(
                model: model, residence: residence, compute: configuration.compute,
                positions: positions, threads: threads, progress: progress),
            of: model, adapter: adapter, configuration: configuration)
    }

    /// Computes with weights that are loaded.
    ///
    /// - Parameters:
    ///   - weights: of `model`.
    ///   - model: opened and checked.
    ///   - adapter: shape of the LoRA matrices; nil for the base model alone.
    ///   - configuration: as above.
    /// - Throws: `FormatError`.
    package init(
        weights: DecoderWeights, of model: ModelDirectory, adapter: AdapterShape?,
        configuration: TrainingConfiguration
    ) throws {
        try self.init(
            decoder: Decoder(
                weights: weights, adapter: adapter,
                gradientCheckpointing: configuration.gradientCheckpointing,
                baseNorms: BaseNorms.needed(adapter, of: model),
                roundsFeatures: configuration.featureType == .bf16),
            configuration: configuration)
    }

    /// Takes dropout, noise, label smoothing, codec and seed from `configuration`.
    package init(decoder: Decoder, configuration: TrainingConfiguration) {
        let seed = configuration.addressedSeed
        self.init(
            decoder: decoder,
            dropout: configuration.dropout > 0
                ? Dropout(probability: Float(configuration.dropout), seed: seed) : nil,
            noise: configuration.neftuneAlpha.map {
                EmbeddingNoise(alpha: Float($0), seed: seed)
            },
            labelSmoothing: Float(configuration.labelSmoothing ?? 0),
            codec: configuration.gradientCodec, seed: seed,
            preference: configuration.preferenceLoss)
    }

    /// Rows end to end, as the decoder takes them.
    ///
    /// - Parameters:
    ///   - rows: if answers are compared, the chosen and the rejected one of each pair in turn.
    ///   - tokenShare: as `MicroBatch` has it.
    /// - Returns: the batch.
    func packed(_ rows: [TokenizedRow], tokenShare: Double) -> PackedBatch {
        PackedBatch(
            rows.map(PackedBatch.Sequence.init),
            pairs: preference.map {
                PackedBatch.Pairs(
                    loss: $0, tokenShare: tokenShare,
                    // A reference that is not known is never used: the loss would not be finite.
                    references: $0.kind == .dpo ? rows.map { $0.reference ?? .nan } : [])
            })
    }
}

extension ResidenceChoice {
    /// Where the weights of `model` are when nothing else needs much memory: resident if they fit
    /// into the memory that the process may use.
    package func residence(of model: ModelDirectory, compute: ComputeType) -> WeightResidence {
        switch self {
        case .resident: return .resident
        case .streamed: return .streamed
        case .auto:
            guard let usable = SystemMemory.usable else { return .resident }
            return model.configuration.residentBytes(compute) <= usable ? .resident : .streamed
        }
    }
}

// One micro-batch, on the calling thread.
extension MicroBatchEngine {
    /// Loss and gradient of a micro-batch, rounded and hashed.
    ///
    /// - Parameters:
    ///   - microBatch: rows that the model can compute (`TokenizedRow.fits`).
    ///   - parameters: the flat vector of LoRA matrices.
    ///   - workspace: for the calling thread alone.
    ///   - place: of the calling thread among those that help it; nil: it is alone.
    /// - Returns: the result, with "local" as its worker.
    package func gradient(
        of microBatch: MicroBatch, parameters: [Float], workspace: DecoderWorkspace,
        place: WorkSharing.Place? = nil
    ) -> MicroBatchResult {
        let rounded = compute(microBatch, parameters, workspace, place, progress: nil) {
            codec.round(&$0, seed: seed, step: microBatch.step, microBatch: microBatch.index)
        }
        guard let rounded else {
            preconditionFailure("a pass without a progress cannot be abandoned")
        }
        return rounded.result
    }

    /// Loss and gradient of a micro-batch, neither rounded nor hashed; nil if the pass was abandoned
    /// through `progress`.
    func sum(
        of microBatch: MicroBatch, parameters: [Float], workspace: DecoderWorkspace,
        place: WorkSharing.Place?, progress: PassProgress?
    ) -> GradientSum? {
        pass(over: microBatch, parameters, workspace, place, progress).map { loss, gradient in
            GradientSum(
                tokens: microBatch.tokenCount, lossTokens: loss.lossTokens, lossSum: loss.lossSum,
                gradient: gradient)
        }
    }

    /// The result of `gradient`, and its gradient packed for the wire: the same numbers. nil if the
    /// pass was abandoned through `progress`.
    package func packedGradient(
        of microBatch: MicroBatch, parameters: [Float], workspace: DecoderWorkspace,
        place: WorkSharing.Place? = nil, progress: PassProgress? = nil
    ) -> (result: MicroBatchResult, payload: [UInt8])? {
        compute(microBatch, parameters, workspace, place, progress: progress) {
            codec.pack(&$0, seed: seed, step: microBatch.step, microBatch: microBatch.index)
        }.map { ($0.result, payload: $0.rest) }
    }

    private func compute<Rest>(
        _ microBatch: MicroBatch, _ parameters: [Float], _ workspace: DecoderWorkspace,
        _ place: WorkSharing.Place?, progress: PassProgress?,
        rounding round: (inout [Float]) -> Rest
    ) -> (result: MicroBatchResult, rest: Rest)? {
        guard
            let (loss, made) = pass(over: microBatch, parameters, workspace, place, progress)
        else { return nil }
        var gradient = consume made
        let rest = round(&gradient)
        let digest = GradientCodec.digest(of: gradient)
        let sum = GradientSum(
            tokens: microBatch.tokenCount, lossTokens: loss.lossTokens, lossSum: loss.lossSum,
            gradient: gradient)
        return (
            MicroBatchResult(
                index: microBatch.index, sum: sum, digest: digest, worker: WorkerName.own,
                attempt: 1),
            rest
        )
    }

    private func pass(
        over microBatch: MicroBatch, _ parameters: [Float], _ workspace: DecoderWorkspace,
        _ place: WorkSharing.Place?, _ progress: PassProgress?
    ) -> (loss: BatchLoss, gradient: [Float])? {
        let address = dropout.map { Decoder.DropoutAddress(dropout: $0, step: microBatch.step) }
        let noise = noise.map { Decoder.NoiseAddress(noise: $0, step: microBatch.step) }
        let batch = packed(microBatch.rows, tokenShare: microBatch.tokenShare)
        let beginning = beginning(
            of: batch, training: true, workspace: workspace, place: place, progress: progress)
        var loss: BatchLoss?
        let gradient = [Float](unsafeUninitializedCapacity: parameters.count) { buffer, count in
            guard let out = buffer.baseAddress else { return }
            parameters.withUnsafeBufferPointer { parameters in
                guard let parameters = parameters.baseAddress else { return }
                loss = beginning.perform {
                    decoder.gradient(
                        of: batch, features: $0, parameters: parameters, dropout: address,
                        noise: noise, labelSmoothing: labelSmoothing,
                        workspace: workspace, place: place, into: out, progress: progress)
                }
            }
            count = loss == nil ? 0 : parameters.count
        }
        return loss.map { ($0, gradient) }
    }

    /// The loss of rows that are evaluated together, on the calling thread, without dropout.
    ///
    /// - Parameters:
    ///   - group: of `RowEvaluation.groups`; rows that the model can compute (`TokenizedRow.fits`).
    ///   - tokenShare: of all rows that are evaluated, as `MicroBatch` has it.
    ///   - parameters: the flat vector of LoRA matrices; nil: the base model alone.
    ///   - workspace: for the calling thread alone.
    ///   - place: of the calling thread among those that help it; nil: it is alone.
    ///   - progress: lets another thread follow and abandon the pass.
    /// - Returns: nil if the pass was abandoned.
    package func loss(
        of group: [TokenizedRow], tokenShare: Double = 0, parameters: [Float]?,
        workspace: DecoderWorkspace, place: WorkSharing.Place? = nil,
        progress: PassProgress? = nil
    ) -> BatchLoss? {
        let batch = packed(group, tokenShare: tokenShare)
        return beginning(
            of: batch, training: false, workspace: workspace, place: place, progress: progress
        ).perform { features in
            guard let parameters else {
                return decoder.loss(
                    of: batch, features: features, parameters: nil, workspace: workspace,
                    place: place, progress: progress)
            }
            return parameters.withUnsafeBufferPointer {
                decoder.loss(
                    of: batch, features: features, parameters: $0.baseAddress,
                    workspace: workspace, place: place, progress: progress)
            }
        }
    }
}

extension MicroBatchEngine {
    /// The log-probability of each row's loss tokens, without dropout.
    ///
    /// - Parameters:
    ///   - group: rows that the model can compute (`TokenizedRow.fits`).
    ///   - parameters: the flat vector of LoRA matrices; nil: the base model alone.
    ///   - workspace: for the calling thread alone.
    ///   - place: of the calling thread among those that help it; nil: it is alone.
    ///   - progress: lets another thread follow and abandon the pass.
    /// - Returns: nil if the pass was abandoned.
    package func logProbabilities(
        of group: [TokenizedRow], parameters: [Float]?, workspace: DecoderWorkspace,
        place: WorkSharing.Place? = nil, progress: PassProgress? = nil
    ) -> [Double]? {
        let batch = PackedBatch(group.map(PackedBatch.Sequence.init))
        return beginning(
            of: batch, training: false, workspace: workspace, place: place, progress: progress
        ).perform { features in
            guard let parameters else {
                return decoder.logProbabilities(
                    of: batch, features: features, parameters: nil, workspace: workspace,
                    place: place, progress: progress)
            }
            return parameters.withUnsafeBufferPointer {
                decoder.logProbabilities(
                    of: batch, features: features, parameters: $0.baseAddress,
                    workspace: workspace, place: place, progress: progress)
            }
        }
    }
}

extension PackedBatch.Sequence {
    /// A tokenized row as the decoder takes it.
    package init(_ row: TokenizedRow) {
        var isTarget = [Bool](repeating: false, count: row.ids.count)
        for range in row.targets {
            for position in range { isTarget[position] = true }
        }
        self.init(
            tokens: row.ids, isTarget: isTarget, number: UInt32(truncatingIfNeeded: row.number))
    }
}

extension MicroBatchEngine {
    /// Computes micro-batches on threads of this process and delivers each result once, in any order.
    ///
    /// - Parameters:
    ///   - microBatches: of one step.
    ///   - parameters: the flat vector of LoRA matrices.
    ///   - threads: that compute.
    ///   - recipe: of the run, for what results say that they were computed from; nil: they do not.
    ///   - deliver: gets the results.
    /// - Throws: what `deliver` throws.
    package func gradients(
        of microBatches: [MicroBatch], parameters: [Float], threads: DecoderThreads,
        recipe: WorkRecipe? = nil, deliver: (MicroBatchResult) throws -> Void
    ) throws {
        let digest = recipe.map { _ in GradientCodec.digest(of: parameters) }
        try threads.forEach(microBatches.count) { [self] index, workspace, place in
            let microBatch = microBatches[index]
            var result = gradient(
                of: microBatch, parameters: parameters, workspace: workspace, place: place)
            if let recipe, let digest {
                result.inputs = WorkInputs(recipe, parameters: digest, gradientOf: microBatch)
            }
            return result
        } receive: { _, result in
            try deliver(result)
        }
    }
}
