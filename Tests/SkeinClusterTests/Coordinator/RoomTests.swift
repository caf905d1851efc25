import SkeinCoordination
import SkeinTraining
import Testing

@testable import SkeinCluster

@Suite("room for workers and messages")
struct RoomTests {
    @Test("no more workers are let in than there are descriptors for")
    func descriptors() throws {
        var settings = CoordinatorSettings(minimumWorkers: 4)
        try settings.fit(Limits.openFiles - Limits.otherFiles)
        #expect(settings.maximumWorkers == 4096)
        try settings.fit(1024 - Limits.otherFiles)
        #expect(settings.maximumWorkers == 672)
        try settings.fit(6)
        #expect(settings.maximumWorkers == 5)
        #expect(throws: NodeError.tooFewFiles(limit: 260, needed: 261)) { try settings.fit(4) }
    }

    @Test("all workers that a coordinator lets in get descriptors, with room for files")
    func limits() {
        let settings = CoordinatorSettings()
        #expect(
            Limits.openFiles >= settings.maximumWorkers + Limits.strangers + Limits.otherFiles)
    }

    @Test("an adapter that no message can hold is refused")
    func sizes() throws {
        for codec in GradientCodec.allCases {
            #expect(throws: Never.self) {
                try RunIdentity.checkSizes(parameterCount: 1_000_000_000, codec: codec)
            }
            let error = #expect(throws: NodeError.self) {
                try RunIdentity.checkSizes(parameterCount: 1_074_000_000, codec: codec)
            }
            guard case .adapterTooLarge(1_074_000_000, let bytes) = error else {
                Issue.record("\(error as Any)")
                continue
            }
            #expect(bytes > Int(UInt32.max))
        }
    }

    @Test("the bound of a coordinator's memory counts sums, results, versions and state")
    func memory() {
        let small = CoordinatorMemory(parameterCount: 1_000_000, codec: .fp32, microBatches: 4)
        let packed = GradientCodec.fp32.mostPackedBytes(count: 1_000_000)
        let version = ParameterCodec.mostPackedBytes(count: 1_000_000)
        #expect(small.stateBytes == 32_000_000)
        #expect(small.sumBytes == (2 + 1 + 2 + 2) * 4_000_000)
        #expect(small.resultBytes == 10 * packed && small.versionBytes == 3 * version + 64 << 20)
        #expect(small.peerBytes == (64 + 2 * 64) << 20)
        #expect(small.workerBytes == max(packed, version))
        #expect(small.totalBytes(workers: 8) == small.ownBytes + 8 * small.workerBytes)
        // At most three results of 160 million numbers wait, however large the step is.
        let big = CoordinatorMemory(parameterCount: 160_000_000, codec: .fp32, microBatches: 16)
        #expect(big.resultBytes == 3 * GradientCodec.fp32.mostPackedBytes(count: 160_000_000))
        #expect(big.sumBytes == (8 + 1 + 2 + 1) * 640_000_000)
    }
}
