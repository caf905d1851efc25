import Synchronization

/// What people, and a service manager, are shown of a worker in this process. Any thread may ask.
package final class WorkerStatus: Sendable {
    private let view = Mutex<(@Sendable () -> ServiceReporter.View?)?>(nil)
    private let joined = Atomic<Bool>(false)

    package init() {}

    /// Whether a coordinator has ever let a worker of this process in that has ended.
    package var hasJoined: Bool { joined.load(ordering: .relaxed) }

    func noteJoined() { joined.store(true, ordering: .relaxed) }

    /// Takes the view from a worker from now on.
    ///
    /// - Parameter view: asked on any thread; nil once the worker's network has ended.
    func attach(_ view: @escaping @Sendable () -> ServiceReporter.View?) {
        self.view.withLock { $0 = view }
    }

    /// The worker at this moment, which its network's thread answers within a turn. It is ready once a
    /// coordinator has let it in.
    package var serviceView: ServiceReporter.View {
        let view = view.withLock { $0 }
        guard let view else { return ServiceReporter.View(sentence: "starting", isReady: false) }
        return view() ?? ServiceReporter.View(sentence: "the worker ends", isReady: true)
    }
}
