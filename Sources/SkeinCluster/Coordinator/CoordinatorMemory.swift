import SkeinCoordination
import SkeinTraining

/// The most memory, in bytes, that a coordinator needs for an adapter and its gradients, known
/// before the run begins. The model's file is mapped; rows and connections are small by comparison.
///
/// A gradient has N numbers, 4 N bytes; a step has M micro-batches.
package struct CoordinatorMemory: Sendable, Equatable {
    /// Parameters at the start, now, and as workers have them; two moments; a checkpoint's copies
    /// of three of these. With local steps also the states of the last round that was saved, those
    /// of the next one, and the averages since.
    package let stateBytes: Int
    /// Sums that wait in the reduction tree, at most ceil(M / 2) + 1; what unpacking takes (see
    /// `GradientCodec.unpack`); and the unpacked gradient, or two small ones
    /// (`Limits.pairedBytes`).
    package let sumBytes: Int
    /// Packed results that wait for their check, over all workers.
    package let resultBytes: Int
    /// The newest version in full and its differences, the newest while it is encoded, and earlier
    /// ones that are still being sent to workers that take nothing.
    package let versionBytes: Int
    /// What rebuilds states of logical workers: one that is encoded and those under way. Their rows
    /// are small by comparison.
    package let replayBytes: Int
    /// Pieces of the model on their way to workers that fetch it, and what else waits for peers that
    /// do not read.
    package let peerBytes: Int
    /// A packed result under way, for each worker that sends one; or an earlier version, for each
    /// that is slow to take it.
    package let workerBytes: Int

    /// - Parameters:
    ///   - parameterCount: numbers in the adapter.
    ///   - codec: for its gradients.
    ///   - microBatches: the most in a step.
    package init(parameterCount: Int, codec: GradientCodec, microBatches: Int) {
        self.init(
            parameterCount: parameterCount, codec: codec, microBatches: microBatches, local: nil)
    }

    /// `local` is that of a run with local steps; `microBatches` is then that of logical workers.
    init(parameterCount: Int, codec: GradientCodec, microBatches: Int, local: LocalBounds?) {
        let raw = 4 * parameterCount
        let packed = local?.resultBytes ?? codec.mostPackedBytes(count: parameterCount)
        stateBytes =
            8 * raw + (local == nil ? 0 : 6 * microBatches * raw + (local?.averageBytes ?? 0))
        let unpacked = raw <= Limits.pairedBytes ? 2 : 1
        sumBytes = ((microBatches + 1) / 2 + 1 + 2 + unpacked) * raw
        resultBytes = min(Self.unchecked(gradientBytes: packed), 2 * microBatches + 2) * packed
        let version =
            local?.parameterBytes ?? ParameterCodec.mostPackedBytes(count: parameterCount)
        versionBytes = 3 * version + Limits.oldVersionBytes(packedBytes: version)
        peerBytes = SkeinCoordination.Limits.pieceBytes + 2 * Limits.backlogBytes
        let replay = local?.replayBytesWithoutRows ?? 0
        replayBytes = min(SkeinCoordination.Limits.replayBytes, microBatches * replay) + 2 * replay
        workerBytes = max(packed, version)
    }

    /// The part that does not depend on the number of workers.
    package var ownBytes: Int {
        stateBytes + sumBytes + resultBytes + versionBytes + replayBytes + peerBytes
    }

    package func totalBytes(workers: Int) -> Int { ownBytes + workers * workerBytes }

    /// A line for the log, in megabytes of 10^6 bytes.
    var sentence: String {
        func megabytes(_ bytes: Int) -> String { "\((bytes + 999_999) / 1_000_000) MB" }
        return "memory: at most \(megabytes(ownBytes)) besides the model's file: "
            + "\(megabytes(stateBytes)) for parameters and moments, "
            + "\(megabytes(sumBytes)) for sums, \(megabytes(resultBytes)) for results, "
            + "\(megabytes(versionBytes)) for versions, "
            + "\(megabytes(peerBytes)) for what waits for workers"
            + (replayBytes > 0 ? ", \(megabytes(replayBytes)) for states to rebuild" : "")
            + "; and "
            + "\(megabytes(workerBytes)) for each worker that sends a result"
    }

    /// How many results may wait for their check, if a step has as many.
    static func unchecked(gradientBytes: Int) -> Int {
        max(Limits.leastUnchecked, Limits.uncheckedBytes / max(1, gradientBytes))
    }
}
