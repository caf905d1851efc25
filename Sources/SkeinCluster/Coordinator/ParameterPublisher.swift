import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// A version of the parameters as it is sent to workers, encoded once for all of them.
struct ParameterPublication: Sendable {
    let version: UInt64
    let digest: [UInt8]
    /// SHA-256 of the versions that `differences` are from, in the same order.
    let bases: [[UInt8]]
    /// The differences that lead here from earlier versions, a message each, the newest last: as
    /// many as are together no longer than a snapshot may be, and always the newest; none for the
    /// first version.
    let differences: [EncodedMessage]
    /// The version in full; nil until a worker needs it.
    let snapshot: EncodedMessage?

    func with(snapshot: EncodedMessage) -> ParameterPublication {
        ParameterPublication(
            version: version, digest: digest, bases: bases, differences: differences,
            snapshot: snapshot)
    }

    /// What decides who gets it.
    var forQueue: ParameterQueue.Publication {
        ParameterQueue.Publication(
            version: version, digest: digest, bases: bases, hasWhole: snapshot != nil)
    }

    /// The messages that bring a worker here from version `old` (0: none): differences, or the
    /// snapshot; nil when that is needed and not encoded yet.
    func messages(from old: UInt64) -> [EncodedMessage]? {
        if forQueue.hasDifferences(from: old) {
            return Array(differences.suffix(Int(version - old)))
        }
        return snapshot.map { [$0] }
    }
}

/// Numbers the versions of a run's parameters and encodes what changed.
struct ParameterPublisher: Sendable {
    private(set) var last: (values: [Float], publication: ParameterPublication)?

    /// Publishes the parameters of a round. The same values again are the same version: a
    /// validation and the step after it share one.
    mutating func publish(_ values: [Float]) -> ParameterPublication {
        let (digest, delta) = Self.hashed(values, since: last?.values)
        return publish(values, digest: digest, delta: last == nil ? nil : delta)
    }

    /// Publishes parameters and outer momentum of a run with local steps, in this order.
    ///
    /// - Parameters:
    ///   - values: of the next round.
    ///   - average: the coded average that leads here from those published last; nil: nothing does,
    ///     and workers get them in full.
    /// - Returns: the version; that of before if the values are the same.
    mutating func publish(_ values: [Float], by average: [UInt8]?) -> ParameterPublication {
        publish(values, digest: GradientCodec.digest(of: values).bytes, delta: average)
    }

    private mutating func publish(
        _ values: [Float], digest: [UInt8], delta: [UInt8]?
    ) -> ParameterPublication {
        if let last, last.publication.digest == digest { return last.publication }
        let version = (last?.publication.version ?? 0) + 1
        var differences: [EncodedMessage] = []
        var bases: [[UInt8]] = []
        if let delta, let before = last?.publication {
            (differences, bases) = (before.differences, before.bases + [before.digest])
            let update = ParameterUpdate(
                version: version, base: version - 1, digest: digest,
                payload: delta)
            differences.append(EncodedMessage(.parameters(update)))
            // Differences longer than a snapshot are not worth their memory.
            let limit = ParameterCodec.mostPackedBytes(count: values.count)
            var bytes = differences.reduce(0) { $0 + $1.count }
            while differences.count > 1, bytes > limit {
                bytes -= differences.removeFirst().count
                bases.removeFirst()
            }
        }
        var publication = ParameterPublication(
            version: version, digest: digest, bases: bases, differences: differences, snapshot: nil)
        // No worker can have a version before the first.
        if last == nil {
            publication = ParameterPublication(
                version: version, digest: digest, bases: [], differences: [],
                snapshot: Self.snapshot(values, of: publication))
        }
        last = (values, publication)
        return publication
    }

    /// SHA-256 of the values and, at the same time on another core, the difference from earlier
    /// ones: the workers are waiting.
    private static func hashed(
        _ values: [Float], since old: [Float]?
    ) -> (digest: [UInt8], delta: [UInt8]) {
        guard let old else { return (GradientCodec.digest(of: values).bytes, []) }
        var (digest, delta): ([UInt8], [UInt8]) = ([], [])
        // This thread has memory that it need not ask the system for; the difference needs some.
        SideBySide.both(
            of: values.count, { delta = ParameterCodec.delta(from: old, to: values) },
            { digest = GradientCodec.digest(of: values).bytes })
        return (digest, delta)
    }

    /// A version in full.
    static func snapshot(
        _ values: [Float], of publication: ParameterPublication
    ) -> EncodedMessage {
        let update = ParameterUpdate(
            version: publication.version, base: 0, digest: publication.digest,
            payload: ParameterCodec.snapshot(values))
        return EncodedMessage(.parameters(update))
    }
}
