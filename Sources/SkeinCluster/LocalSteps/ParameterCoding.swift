import SkeinTraining

/// What workers have as parameters, and how a difference leads from one version to the next.
package enum ParameterCoding: Sendable {
    /// The adapter's; a difference is the XOR of two versions.
    case exact(count: Int)
    /// The vectors of a run with local steps: the adapter's, then its outer momentum. A difference
    /// is the coded average of a round, and every process applies the outer step to it.
    case outer(count: Int, DeltaCodec, OuterStep)

    /// - Parameters:
    ///   - local: of a run with local steps.
    ///   - count: parameters of the adapter.
    package init(_ local: LocalSettings?, count: Int) {
        self = local.map { .outer(count: count, $0.codec, $0.outer) } ?? .exact(count: count)
    }

    /// Numbers of a version.
    var valueCount: Int {
        switch self {
        case .exact(let count): count
        case .outer(let count, _, _): 2 * count
        }
    }

    /// The most bytes of a version or a difference.
    var mostPackedBytes: Int {
        let whole = ParameterCodec.mostPackedBytes(count: valueCount)
        switch self {
        case .exact: return whole
        case .outer(let count, let codec, _):
            return max(whole, codec.mostPackedBytes(count: count))
        }
    }

    /// Turns a version into the next one.
    ///
    /// - Throws: `CodecError`; the values are unchanged then.
    func apply(_ difference: [UInt8], to values: inout [Float]) throws {
        switch self {
        case .exact: try ParameterCodec.apply(difference, to: &values)
        case .outer(let count, let codec, let step):
            let change = try codec.unpack(difference, count: count)
            var state = OuterState(values: values)
            step.apply(change, to: &state)
            values = state.values
        }
    }
}
