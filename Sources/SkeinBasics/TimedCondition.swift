import Foundation

/// A lock with a condition whose waits use a monotonic clock: `NSCondition` waits until a wall
/// time, so setting the clock makes its waits end early or very late.
package final class TimedCondition: @unchecked Sendable {
    // pthread objects must not move, and any thread may use them. Hence Sendable.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// A wait is cut into pieces of this length, so that no time overflows.
    private static let longestWait = Duration.seconds(3600)

    package init() {
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Calls `body` with the lock held.
    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Wakes all threads that wait. Call with the lock held.
    package func broadcast() {
        pthread_cond_broadcast(condition)
    }

    /// Releases the lock until it is woken. Call with the lock held; may return without a reason.
    package func wait() {
        pthread_cond_wait(condition, mutex)
    }

    /// Releases the lock until it is woken. Call with the lock held; may return without a reason.
    ///
    /// - Returns: false when `deadline` has passed.
    package func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let rest = min(deadline - .now, Self.longestWait)
        guard rest > .zero else { return false }
        let (seconds, attoseconds) = rest.components
        let nanoseconds = attoseconds / 1_000_000_000
        #if canImport(Darwin)
            var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
            pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #else
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let sum = Int64(time.tv_nsec) + nanoseconds
            time.tv_sec += Int(seconds + sum / 1_000_000_000)
            time.tv_nsec = Int(sum % 1_000_000_000)
            pthread_cond_timedwait(condition, mutex, &time)
        #endif
        return true
    }
}
