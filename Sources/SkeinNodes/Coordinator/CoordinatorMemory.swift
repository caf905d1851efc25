import SkeinTraining

/// The most memory that a coordinator needs for an adapter and its gradients, in bytes, known before
/// the run begins: what grows with them. The model's file is mapped; rows and connections are small
/// beside it.
///
/// N numbers in a gradient, 4 N bytes each; M micro-batches in a step.
package struct CoordinatorMemory: Sendable, Equatable {
    /// Parameters as they began, as they are, and as workers have them; two moments; a checkpoint's
    /// copies of three.
    package let stateBytes: Int
    /// Sums that wait in the reduction tree, at most ceil(M / 2) + 1, and the one that is unpacked, with
    /// what unpacking takes (see `GradientCodec.unpack`); of small ones two (`Limits.pairedBytes`).
    package let sumBytes: Int
    /// Packed results that wait for their check, over all workers.
    package let resultBytes: Int
    /// The whole and the difference of the newest version, the ones before that are still on their
    /// way, and the newest while it is made.
    package let versionBytes: Int
    /// A packed result on its way, for each worker that is sending one.
    package let workerBytes: Int

    /// - Parameters:
    ///   - parameterCount: numbers of the adapter.
    ///   - codec: of its gradients.
    ///   - microBatches: the most of a step.
    package init(parameterCount: Int, codec: GradientCodec, microBatches: Int) {
        let raw = 4 * parameterCount
        let packed = codec.mostPackedBytes(count: parameterCount)
        stateBytes = 8 * raw
        let unpacked = raw <= Limits.pairedBytes ? 2 : 1
        sumBytes = ((microBatches + 1) / 2 + 1 + 2 + unpacked) * raw
        resultBytes = min(Self.unchecked(gradientBytes: packed), 2 * microBatches + 2) * packed
        versionBytes = 4 * ParameterCodec.mostPackedBytes(count: parameterCount)
        workerBytes = packed
    }

    /// However many workers there are.
    package var ownBytes: Int { stateBytes + sumBytes + resultBytes + versionBytes }

    package func totalBytes(workers: Int) -> Int { ownBytes + workers * workerBytes }

    /// For the log, in megabytes of 10^6 bytes.
    var sentence: String {
        func megabytes(_ bytes: Int) -> String { "\((bytes + 999_999) / 1_000_000) MB" }
        return "memory: at most \(megabytes(ownBytes)) beside the model's file: "
            + "\(megabytes(stateBytes)) for parameters and moments, \(megabytes(sumBytes)) for sums, "
            + "\(megabytes(resultBytes)) for results, \(megabytes(versionBytes)) for versions; and "
            + "\(megabytes(workerBytes)) for each worker that sends a result"
    }

    /// Results that may wait for their check, if a step is large enough.
    static func unchecked(gradientBytes: Int) -> Int {
        max(Limits.leastUnchecked, Limits.uncheckedBytes / max(1, gradientBytes))
    }
}
