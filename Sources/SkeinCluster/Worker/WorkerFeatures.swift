import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinTraining

/// Features that a worker keeps on its own disk, if its user wants that.
enum WorkerFeatures {
    /// Opens the store for the run of an offer.
    ///
    /// A worker works without, too: what is in the way is logged.
    ///
    /// - Parameters:
    ///   - settings: the worker's.
    ///   - offer: of the run.
    ///   - configuration: that the offer holds.
    ///   - engine: that computes.
    ///   - model: whose hash the offer has, or which will not be used.
    ///   - log: told where features are kept, or why not.
    /// - Returns: nil if none are kept.
    static func store(
        _ settings: FeatureSettings, offer: Offer, _ configuration: TrainingConfiguration,
        engine: MicroBatchEngine, model: ModelDirectory, log: Log
    ) -> FeatureStore? {
        let frozen = engine.decoder.frozenLayers
        if frozen == 0 || engine.noise != nil
            || !Engine.rowsAreIndependent(configuration.compute)
        {
            log.info("features: this run has none that could be kept")
            return nil
        }
        guard let digest = SHA256.Digest(offer.modelDigest) else {
            preconditionFailure("an offer's digest has 32 bytes")
        }
        do {
            let store = try FeatureStore(
                FeatureKey(
                    modelDigest: digest.description,
                    fingerprint: Engine.fingerprint(
                        configuration.compute, of: model.configuration),
                    decoder: engine.decoder),
                settings: settings)
            log.info(
                "features: the lower \(frozen) of \(model.configuration.layerCount) blocks are computed "
                    + "once for each row; \(Figures.count(store.rowCount, "row")) in \(store.path)")
            return store
        } catch {
            let explanation = (error as? any Explained)?.explanation
            log.warning(
                "features are not kept: \(explanation?.what ?? String(describing: error)) "
                    + "(\(settings.directory))")
            return nil
        }
    }
}
