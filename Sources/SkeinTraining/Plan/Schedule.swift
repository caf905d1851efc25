/// The learning rate of each step (`--schedule`, `--warmup-steps`), as in Hugging Face transformers.
///
/// With s the steps done before (0 at step 1), w the warmup steps and T the steps of the run:
/// during warmup (s < w) the rate is peak * s / w, so a run with warmup takes its first step with
/// rate 0. Then: constant, peak; linear, peak * (T - s) / (T - w); cosine,
/// peak * (1 + cos(pi * (s - w) / (T - w))) / 2.
package struct Schedule: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case constant
        case linear
        case cosine
    }

    package let kind: Kind
    package let peak: Double
    package let warmupSteps: Int
    package let stepCount: Int

    package init(kind: Kind, peak: Double, warmupSteps: Int, stepCount: Int) {
        self.kind = kind
        self.peak = peak
        self.warmupSteps = warmupSteps
        self.stepCount = stepCount
    }

    /// The rate of a step, counted from 1.
    package func rate(ofStep step: Int) -> Double {
        let done = step - 1
        if done < warmupSteps { return peak * (Double(done) / Double(warmupSteps)) }
        let decay = Double(max(1, stepCount - warmupSteps))
        switch kind {
        case .constant: return peak
        case .linear: return peak * max(0, Double(stepCount - done) / decay)
        case .cosine:
            let progress = min(1, Double(done - warmupSteps) / decay)
            return peak * Self.halfCosine(progress)
        }
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
