import SkeinBasics
import SkeinTraining
import Testing

@testable import SkeinSimulation

/// Kept features on a disk that fails for a while.
@Suite("features on a simulated disk")
struct FeatureDiskTests {
    private let key = FeatureKey(
        modelDigest: "model", fingerprint: "engine", frozenLayers: 1, width: 2, isRounded: false)
    private let row = FeatureName([1, 2, 3])
    private let features: [Float] = [1, 2, 3, 4, 5, 6]

    private func store(_ disk: SimulatedDisk) throws -> FeatureStore {
        try FeatureStore(
            key, settings: FeatureSettings(directory: "/features"), calls: disk.opened())
    }

    private func read(_ store: FeatureStore) -> [Float]? {
        var found = [Float](repeating: 0, count: features.count)
        let isThere = found.withUnsafeMutableBufferPointer { found in
            guard let start = found.baseAddress else { return false }
            return store.read(row, tokens: 3, into: start)
        }
        return isThere ? found : nil
    }

    private func keep(_ store: FeatureStore, _ row: FeatureName) {
        features.withUnsafeBufferPointer { features in
            if let start = features.baseAddress { store.keep(row, tokens: 3, start) }
        }
    }

    @Test("a disk that cannot be read for a while costs no rows")
    func unreadable() throws {
        let disk = SimulatedDisk(seed: 1)
        let first = try store(disk)
        keep(first, row)
        #expect(read(first) == features)
        disk.faults.chances[.readError] = 1
        let second = try store(disk)
        #expect(
            second.takeWarnings() == [
                .notWritten(path: second.path, detail: "the file's beginning cannot be read")
            ])
        for store in [first, second] { keep(store, FeatureName([4, 5, 6])) }
        #expect(first.takeWarnings().count == 1)
        disk.faults.chances[.readError] = nil
        #expect(read(second) == features)
        #expect(try read(store(disk)) == features)
    }
}
