import Foundation

/// What a server takes from its surroundings, and tests fix.
package struct ServeSources: Sendable {
    /// Seconds since 1970.
    var date: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
    /// For durations.
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }
    /// All 64 bits are drawn: for seeds of requests that give none, and for names.
    var random: @Sendable () -> UInt64 = { .random(in: 0 ... .max) }

    package init() {}
}
