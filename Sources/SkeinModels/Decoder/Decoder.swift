import SkeinBasics
import SkeinTensors

/// A decoder with an optional LoRA adapter: loss and gradient of one micro-batch, on
/// the calling thread.
///
/// The result depends on the batch, the parameters and the dropout address alone. Letters as in
/// `DecoderWorkspace`.
package struct Decoder: Sendable {
    package let weights: DecoderWeights
    /// nil: the base model alone.
    package let adapter: AdapterShape?
    /// Keeps only each block's input and computes the rest again in the backward pass: about a
    /// third more time for a tenth of the activations. The bits are the same.
    package let gradientCheckpointing: Bool
    /// Set for an adapter with magnitudes.
    let baseNorms: BaseNorms?
    /// Whether what enters the lowest adapted block is rounded to bf16.
    package let roundsFeatures: Bool

    /// `baseNorms`: needed by an adapter with magnitudes.
    package init(
        weights: DecoderWeights, adapter: AdapterShape?, gradientCheckpointing: Bool = false,
        baseNorms: BaseNorms? = nil, roundsFeatures: Bool = false
    ) {
        precondition(
            adapter?.configuration.usesMagnitudes != true || baseNorms != nil,
            "magnitudes are compared with norms of the base model's rows")
        self.weights = weights
        self.adapter = adapter
        self.baseNorms = baseNorms
        self.roundsFeatures = roundsFeatures
        self.gradientCheckpointing = gradientCheckpointing
    }

    var model: ModelConfiguration { weights.configuration }

    /// The address of a step's dropout masks.
    package struct DropoutAddress: Sendable {
        let dropout: Dropout
        let step: UInt32

        package init(dropout: Dropout, step: Int) {
            self.dropout = dropout
            self.step = UInt32(truncatingIfNeeded: step)
        }
    }

    /// Sum loss and *sum* gradient of a batch.
    ///
    /// Shapes and ranges:
    ///   - parameters: the flat vector of LoRA matrices, `adapter.layout.count` floats.
    ///   - dropout: nil for none.
    ///   - noise: nil for none.
    ///   - labelSmoothing: as in `CrossEntropy.row`.
    ///   - gradient: as many floats, overwritten.
    package func gradient(
        of batch: PackedBatch, parameters: UnsafePointer<Float>, dropout: DropoutAddress?,
        noise: NoiseAddress? = nil, labelSmoothing: Float = 0,
        workspace: DecoderWorkspace, into gradient: UnsafeMutablePointer<Float>
    ) -> BatchLoss {
        // Without a `progress`, the pass cannot be abandoned.
        self.gradient(
            of: batch, parameters: parameters, dropout: dropout, noise: noise,
            labelSmoothing: labelSmoothing, workspace: workspace,
            into: gradient, progress: nil) ?? BatchLoss()
    }

    /// Sum loss and *sum* gradient of a batch; nil, and no gradient, when the pass was abandoned.
    ///
    /// The bits do not depend on `progress`. `place`: the calling thread's among those that help it
    /// with its products; nil: it is alone. `features`: what `features(of:)` gave for the batch, if the
    /// frozen blocks need not be computed.
    package func gradient(
        of batch: PackedBatch, features: UnsafePointer<Float>? = nil,
        parameters: UnsafePointer<Float>, dropout: DropoutAddress?,
        noise: NoiseAddress? = nil, labelSmoothing: Float = 0,
        workspace: DecoderWorkspace, place: WorkSharing.Place? = nil,
        into gradient: UnsafeMutablePointer<Float>, progress: PassProgress?
    ) -> BatchLoss? {
        precondition(features == nil || noise == nil, "features are without noise")
        begin(progress, hasFeatures: features != nil, training: true)
        var pass = DecoderPass(
            decoder: self, batch: batch, features: features, parameters: parameters,
            dropout: dropout, noise: noise, training: true, progress: progress,
            workspace: workspace, place: place)
        pass.headGradient = gradient
        guard pass.forward() else { return nil }
        let loss = pass.head(gradient: true, smoothing: labelSmoothing)
        return pass.backward(into: gradient) ? loss : nil
    }

    /// Sum loss of a batch, without gradient and without dropout.
    package func loss(
        of batch: PackedBatch, parameters: UnsafePointer<Float>?, workspace: DecoderWorkspace
    ) -> BatchLoss {
        loss(of: batch, parameters: parameters, workspace: workspace, progress: nil) ?? BatchLoss()
    }

    /// Sum loss of a batch, without gradient and without dropout; nil when the pass was abandoned.
    ///
    /// `features`: as `gradient` has it.
    package func loss(
        of batch: PackedBatch, features: UnsafePointer<Float>? = nil,
        parameters: UnsafePointer<Float>?, workspace: DecoderWorkspace,
        place: WorkSharing.Place? = nil, progress: PassProgress?
    ) -> BatchLoss? {
        begin(progress, hasFeatures: features != nil, training: false)
        let pass = DecoderPass(
            decoder: self, batch: batch, features: features, parameters: parameters, dropout: nil,
            training: false, progress: progress, workspace: workspace, place: place)
        return pass.forward() ? pass.head(gradient: false) : nil
    }

    /// The logits of a batch's loss rows, [M, V], as the training pass makes them.
    package func logits(
        of batch: PackedBatch, parameters: UnsafePointer<Float>?, workspace: DecoderWorkspace
    ) -> [Float] {
        let pass = DecoderPass(
            decoder: self, batch: batch, parameters: parameters, dropout: nil, training: false,
            workspace: workspace)
        return pass.forward() ? pass.logits() : []
    }

    /// Room for the largest piece of a streamed matrix; 0 when all weights are resident.
    var streamedFloats: Int {
        weights.residence == .resident ? 0 : model.largestStreamedFloats(weights.compute)
    }
}

