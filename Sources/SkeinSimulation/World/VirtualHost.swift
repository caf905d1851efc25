import Foundation

/// The machine of a process, which stays when the process goes: what its network lets pass, and how fast its
/// clock runs.
final class VirtualHost {
    /// Until when nothing that it sends arrives anywhere. What is held is sent again, and arrives then.
    var isMuteUntil = Duration.zero
    /// Until when nothing arrives that is sent to it.
    var isDeafUntil = Duration.zero
    /// Until when the system refuses to dial, and why.
    var unreachable: (until: Duration, code: Int32) = (.zero, 0)
    /// Seconds of its clock in a second of the world's.
    private(set) var rate = 1.0
    private var mark: (world: Duration, own: Duration) = (.zero, .zero)

    /// Lets its clock run at another rate from now on.
    func drift(to rate: Double, now: Duration) {
        mark = (now, own(now))
        self.rate = rate
    }

    /// What its clock says.
    func own(_ world: Duration) -> Duration {
        rate == 1 ? mark.own + (world - mark.world) : mark.own + (world - mark.world) * rate
    }

    /// When its clock says at least so, by the world's clock.
    func world(_ own: Duration) -> Duration {
        // Rounded down, a deadline would not have come, and would be waited for again without end.
        mark.world + (own - mark.own) / rate + (rate == 1 ? .zero : .microseconds(1))
    }
}
