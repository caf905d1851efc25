import SkeinBasics
import SkeinCoordination
import SkeinTraining
import Testing

@testable import SkeinCluster

@Suite("a worker's parameters")
struct ParameterStoreTests {
    private let one: [Float] = [1, 2, 3]
    private let two: [Float] = [1, 2.5, -3]

    private func snapshot(_ values: [Float], version: UInt64) -> ParameterUpdate {
        ParameterUpdate(
            version: version, base: 0, digest: GradientCodec.digest(of: values).bytes,
            payload: ParameterCodec.snapshot(values))
    }

    private func difference(_ from: [Float], _ to: [Float], version: UInt64) -> ParameterUpdate {
        ParameterUpdate(
            version: version, base: version - 1, digest: GradientCodec.digest(of: to).bytes,
            payload: ParameterCodec.delta(from: from, to: to))
    }

    /// What a thread gets when it asks for a version.
    private func ask(
        _ store: ParameterStore, _ version: UInt64, _ values: [Float], start: UInt8 = 1
    ) -> String {
        let job = LeaseJob(
            lease: LeaseGrant(
                key: WorkKey(round: 1, index: 0), attempt: 1, work: .gradient(nil), step: 1,
                parameterVersion: version,
                parameterDigest: GradientCodec.digest(of: values).bytes, rows: []),
            start: [start])
        return switch store.parameters(of: job, isAbandoned: { false }) {
        case .parameters(let values): "\(values)"
        case .unusable(let version): "unusable \(version)"
        case .abandoned: "abandoned"
        }
    }

    @Test("differences follow each other, and a thread that needs an old version gives up")
    func inOrder() {
        let store = ParameterStore(count: 3)
        #expect(store.newest(of: [1]) == nil)
        #expect(!store.receive(difference(one, two, version: 2), start: [1]))
        #expect(store.receive(snapshot(one, version: 1), start: [1]))
        #expect(store.receive(difference(one, two, version: 2), start: [1]))
        // It begins at a version that never came.
        #expect(!store.receive(difference(two, one, version: 4), start: [1]))
        #expect(store.newest(of: [1])?.version == 2)
        #expect(store.newest(of: [1])?.digest == GradientCodec.digest(of: two).bytes)
        #expect(store.newest(of: [2]) == nil)
        #expect(ask(store, 1, one) == "\(one)")
        #expect(ask(store, 2, two) == "\(two)")
        #expect(ask(store, 1, one) == "abandoned")
    }

    @Test("a damaged update is reported once, and a snapshot repairs it")
    func damaged() {
        let store = ParameterStore(count: 3)
        #expect(store.receive(snapshot(one, version: 1), start: [1]))
        var damaged = difference(one, two, version: 2)
        damaged.digest[0] ^= 1
        #expect(store.receive(damaged, start: [1]))
        #expect(ask(store, 2, two) == "unusable 2")
        #expect(store.newest(of: [1]) == nil)
        #expect(!store.receive(difference(two, one, version: 3), start: [1]))
        #expect(store.receive(snapshot(two, version: 2), start: [1]))
        #expect(ask(store, 2, two) == "\(two)")
    }

    @Test(
        "other parameters than those that a lease names are not used, though their version is right"
    )
    func otherBytes() {
        let store = ParameterStore(count: 3)
        #expect(store.receive(snapshot(one, version: 1), start: [1]))
        #expect(ask(store, 1, two) == "unusable 1")
        #expect(store.newest(of: [1]) == nil)
        #expect(store.receive(snapshot(two, version: 1), start: [1]))
        #expect(ask(store, 1, two) == "\(two)")
    }

    @Test("waiting differences are held up to the size of a snapshot, then one is asked for")
    func bounded() {
        let count = 4096
        let whole = ParameterCodec.mostPackedBytes(count: count)
        let store = ParameterStore(count: count)
        var values = (0..<count).map { Float($0) * 0.37 }
        #expect(store.receive(snapshot(values, version: 1), start: [1]))
        #expect(ask(store, 1, values) == "\(values)")
        var wholes = 0
        for version in 2...300 as ClosedRange<UInt64> {
            let next = values.map { $0 * 1.0001 + 0.001 }
            if !store.receive(difference(values, next, version: version), start: [1]) {
                wholes += 1
                #expect(store.receive(snapshot(next, version: version), start: [1]))
            }
            values = next
            #expect(store.heldBytes <= 2 * whole, "version \(version)")
        }
        #expect(wholes > 0)
        #expect(ask(store, 300, values) == "\(values)")
    }

    @Test(
        "a version is reached by differences as long as they are shorter than a snapshot")
    func published() throws {
        let count = 4096
        let whole = ParameterCodec.mostPackedBytes(count: count)
        var publisher = ParameterPublisher()
        var values = (0..<count).map { Float($0) * 0.37 }
        #expect(publisher.publish(values).messages(from: 0)?.count == 1)
        var ways = Set<Int>()
        for version in 2...40 as ClosedRange<UInt64> {
            // Small steps move few bits, large ones nearly all.
            let factor: Float = version % 8 < 6 ? 1.000001 : 1.3
            values = values.map { $0 * factor }
            let publication = publisher.publish(values)
            #expect(publication.version == version)
            #expect(publication.messages(from: version - 1)?.count == 1)
            #expect(publication.messages(from: 0) == nil)
            #expect(publication.messages(from: version + 1) == nil)
            #expect(publication.bases.count == publication.differences.count)
            ways.insert(publication.differences.count)
            let bytes = publication.differences.reduce(0) { $0 + $1.count }
            #expect(publication.differences.count == 1 || bytes <= whole)
            let longest = UInt64(publication.differences.count)
            #expect(publication.messages(from: version - longest)?.count == Int(longest))
        }
        #expect(ways.count > 1)
    }

    @Test("a snapshot of an earlier version replaces everything; another coordinator does, too")
    func earlier() {
        let store = ParameterStore(count: 3)
        #expect(store.receive(snapshot(one, version: 6), start: [1]))
        #expect(ask(store, 6, one) == "\(one)")
        #expect(store.receive(snapshot(two, version: 1), start: [1]))
        #expect(ask(store, 1, two) == "\(two)")
        #expect(store.receive(snapshot(one, version: 1), start: [2]))
        #expect(ask(store, 1, one, start: 2) == "\(one)")
        #expect(store.newest(of: [2])?.version == 1 && store.newest(of: [1]) == nil)
    }
}
