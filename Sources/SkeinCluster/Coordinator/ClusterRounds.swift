import SkeinCoordination
import SkeinTraining

/// The workers of a cluster as the source of a run with local steps.
struct ClusterRounds: LocalSource {
    let source: ClusterSource

    func compute(_ round: OuterRound, deliver: (MicroBatchResult) throws -> Void) throws {
        try source.compute(round, deliver: deliver)
    }

    func advance(to outer: OuterState, by average: [UInt8]) {
        source.advance(to: outer, by: average)
    }
}
