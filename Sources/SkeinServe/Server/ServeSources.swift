import Foundation
import SkeinNetwork

/// What a server takes from its surroundings, and tests fix.
package struct ServeSources: Sendable {
    /// Seconds since 1970.
    var date: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
    /// For durations.
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }
    /// All 64 bits are drawn: for seeds of requests that give none, and for names.
    var random: @Sendable () -> UInt64 = { .random(in: 0 ... .max) }

    /// How long clients are waited for.
    var times = HTTPTimes()
    /// How many bytes of answers are held for slow clients.
    var heldBytes = Limits.heldBytes
    /// How long a request for a stream may wait before its stream begins without a token: other
    /// programs give up a connection that says nothing for 30 or 60 s, and some of them sooner.
    var streamPatience = Duration.seconds(10)

    package init() {}
}
