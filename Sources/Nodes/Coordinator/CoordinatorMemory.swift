import Training

/// The most memory that a coordinator needs for an adapter and its gradients, in bytes: what grows with
/// them. The model's file is mapped, rows and connections are small beside it.
///
/// N numbers in a gradient, 4 N bytes each; M micro-batches in a step. Each piece of work has at most
/// two leases, so at most 2 M results are under way or wait for their check.
public struct CoordinatorMemory: Sendable, Equatable {
    /// Parameters, two moments, the version that workers have, and a checkpoint's copy of three.
    public let stateBytes: Int
    /// Sums that wait in the reduction tree, at most ceil(M / 2) + 1, and the one that is unpacked, with
    /// what unpacking takes (see `GradientCodec.unpack`).
    public let sumBytes: Int
    /// Packed results.
    public let resultBytes: Int
    /// The difference and the whole of the newest version, and the one before that is still on its way.
    public let versionBytes: Int

    public var totalBytes: Int { stateBytes + sumBytes + resultBytes + versionBytes }

    /// - Parameters:
    ///   - parameterCount: numbers of the adapter.
    ///   - codec: of its gradients.
    ///   - microBatches: the most of a step.
    public init(parameterCount: Int, codec: GradientCodec, microBatches: Int) {
        let raw = 4 * parameterCount
        stateBytes = 7 * raw
        sumBytes = ((microBatches + 1) / 2 + 1 + 3) * raw
        resultBytes = 2 * microBatches * codec.mostPackedBytes(count: parameterCount)
        versionBytes = 3 * ParameterCodec.mostPackedBytes(count: parameterCount)
    }

    /// For the log, in megabytes of 10^6 bytes.
    var sentence: String {
        func megabytes(_ bytes: Int) -> String { "\((bytes + 999_999) / 1_000_000) MB" }
        return "at most \(megabytes(totalBytes)) of memory beside the model's file: "
            + "\(megabytes(stateBytes)) for parameters and moments, \(megabytes(sumBytes)) for sums, "
            + "\(megabytes(resultBytes)) for results, \(megabytes(versionBytes)) for versions"
    }
}
