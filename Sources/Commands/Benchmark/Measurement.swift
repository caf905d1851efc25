/// Repeated timings of one piece of work, in seconds.
struct Measurement: Sendable, Equatable {
    let seconds: [Double]

    /// Half of the timings took at most this long; what a neighbour on the machine disturbs least.
    var median: Double { Self.median(of: seconds) }

    /// (slowest - fastest) / median: how much the machine was disturbed.
    var spread: Double {
        guard let least = seconds.min(), let most = seconds.max(), median > 0 else { return 0 }
        return (most - least) / median
    }

    /// The middle value, or the mean of the two middle ones; 0 of nothing.
    static func median(of values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// What is done in a second when `amount` of it takes the median time.
    func rate(of amount: Int) -> Double {
        median > 0 ? Double(amount) / median : 0
    }
}

/// How long a benchmark may measure.
struct Effort: Sendable, Equatable {
    /// Timings that the median is taken of.
    var repetitions: Int
    /// A timing repeats short work until it takes at least so long, so that the clock does not count.
    var minimumSeconds: Double

    static let kernels = Effort(repetitions: 5, minimumSeconds: 0.02)
    static let step = Effort(repetitions: 5, minimumSeconds: 0)
}

/// The only reader of the clock among the benchmarks.
enum Stopwatch {
    /// Seconds that `body` takes.
    static func time(_ body: () throws -> Void) rethrows -> Double {
        let began = ContinuousClock.now
        try body()
        return (ContinuousClock.now - began) / .seconds(1)
    }

    /// Times `body` after a run that only warms caches and says how often a timing repeats it.
    static func measure(_ effort: Effort, _ body: () -> Void) -> Measurement {
        let once = time(body)
        let times = repeats(once: once, minimum: effort.minimumSeconds)
        return Measurement(
            seconds: (0..<effort.repetitions).map { _ in
                time { for _ in 0..<times { body() } } / Double(times)
            })
    }

    /// How often work of `once` seconds is done to take `minimum` seconds: 1 to a million times.
    static func repeats(once: Double, minimum: Double) -> Int {
        guard minimum > once else { return 1 }
        return Int(min(1e6, (minimum / max(once, 1e-9)).rounded(.up)))
    }
}
