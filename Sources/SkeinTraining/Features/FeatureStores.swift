import SkeinBasics
import Synchronization

/// The stores that the runs of one process share: one for each file.
package final class FeatureStores: Sendable {
    private struct State {
        var stores: [String: FeatureStore] = [:]
        /// By path, the rows of all runs that share it.
        var plans: [String: FeaturePlan] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// The store of a plan, opened when it is asked for first, with room for the rows of all runs that
    /// have asked for it.
    ///
    /// - Parameter plan: of a run.
    /// - Returns: the one of all plans with the same key and place.
    /// - Throws: `FeatureError`, `FileError`.
    func store(_ plan: FeaturePlan) throws -> FeatureStore {
        try state.withLock { state in
            let path = plan.settings.folder.path(of: plan.key.digest)
            let whole = state.plans[path]?.adding(plan) ?? plan
            let store =
                try state.stores[path] ?? FeatureStore(plan.key, settings: plan.settings)
            try whole.makeRoom(in: store, beside: state.stores.values.filter { $0.path != path })
            state.stores[path] = store
            state.plans[path] = whole
            return store
        }
    }
}
