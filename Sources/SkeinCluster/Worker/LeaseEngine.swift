import SkeinCoordination
import SkeinModels
import SkeinTraining

/// What a worker computes with: a model loaded for one run, and threads of its own.
///
/// `ModelEngine` is the real one; the tests' simulation has one without a model. If the worker
/// finds another run at the same address, it closes the engine and makes a new one.
package protocol LeaseEngine: AnyObject, Sendable {
    var dataDigest: [UInt8] { get }
    /// This digests the options, and all values, as the worker has read and resolved them.
    var configurationDigest: [UInt8] { get }
    var recipeDigest: [UInt8] { get }
    var answerDigest: [UInt8] { get }
    /// The engine's fingerprint with this model.
    var fingerprint: String { get }
    var parameters: ParameterStore { get }

    /// The most bytes of a result's payload.
    var mostGradientBytes: Int { get }
    /// The most bytes of a message that rebuilds a state; 0 without local steps.
    var mostReplayBytes: Int { get }

    /// Whether this is the run of `offer`, perhaps of a later term.
    func serves(_ offer: Offer) -> Bool

    /// Takes what a later offer of this run changes: how long its messages may be.
    ///
    /// - Throws: `NodeError.offerUnusable`.
    func adopt(_ offer: Offer) throws

    /// Begins to compute a lease.
    ///
    /// - Parameters:
    ///   - job: the lease; its progress says whether it is still wanted.
    ///   - needParameters: asks the coordinator for a version in full.
    ///   - needState: asks the coordinator for what rebuilds the state of a lease.
    ///   - ended: called once, on any thread, when another job may begin: with the result, nil if
    ///     the
    ///     work was abandoned, or `NodeError.leaseUnusable`.
    func start(
        _ job: LeaseJob, needParameters: @escaping @Sendable (UInt64) -> Void,
        needState: @escaping @Sendable (WorkKey) -> Void,
        ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void)

    /// Takes what rebuilds a state.
    func receive(_ replay: StateReplay)

    /// Whether a thread waits for what rebuilds the state of a lease.
    func wantsState(_ key: WorkKey) -> Bool

    /// Makes threads that wait check again whether their work is still wanted.
    func wake()

    /// Ends the threads after their current work, then calls `whenClosed` on one of them.
    func close(whenClosed: @escaping @Sendable () -> Void)
}

extension LeaseEngine {
    /// The most bytes of packed parameters, as a bound for the wire.
    var mostParameterBytes: Int { parameters.coding.mostPackedBytes }
}

/// The outcome of preparing for an offer.
package struct LoadedEngine: Sendable {
    let modelDigest: [UInt8]
    /// nil: the model is not the run's.
    let engine: (any LeaseEngine)?

    package init(modelDigest: [UInt8], engine: (any LeaseEngine)?) {
        (self.modelDigest, self.engine) = (modelDigest, engine)
    }
}

/// Prepares a worker for an offer while the network's thread goes on. `ModelLoading` is the real
/// one.
package protocol EngineLoading: AnyObject, Sendable {
    /// How much of the model is done.
    var progress: PreparationProgress { get }

    /// Whether what is loaded for this offer also serves `other`, which may be of a later term.
    func serves(_ other: Offer) -> Bool

    /// Takes a piece of the model that has come.
    ///
    /// - Returns: false if it was not asked for; then it is dropped.
    func receive(_ piece: ModelChunk) -> Bool

    /// The connection is gone: fetching ends, loading goes on.
    func cancel()

    /// The model is no longer wanted: fetching, hashing and loading end as soon as they can.
    func abandon()

    /// Starts preparing.
    ///
    /// - Parameters:
    ///   - request: sends a request for a piece of the model; called on any thread.
    ///   - completion: called once, on any thread.
    func start(
        request: @escaping @Sendable (ModelRequest) -> Void,
        completion: @escaping @Sendable (Result<LoadedEngine, any Error>) -> Void)
}

/// A lease on its way to a compute thread.
package struct LeaseJob: Sendable {
    package let lease: LeaseGrant
    /// The start of the coordinator that gave it: `Offer.start`.
    package let start: [UInt8]
    /// Lets the network's thread follow and abandon it.
    package let progress = PassProgress()
}
