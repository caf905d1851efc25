/// How many ticks a call leaves to its subnetwork: characters of a text, or rounds of a loop.
///
/// Something that may come `least` to `most` times is a subnetwork with a loop in it that ticks each
/// time, and a call with a range: it stands in the frame of the call, so that neither the network nor
/// what is made of it before use grows with the numbers. `GrammarAutomaton` counts down.
struct TickRange: Hashable, Sendable {
    var least: Int32
    /// `Int32.max`: any number.
    var most: Int32

    /// The range of calls that do not count.
    static let any = TickRange(least: 0, most: .max)

    init(least: Int32, most: Int32) {
        self.least = least
        self.most = most
    }

    /// nil if there must be more than `GrammarLimits.count`.
    init?(_ least: Int, _ most: Int?) {
        guard least <= GrammarLimits.count else { return nil }
        let most = most ?? .max
        self.init(
            least: Int32(least), most: most > GrammarLimits.count ? .max : Int32(max(most, 0)))
    }

    /// What is left after a tick; nil: there may not be one.
    var afterTick: TickRange? {
        guard most > 0 else { return nil }
        return TickRange(least: max(0, least - 1), most: most == .max ? .max : most - 1)
    }
}

/// What a node of a counting subnetwork has before it.
struct TickPlace: Hashable, Sendable {
    /// The least and the largest number of ticks to the end of the subnetwork; every number between is
    /// possible.
    var ticks: ClosedRange<Int32>
    /// Whether it is a tick itself: its skips lead to what comes after.
    var isTick = false
    /// Where a round begins that takes as many bytes as another tick does; nil: a tick is a byte.
    var lapStart: NetworkBuilder.Node?
    /// The bytes of another tick, once they are known.
    var unit: Int32 = 1

    func allows(_ range: TickRange) -> Bool {
        ticks.lowerBound <= range.most && ticks.upperBound >= range.least
    }

    /// The least bytes to the end of the subnetwork with as many ticks as are left; `least` are those
    /// with the least number.
    ///
    /// `ByteNetwork.never` if there is no way.
    func need(_ least: Int32, _ range: TickRange) -> Int32 {
        guard allows(range) else { return ByteNetwork.never }
        let more = Int64(max(0, range.least - ticks.lowerBound))
        return Int32(min(Int64(ByteNetwork.never), Int64(least) + more * Int64(unit)))
    }
}
