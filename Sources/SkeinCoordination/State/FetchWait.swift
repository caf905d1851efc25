import SkeinBasics

/// How long a worker waits while another process of its host fetches the same model: as long as that
/// gets on, and as long as the patience while it does not. No file, clock or thread.
package struct FetchWait: Sendable {
    /// What can be seen of the other process: all of it changes while that gets on.
    package struct Sign: Sendable, Equatable {
        /// Bytes of the model's files that are there.
        package var byteCount: UInt64
        /// When the other process last said that it works, in nanoseconds of its own clock.
        package var touched: Int64

        package init(byteCount: UInt64, touched: Int64) {
            (self.byteCount, self.touched) = (byteCount, touched)
        }
    }

    package enum Verdict: Sendable, Equatable {
        case waits
        /// The other process has got on, by as many bytes; 0: it hashes what it has.
        case moves(byteCount: UInt64)
        /// It has not for this long: fetch the model beside it.
        case standsStill(Duration)
    }

    private let patience: Duration
    private var last: (sign: Sign, since: Duration)?

    package init(patience: Duration) {
        self.patience = patience
    }

    /// - Parameters:
    ///   - sign: what can be seen now.
    ///   - now: the time since an arbitrary start; it never goes back.
    /// - Returns: what to do until the next look.
    package mutating func look(at sign: Sign, now: Duration) -> Verdict {
        guard let last else {
            self.last = (sign, now)
            return .waits
        }
        if sign != last.sign {
            self.last = (sign, now)
            let (before, after) = (last.sign.byteCount, sign.byteCount)
            return .moves(byteCount: after > before ? after - before : 0)
        }
        return now - last.since >= patience ? .standsStill(now - last.since) : .waits
    }
}
