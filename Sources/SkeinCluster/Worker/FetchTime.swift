/// How a fetch tells the time and waits for pieces. A simulation, in which nothing may block, has its own.
package struct FetchTime: Sendable {
    /// The time, of a clock that never goes back.
    let now: @Sendable () -> ContinuousClock.Instant
    /// Lets the world go on until the condition holds; nil: the thread sleeps.
    let wait: (@Sendable (_ isReady: () -> Bool) throws -> Void)?

    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        wait: (@Sendable (_ isReady: () -> Bool) throws -> Void)?
    ) {
        self.now = now
        self.wait = wait
    }

    package static let system = FetchTime(now: { .now }, wait: nil)
}