/// One forward and backward pass over one micro-batch.
struct DecoderPass {
    let decoder: Decoder
    let batch: PackedBatch
    /// What leaves the frozen blocks, [T, D]; nil: it is computed.
    let features: UnsafePointer<Float>?
    let parameters: UnsafePointer<Float>?
    let dropout: Decoder.DropoutAddress?
    let noise: Decoder.NoiseAddress?
    let training: Bool
    /// nil: the pass is not followed.
    let progress: PassProgress?
    let memory: BatchMemory
    let matMul: MatMul
    /// The flat vector in which the head's adapter gets its gradient; nil: no gradient is wanted.
    var headGradient: UnsafeMutablePointer<Float>?

    init(
        decoder: Decoder, batch: PackedBatch, features: UnsafePointer<Float>? = nil,
        parameters: UnsafePointer<Float>?, dropout: Decoder.DropoutAddress?,
        noise: Decoder.NoiseAddress? = nil, training: Bool,
        progress: PassProgress? = nil, workspace: DecoderWorkspace,
        place: WorkSharing.Place? = nil
    ) {
        let model = decoder.model
        self.progress = progress
        self.decoder = decoder
        self.batch = batch
        self.features = features
        self.parameters = parameters
        self.dropout = dropout
        self.noise = noise
        self.training = training
        memory = workspace.pieces(
            BatchSize(
                tokens: batch.tokens.count, longest: batch.longest,
                lossRows: batch.lossRows.count, model: model,
                adapter: parameters == nil ? nil : decoder.adapter, training: training,
                compute: decoder.weights.compute,
                checkpointing: decoder.gradientCheckpointing, dropout: dropout != nil,
                streamedFloats: decoder.streamedFloats))
        matMul = workspace.matMul.sharing(place)
    }

    var model: ModelConfiguration { decoder.model }
    var tokens: Int { batch.tokens.count }
    var compute: ComputeType { decoder.weights.compute }
    var tools: WeightMatrix.Tools {
        WeightMatrix.Tools(matMul: matMul, scratch: memory.weights, quantized: memory.rounded)
    }

    /// The kept activations of a layer, or the one set that all layers share.
    func block(_ layer: Int) -> BatchMemory.Block { memory.block(layer) }

    /// The residual stream that enters a layer; `layerCount` is what leaves the last.
    func residual(_ layer: Int) -> UnsafeMutablePointer<Float> {
        memory.residual(layer)
    }

    /// A projection of a layer with its adapter.
    func linear(_ module: TargetModule, _ layer: Int) -> LoRALinear {
        let weights = decoder.weights.blocks[layer]
        let index = weights.places[module.rawValue]
        let isUpper = module >= .output
        return LoRALinear(
            weight: weights.projections[index], bias: weights.vectors.biases[index],
            adapter: adapter(index, layer, isUpper: isUpper),
            rows: isUpper ? upperRows(layer) : tokens,
            transposed: memory.transposed, reducedGradient: memory.reducedGradient,
            scaledGradient: memory.scaledGradient, roundedA: memory.roundedA, tools: tools)
    }

    /// How a layer combines gate and up.
    func activation(_ layer: Int) -> GatedActivation { model.design.blocks[layer].activation }

    /// Whether a projection of a layer has an adapter.
    func has(_ module: TargetModule, _ layer: Int) -> Bool {
        decoder.adapter?.has(module, in: layer) ?? false
    }

    private func magnitude(
        _ pair: AdapterShape.Pair, _ index: Int, _ layer: Int, _ kept: BatchMemory.Adapted
    ) -> LoRALinear.Magnitude? {
        guard let parameters, let offset = pair.magnitude, let memory = kept.magnitude,
            let base = decoder.baseNorms?.norms(layer, index)
        else { return nil }
        return LoRALinear.Magnitude(values: parameters + offset, base: base, memory: memory)
    }

    /// `index`: a position in `BlockDesign.projections`.
    private func adapter(_ index: Int, _ layer: Int, isUpper: Bool) -> LoRALinear.Adapter? {
        guard let shape = decoder.adapter, let parameters,
            let pair = shape.pairs[layer][index], let kept = block(layer).adapted[index]
        else { return nil }
        let draw = dropout.map {
            DropoutDraw(
                dropout: $0.dropout, step: $0.step,
                place: UInt32(layer * 8 + pair.address), offsets: batch.offsets,
                sequenceNumbers: batch.sequenceNumbers,
                rows: isUpper && isTrimmed(layer) ? batch.lossRows : nil)
        }
        return LoRALinear.Adapter(
            a: parameters + pair.a, b: parameters + pair.b, rank: pair.rank, scale: pair.scale,
            magnitude: magnitude(pair, index, layer, kept), memory: kept, dropout: draw)
    }
}
