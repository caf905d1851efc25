import Synchronization

/// How far a pass over one micro-batch is; another thread reads it, and may call the pass off.
///
/// Looked at between layers, twice for each in training, so it costs nothing.
package final class PassProgress: Sendable {
    // Two numbers that are only ever shown: no order between them matters.
    private let done = Atomic<Int>(0)
    private let total = Atomic<Int>(0)
    private let abandoned = Atomic<Bool>(false)

    package init() {}

    /// Nobody wants the result any more: the pass ends at its next layer.
    package func abandon() { abandoned.store(true, ordering: .relaxed) }

    package var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// Layers done, forward and backward.
    package var layersDone: Int { done.load(ordering: .relaxed) }

    /// Layers to be done; 0 before the pass begins.
    package var layerCount: Int { total.load(ordering: .relaxed) }

    /// Layers done, in thousandths of all: 0 to 1000.
    package var thousandths: Int {
        let total = layerCount
        return total == 0 ? 0 : min(1000, layersDone * 1000 / total)
    }

    func begin(layers: Int) {
        done.store(0, ordering: .relaxed)
        total.store(layers, ordering: .relaxed)
    }

    func finishLayer() { done.add(1, ordering: .relaxed) }
}
