import SkeinTensors

/// The learning rate of each step (`--schedule`, `--warmup-steps`), as in Hugging Face transformers.
///
/// With s the steps done before (0 at step 1), w the warmup steps and T the steps of the run:
/// during warmup (s < w) the rate is peak * s / w, so a run with warmup takes its first step with
/// rate 0. Afterwards, with t = (s - w) / (T - w), it is floor + (peak - floor) * share:
///
/// | schedule | share |
/// |---|---|
/// | constant | 1, and no floor |
/// | linear | 1 - t |
/// | cosine | (1 + cos(pi t)) / 2 |
/// | cosine with restarts | (1 + cos(pi (c t mod 1))) / 2 with c cycles, 0 for t = 1 |
/// | polynomial | (1 - t)^power |
///
/// The names are `cosine_with_restarts` and `polynomial` there, whose floor is `lr_end`. Compared
/// with transformers by `ScheduleTests`.
package struct Schedule: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case constant
        case linear
        case cosine
        case cosineWithRestarts = "cosine-with-restarts"
        case polynomial
    }

    package let kind: Kind
    package let peak: Double
    package let warmupSteps: Int
    package let stepCount: Int
    /// The rate that a decaying schedule ends at.
    package let floor: Double
    /// Cycles of a cosine with restarts.
    package let cycles: Int
    /// The exponent of a polynomial.
    package let power: Double

    /// `floor`, below `peak`; `cycles` at least 1; `power` above 0.
    package init(
        kind: Kind, peak: Double, warmupSteps: Int, stepCount: Int, floor: Double = 0,
        cycles: Int = 1, power: Double = 1
    ) {
        self.kind = kind
        self.peak = peak
        self.warmupSteps = warmupSteps
        self.stepCount = stepCount
        self.floor = floor
        self.cycles = cycles
        self.power = power
    }

    /// The rate of a step, counted from 1.
    package func rate(ofStep step: Int) -> Double {
        let done = step - 1
        if done < warmupSteps { return peak * (Double(done) / Double(warmupSteps)) }
        let decay = Double(max(1, stepCount - warmupSteps))
        let progress = min(1, Double(done - warmupSteps) / decay)
        let share: Double
        switch kind {
        case .constant: return peak
        case .linear: share = max(0, Double(stepCount - done) / decay)
        case .cosine: share = Self.halfCosine(progress)
        case .cosineWithRestarts:
            let turns = Double(cycles) * progress
            share = progress < 1 ? Self.halfCosine(turns - turns.rounded(.down)) : 0
        case .polynomial:
            let rest = 1 - progress
            share = rest == 0 || power == 1 ? rest : ElementaryFunctions.power(rest, power)
        }
        // Without a floor this is peak * share to the last bit.
        return floor + (peak - floor) * share
    }

    /// (1 + cos(pi t)) / 2 = cos(pi t / 2)^2 for t in 0 ... 1.
    ///
    /// By the Taylor series to the 24th power, whose error is below 1e-17: the C library's cosine
    /// differs in the last bit between versions and processors, and a run must not.
    static func halfCosine(_ t: Double) -> Double {
        let angle = t * (Double.pi / 2)
        let square = angle * angle
        var sum = 1.0
        for k in stride(from: 12, through: 1, by: -1) {
            sum = 1 - square / Double((2 * k - 1) * (2 * k)) * sum
        }
        return sum * sum
    }
}
