import Basics
import Coordination
import Training

/// A version of the parameters as it goes to workers, encoded once for all of them.
struct ParameterPublication: Sendable {
    let version: UInt64
    let digest: [UInt8]
    /// The difference from the version before; nil for the first.
    let difference: EncodedMessage?
    /// The whole; nil until somebody needs it.
    let snapshot: EncodedMessage?

    func with(snapshot: EncodedMessage) -> ParameterPublication {
        ParameterPublication(
            version: version, digest: digest, difference: difference, snapshot: snapshot)
    }
}

/// Numbers the parameters of a run and encodes what changed.
struct ParameterPublisher: Sendable {
    private var last: (values: [Float], publication: ParameterPublication)?

    /// The parameters of a round. The same values again are the same version: a validation and the
    /// step after it use one.
    mutating func publish(_ values: [Float]) -> ParameterPublication {
        let digest = GradientCodec.digest(of: values).bytes
        if let last, last.publication.digest == digest { return last.publication }
        let version = (last?.publication.version ?? 0) + 1
        let difference = last.map { last in
            EncodedMessage(
                .parameters(
                    ParameterUpdate(
                        version: version, base: version - 1, digest: digest,
                        payload: ParameterCodec.delta(from: last.values, to: values))))
        }
        var publication = ParameterPublication(
            version: version, digest: digest, difference: difference, snapshot: nil)
        // Nobody can have a version before the first.
        if last == nil {
            publication = ParameterPublication(
                version: version, digest: digest, difference: nil,
                snapshot: Self.snapshot(values, of: publication))
        }
        last = (values, publication)
        return publication
    }

    /// The whole of a version.
    static func snapshot(
        _ values: [Float], of publication: ParameterPublication
    ) -> EncodedMessage {
        let update = ParameterUpdate(
            version: publication.version, base: 0, digest: publication.digest,
            payload: ParameterCodec.snapshot(values))
        return EncodedMessage(.parameters(update))
    }
}
