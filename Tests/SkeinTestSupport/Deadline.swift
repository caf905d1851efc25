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
}
