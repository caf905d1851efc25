import SkeinTensors

// What the frozen blocks make of a batch: it depends on its tokens alone, so it can be kept.
extension Decoder {
    /// Blocks, from the first on, whose output depends on nothing that is trained.
    package var frozenLayers: Int { adapter?.frozenLayers ?? model.layerCount }

    /// Width of the residual stream.
    package var width: Int { model.width }

    /// Layers of a pass that begins with features, backward ones too if it trains.
    func layersAfterFeatures(training: Bool) -> Int {
        let backward = training ? model.layerCount - (adapter?.lowestLayer ?? model.layerCount) : 0
        return model.layerCount - frozenLayers + backward
    }

    /// Begins to count the layers of a pass.
    func begin(_ progress: PassProgress?, hasFeatures: Bool, training: Bool) {
        let layers = layersAfterFeatures(training: training)
        if hasFeatures {
            progress?.proceed(layers: layers)
        } else {
            progress?.begin(layers: frozenLayers + layers)
        }
    }

    /// The residual stream that leaves the frozen blocks, as every pass over the same tokens makes it.
    ///
    /// Shapes and ranges:
    ///   - batch: its loss rows and pairs are not looked at.
    ///   - features: [T, D], overwritten.
    ///   - training: whether a pass with a gradient follows, for `progress`.
    ///
    /// - Returns: false, and nothing written, when the pass was abandoned.
    package func features(
        of batch: PackedBatch, into features: UnsafeMutablePointer<Float>,
        training: Bool, workspace: DecoderWorkspace, place: WorkSharing.Place? = nil,
        progress: PassProgress?
    ) -> Bool {
        begin(progress, hasFeatures: false, training: training)
        let pass = DecoderPass(
            decoder: self, batch: batch, parameters: nil, dropout: nil, training: false,
            progress: progress, workspace: workspace, place: place)
        pass.embed()
        guard pass.forward(through: 0..<frozenLayers) else { return false }
        pass.roundFeatures()
        features.update(from: pass.residual(frozenLayers), count: pass.tokens * pass.model.width)
        return true
    }
}

extension DecoderPass {
    /// Rounds what leaves the frozen blocks, if the decoder does that.
    func roundFeatures() {
        guard decoder.roundsFeatures else { return }
        BFloat16.round(residual(decoder.frozenLayers), count: tokens * model.width)
    }
}
