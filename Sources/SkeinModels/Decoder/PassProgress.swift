import Synchronization

/// How far a pass over one micro-batch is; another thread reads it, and may abandon the pass.
///
/// Checked between layers, twice for each in training, so it costs nothing.
package final class PassProgress: Sendable {
    // Two numbers that are only displayed: their order does not matter.
    private let done = Atomic<Int>(0)
    private let total = Atomic<Int>(0)
    private let abandoned = Atomic<Bool>(false)
    /// How many passes the work has, one after the other.
    private let parts = Atomic<Int>(1)
    private let partsDone = Atomic<Int>(0)

    package init() {}

    /// Ends the pass at its next layer: the result is no longer wanted.
    package func abandon() { abandoned.store(true, ordering: .relaxed) }

    package var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// Layers done, forward and backward.
    package var layersDone: Int { done.load(ordering: .relaxed) }

    /// Layers to be done; 0 before the pass begins.
    package var layerCount: Int { total.load(ordering: .relaxed) }

    /// Layers done of all parts, in thousandths: 0 to 1000.
    package var thousandths: Int {
        let total = layerCount
        guard total > 0 else { return 0 }
        let pass = min(1000, layersDone * 1000 / total)
        let parts = parts.load(ordering: .relaxed)
        let done = partsDone.load(ordering: .relaxed)
        return done >= parts ? 1000 : (done * 1000 + pass) / parts
    }

    /// The work is so many passes, one after the other.
    package func expect(parts count: Int) {
        parts.store(max(1, count), ordering: .relaxed)
        partsDone.store(0, ordering: .relaxed)
    }

    /// One of the passes is done.
    package func finishPart() {
        done.store(0, ordering: .relaxed)
        partsDone.add(1, ordering: .relaxed)
    }

    package func begin(layers: Int) {
        done.store(0, ordering: .relaxed)
        total.store(layers, ordering: .relaxed)
    }

    /// More layers of the same pass; those that were done before count.
    func proceed(layers: Int) {
        total.store(done.load(ordering: .relaxed) + layers, ordering: .relaxed)
    }

    package func finishLayer() { done.add(1, ordering: .relaxed) }
}
