import SkeinBasics

/// Code that blocks, on a thread of its own that takes turns with its world's: one of the two runs at a time,
/// so what it does is as much a function of the seed as all else.
final class Coroutine: @unchecked Sendable {
    // Sendable: `turn` says which thread may use the rest.

    private enum Turn { case world, own, over }

    private let turn = Condition(Turn.world)
    /// Whether its thread runs, and the world's waits for it.
    private(set) var isRunning = false
    private(set) var isOver = false

    /// Starts the thread, which waits for its first turn.
    ///
    /// - Returns: nil if the system refuses a thread.
    init?(_ name: String, _ body: @escaping () -> Void) {
        let carried = Carried(body)
        let isStarted = SystemThread.start(name, stackBytes: 1 << 20) { [turn] in
            turn.wait { $0 == .own ? () : nil }
            carried.run()
            turn.change { $0 = .over }
        }
        if !isStarted { return nil }
    }

    /// On the world's thread: lets it go on until it waits again or ends.
    func resume() {
        precondition(!isRunning && !isOver, "it is not its turn")
        isRunning = true
        turn.change { $0 = .own }
        isOver = turn.wait { $0 == .own ? nil : $0 == .over }
        isRunning = false
    }

    /// On its own thread: lets the world go on until the next `resume`.
    func suspend() {
        turn.change { $0 = .world }
        turn.wait { $0 == .own ? () : nil }
    }

    private final class Carried: @unchecked Sendable {
        // Sendable: made before the thread starts, and used by that alone.
        private var body: (() -> Void)?

        init(_ body: @escaping () -> Void) { self.body = body }

        /// What the body holds is released before the thread's last turn ends.
        func run() {
            body?()
            body = nil
        }
    }
}
