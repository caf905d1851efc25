import Basics
import Coordination
import Testing
import Training

@testable import Nodes

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

    /// What a thread gets that asks for what is there.
    private func ask(
        _ store: ParameterStore, _ version: UInt64, term: UInt32 = 1
    ) -> String {
        switch store.parameters(version: version, term: term, isAbandoned: { false }) {
        case .parameters(let values): "\(values)"
        case .unusable(let version): "unusable \(version)"
        case .abandoned: "abandoned"
        }
    }

    @Test("differences follow each other, and a thread that needs an old version is let go")
    func inOrder() {
        let store = ParameterStore(count: 3)
        #expect(store.newest == (0, 0))
        #expect(!store.receive(difference(one, two, version: 2), term: 1))
        #expect(store.receive(snapshot(one, version: 1), term: 1))
        #expect(store.receive(difference(one, two, version: 2), term: 1))
        #expect(store.newest == (1, 2))
        #expect(ask(store, 1) == "\(one)")
        #expect(ask(store, 2) == "\(two)")
        #expect(ask(store, 1) == "abandoned")
    }

    @Test("a damaged update is told once, and the whole mends it")
    func damaged() {
        let store = ParameterStore(count: 3)
        #expect(store.receive(snapshot(one, version: 1), term: 1))
        var damaged = difference(one, two, version: 2)
        damaged.digest[0] ^= 1
        #expect(store.receive(damaged, term: 1))
        #expect(ask(store, 2) == "unusable 2")
        #expect(store.newest == (0, 0))
        #expect(!store.receive(difference(two, one, version: 3), term: 1))
        #expect(store.receive(snapshot(two, version: 2), term: 1))
        #expect(ask(store, 2) == "\(two)")
    }

    @Test("a whole of an earlier version takes back what is had; another term does, too")
    func earlier() {
        let store = ParameterStore(count: 3)
        #expect(store.receive(snapshot(one, version: 6), term: 1))
        #expect(ask(store, 6) == "\(one)")
        #expect(store.receive(snapshot(two, version: 1), term: 1))
        #expect(ask(store, 1) == "\(two)")
        #expect(store.receive(snapshot(one, version: 1), term: 2))
        #expect(ask(store, 1, term: 2) == "\(one)")
        #expect(store.newest == (2, 1))
    }
}
