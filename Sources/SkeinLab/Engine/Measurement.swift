import Foundation

/// Repeated timings of one piece of work, in seconds.
struct Measurement: Sendable, Equatable {
    let seconds: [Double]

    /// Half of the timings took at most this long: what a neighbour on the machine disturbs least.
    var median: Double { Self.median(of: seconds) }

    /// (slowest - fastest) / median: how much the machine was disturbed.
    var spread: Double {
        guard let least = seconds.min(), let most = seconds.max(), median > 0 else { return 0 }
        return (most - least) / median
    }

    /// The middle value, or the mean of the two middle ones; 0 if there are none.
    static func median(of values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The amount done in a second when `amount` takes the median time.
    func rate(of amount: Int) -> Double {
        median > 0 ? Double(amount) / median : 0
    }
}

/// How long a benchmark may measure.
struct Effort: Sendable, Equatable {
    /// How many timings the median is taken of.
    var repetitions: Int
    /// A timing repeats short work to take at least this long, so that the clock does not count.
    var minimumSeconds: Double

    static let kernels = Effort(repetitions: 5, minimumSeconds: 0.02)
    static let generate = Effort(repetitions: 5, minimumSeconds: 0)
}

/// How long something took.
struct Timing: Sendable, Equatable {
    /// Wall time.
    var seconds: Double
    /// Processor time of this process, on all processors together. With as many threads as
    /// processors and no neighbours it is `seconds` times the threads; a busy machine stretches
    /// only the wall time.
    var processorSeconds: Double
}

/// The only reader of the clocks among the benchmarks of the engine.
enum Stopwatch {
    /// Times `body`, on whichever threads of this process it works.
    static func time(_ body: () throws -> Void) rethrows -> Timing {
        let processor = processorTime(CLOCK_PROCESS_CPUTIME_ID)
        let began = ContinuousClock.now
        try body()
        return Timing(
            seconds: (ContinuousClock.now - began) / .seconds(1),
            processorSeconds: processorTime(CLOCK_PROCESS_CPUTIME_ID) - processor)
    }

    /// Measures work of the calling thread alone, by its processor time: what a neighbour on the
    /// same processor takes does not count.
    ///
    /// The first run only warms caches and decides how often a timing repeats the work.
    static func measure(_ effort: Effort, _ body: () -> Void) -> Measurement {
        let once = threadTime(body)
        let times = repeats(once: once, minimum: effort.minimumSeconds)
        return Measurement(
            seconds: (0..<effort.repetitions).map { _ in
                threadTime { for _ in 0..<times { body() } } / Double(times)
            })
    }

    /// How often to repeat work of `once` seconds to take `minimum` seconds: 1 to a million times.
    static func repeats(once: Double, minimum: Double) -> Int {
        guard minimum > once else { return 1 }
        return Int(min(1e6, (minimum / max(once, 1e-9)).rounded(.up)))
    }

    private static func threadTime(_ body: () -> Void) -> Double {
        let began = processorTime(CLOCK_THREAD_CPUTIME_ID)
        body()
        return processorTime(CLOCK_THREAD_CPUTIME_ID) - began
    }

    private static func processorTime(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
