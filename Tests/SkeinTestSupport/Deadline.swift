import Foundation

/// Something did not happen in time.
package struct Deadline: Error {
    /// Blocks until `isDone`; throws a `Deadline` after `seconds`.
    package static func wait(seconds: Double = 30, _ isDone: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !isDone() {
            guard ContinuousClock.now < deadline else { throw Deadline() }
            usleep(2000)
        }
    }

    /// Waits without a thread until `isDone`; throws a `Deadline` after `seconds`, which nothing that
    /// comes at all takes, however busy the machine is.
    package static func pass(
        seconds: Double = 300, _ isDone: @Sendable () -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !isDone() {
            guard ContinuousClock.now < deadline else { throw Deadline() }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
