/// State of a node that only one clock's thread reads and writes, in a form that other threads may
/// hold.
///
/// A shell is a plain class that is not Sendable. It is made on the loop, its handlers run there,
/// and other threads reach it only by `post` and `call`; so it needs no lock and no proof of its
/// own.
package final class Confined<State>: @unchecked Sendable {
    // Sendable, because `state` is made, used and dropped only on the clock's thread, and `init`
    // waits for the loop before any other thread sees this object.
    package let loop: any Clock
    private var state: State?

    /// Makes the state on the loop's thread and waits for it.
    ///
    /// - Throws: what `make` throws, or `SocketError.stopped`.
    package init(to loop: any Clock, _ make: @escaping @Sendable () throws -> State) throws {
        self.loop = loop
        state = nil
        try loop.call {
            self.state = try make()
            loop.whenEnding { self.state = nil }
        }
    }

    /// The same for the system's loop.
    package convenience init(
        to loop: EventLoop, _ make: @escaping @Sendable () throws -> State
    ) throws {
        try self.init(to: loop as any Clock, make)
    }

    /// Runs `body` on the loop's thread; does nothing when the loop has stopped.
    package func post(_ body: @escaping @Sendable (State) -> Void) {
        loop.post {
            if let state = self.state { body(state) }
        }
    }

    /// Runs `body` on the loop's thread and waits for its result.
    ///
    /// - Throws: what `body` throws, or `SocketError.stopped`.
    package func call<Value: Sendable>(
        _ body: @escaping @Sendable (State) throws -> Value
    ) throws -> Value {
        try loop.call {
            guard let state = self.state else { throw SocketError.stopped }
            return try body(state)
        }
    }
}
