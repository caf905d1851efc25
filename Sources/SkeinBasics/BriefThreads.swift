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
