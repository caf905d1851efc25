import Foundation

/// A thread whose start can fail and says so. Foundation's `Thread` does not say so, and a
/// caller that waits for it waits for ever.
package enum SystemThread {
    /// What a new thread runs, on its way there.
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            Thread.current.name = name
            body()
        }
    }

    /// Runs `body` on a new thread that is never joined.
    ///
    /// - Parameters:
    ///   - name: shown by debuggers and `top -H`.
    ///   - stackBytes: the size of its stack.
    ///   - body: called once, unless the result is false.
    /// - Returns: false when the system refuses another thread.
    package static func start(
        _ name: String, stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        guard let thread = create(Start(name, body), stackBytes) else { return false }
        pthread_detach(thread)
        return true
    }

    /// Runs `body` on a new thread.
    ///
    /// - Returns: a function that waits until the thread has ended and released `body`, to be
    ///   called once; nil when the system refuses another thread.
    static func joinable(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) -> (() -> Void)? {
        create(Start(name, body), 1 << 20).map { thread in { pthread_join(thread, nil) } }
    }

    private static func create(_ start: Start, _ stackBytes: Int) -> pthread_t? {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setstacksize(attributes, stackBytes)
        let context = Unmanaged.passRetained(start)
        #if canImport(Darwin)
            var thread: pthread_t?
            let status = pthread_create(
                &thread, attributes,
                { context in
                    Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
                    return nil
                }, context.toOpaque())
        #else
            var thread = pthread_t()
            let status = pthread_create(
                &thread, attributes,
                { context in
                    if let context {
                        Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
                    }
                    return nil
                }, context.toOpaque())
        #endif
        guard status == 0 else {
            context.release()
            return nil
        }
        return thread
    }
}

/// Threads that live for one piece of work.
///
/// Not `concurrentPerform`: on Linux that borrows the threads of Swift's pool, and every task of
/// the program would wait.
package enum BriefThreads {
    /// Calls `body` for 0 ..< `count`, each on its own thread (the first on the caller's), and
    /// returns when all are done. If the system refuses a thread, the caller does its part as well.
    package static func perform(_ count: Int, _ body: (Int) -> Void) {
        guard count > 1 else {
            if count == 1 { body(0) }
            return
        }
        withoutActuallyEscaping(body) { body in
            // The parts touch different things, and the threads end before this returns.
            nonisolated(unsafe) let body = body
            var joins: [() -> Void] = []
            for number in 1..<count {
                if let join = SystemThread.joinable("skein-brief-\(number)", { body(number) }) {
                    joins.append(join)
                } else {
                    body(number)
                }
            }
            body(0)
            for join in joins { join() }
        }
    }
}
