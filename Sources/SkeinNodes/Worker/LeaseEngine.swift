import SkeinCoordination
import SkeinModels
import SkeinTraining

/// What a worker computes with: a model that is loaded for one run, and threads of its own.
///
/// `ModelEngine` is the real one; the simulation of the tests has one without a model. When another
/// run is met at the same address it is closed, and one is made for that.
protocol LeaseEngine: AnyObject, Sendable {
    var dataDigest: [UInt8] { get }
    var configurationDigest: [UInt8] { get }
    /// Of the engine, with this model.
    var fingerprint: String { get }
    var parameters: ParameterStore { get }

    /// The longest packed form of a gradient.
    var mostGradientBytes: Int { get }

    /// Whether this is the run of `offer`, perhaps of a later term.
    func serves(_ offer: Offer) -> Bool

    /// Begins to compute a lease.
    ///
    /// - Parameters:
    ///   - job: what is leased; its progress tells whether it is still wanted.
    ///   - needParameters: asks the coordinator for the whole of a version.
    ///   - ended: called once, on any thread, when another job may begin: with nil when the work was
    ///     abandoned, or with `NodeError.leaseUnusable`.
    func start(
        _ job: LeaseJob, needParameters: @escaping @Sendable (UInt64) -> Void,
        ended: @escaping @Sendable (Result<WorkResult?, any Error>) -> Void)

    /// Ends the threads once what they compute has ended; then calls `whenClosed`, on one of them.
    func close(whenClosed: @escaping @Sendable () -> Void)
}

extension LeaseEngine {
    /// The longest packed form of the parameters, as the wire is to expect it.
    var mostParameterBytes: Int { ParameterCodec.mostPackedBytes(count: parameters.count) }
}

/// What getting ready for an offer gave.
struct LoadedEngine: Sendable {
    let modelDigest: [UInt8]
    /// nil: the model is not the run's, so there is nothing to compute with it.
    let engine: (any LeaseEngine)?
}

/// Gets a worker ready for an offer while the network's thread goes on. `ModelLoading` is the real one.
protocol EngineLoading: AnyObject, Sendable {
    /// How much of the model is done.
    var progress: PreparationProgress { get }

    /// Whether what is loaded for the own offer does for `other`, which may be of a later term.
    func serves(_ other: Offer) -> Bool

    /// A piece of the model that has come.
    func receive(_ piece: ModelChunk)

    /// The connection is gone: what is being fetched ends, what is being loaded goes on.
    func cancel()

    /// Nobody wants it any more: fetching, hashing and loading end as soon as they can.
    func abandon()

    /// Begins.
    ///
    /// - Parameters:
    ///   - request: sends a request for a piece of the model; called on any thread.
    ///   - completion: called once, on any thread.
    func start(
        request: @escaping @Sendable (ModelRequest) -> Void,
        completion: @escaping @Sendable (Result<LoadedEngine, any Error>) -> Void)
}

/// A lease on its way to a compute thread.
struct LeaseJob: Sendable {
    let lease: LeaseGrant
    let term: UInt32
    /// Lets the network's thread follow and abandon it.
    let progress = PassProgress()
}
