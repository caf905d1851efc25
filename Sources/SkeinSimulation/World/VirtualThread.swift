import Foundation

/// A thread of a process in a `World`. Where it would block, the world goes on; with its process, it ends.
final class VirtualThread: @unchecked Sendable {
    // Sendable: used on the world's thread, and on its own while that waits.

    private let loop: VirtualLoop
    private var coroutine: Coroutine?
    private var isWaiting = false
    /// Whether its process has died: whatever it waits for, it does not wait.
    private(set) var isGone = false

    init(of loop: VirtualLoop) { self.loop = loop }

    // MARK: On the world's thread

    /// - Returns: false if the system has no thread for it.
    func start(_ name: String, _ body: @escaping () -> Void) -> Bool {
        coroutine = Coroutine(name, body)
        guard coroutine != nil else { return false }
        goOn()
        return true
    }

    private func goOn() {
        coroutine?.resume()
        // Nothing else ends the reference to what it has run.
        if coroutine?.isOver == true { coroutine = nil }
    }

    /// Something has happened for which it may wait.
    func wake() {
        guard isWaiting else { return }
        loop.later(.zero) { [self] in if isWaiting { goOn() } }
    }

    /// Its process has died: it ends now, or, if it has killed its process itself, with what it does.
    func unwind() {
        isGone = true
        guard let coroutine, !coroutine.isRunning else { return }
        goOn()
        precondition(coroutine.isOver, "a thread outlives its process")
    }

    // MARK: On its own

    func sleep(_ time: Duration) {
        guard !isGone else { return }
        loop.later(time) { [self] in goOn() }
        coroutine?.suspend()
    }

    /// Waits until the condition holds, which `wake` has it ask again.
    ///
    /// - Throws: `ProcessDied`.
    func wait(_ isReady: () -> Bool) throws {
        while !isReady() {
            if isGone { throw ProcessDied() }
            isWaiting = true
            coroutine?.suspend()
            isWaiting = false
        }
    }
}
