import SkeinBasics
import SkeinJSON
import SkeinModels

/// Tells, while a run can still be stopped, what its losses usually mean: it hardly learns, it diverges, or
/// it learns its rows by heart.
///
/// What is said follows from the lines of metrics.jsonl alone, so a resumed run that has read those of its
/// first part says nothing twice. Each finding is said once. The thresholds are rules of thumb from
/// docs/RECIPES.md: with the defaults the loss of short answers was below a fifth of its beginning when a
/// weak recipe is judged here, with a tenth of their rate above the half.
package struct EarlyWarning: Sendable {
    /// What stands out, in words and for machines.
    package struct Finding: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            case learnsHardly = "learns-hardly"
            case diverges
            case overfits
        }

        package let kind: Kind
        package let step: Int
        /// The numbers, and which option to change.
        package let text: String
    }

    /// A run's recipe beside the measured one.
    package struct Comparison: Sendable, Equatable {
        /// The measured learning rate for the run's model and scale.
        package let rate: Double
        /// Whether the run's is far below it.
        package let hasLowRate: Bool
        /// Whether some projections of the blocks have no adapter.
        package let leavesModulesOut: Bool

        package init(rate: Double, hasLowRate: Bool, leavesModulesOut: Bool) {
            self.rate = rate
            self.hasLowRate = hasLowRate
            self.leavesModulesOut = leavesModulesOut
        }

        var isWeak: Bool { hasLowRate || leavesModulesOut }
        var rateOption: String { "--learning-rate \(JSONValue.decimal(rate).written)" }
        var remedy: String {
            ((hasLowRate ? [rateOption] : [])
                + (leavesModulesOut ? ["--target-modules all-linear"] : [])).joined(
                    separator: " and ")
        }
    }

    /// Steps whose mean is a loss here: single ones jump.
    static let window = 5
    /// Steps after the warm-up until learning is judged.
    static let judgedAfter = 30
    /// A first loss below this is of rows that the model knows.
    static let known = 0.5
    /// Which share of its beginning a loss has at least, if a weak recipe hardly learns, and if any does.
    static let weakShare = 0.5
    static let anyShare = 0.95
    /// A loss that rises by so much, as a number and as a factor, is no chance.
    static let rise = (nats: 1.0, factor: 1.5)
    /// Validations since the best, of which each is worse than it by more than a share and nats.
    static let worse = (count: 2, share: 0.1, nats: 0.02)

    private let recipe: Comparison
    private let judgedStep: Int
    private let unit: String
    private var recent: [Double] = []
    private var first: Double?
    private var lowest = Double.infinity
    private var said: Set<Finding.Kind> = []
    private var best: (step: Int, loss: Double, training: Double)?
    private var worseCount = 0

    /// - Parameters:
    ///   - recipe: the run's beside the measured one.
    ///   - warmupSteps: of its schedule.
    ///   - comparesAnswers: whether its loss is of pairs.
    package init(recipe: Comparison, warmupSteps: Int, comparesAnswers: Bool) {
        self.recipe = recipe
        judgedStep = warmupSteps + Self.judgedAfter
        unit = comparesAnswers ? "pairs" : "rows"
    }

    /// Takes a step's line.
    package mutating func note(_ line: StepMetrics) -> Finding? {
        recent.append(line.loss)
        if recent.count > Self.window { recent.removeFirst() }
        guard recent.count == Self.window else { return nil }
        let mean = recent.reduce(0, +) / Double(Self.window)
        guard let first else {
            (self.first, lowest) = (mean, mean)
            return nil
        }
        defer { lowest = min(lowest, mean) }
        if mean > lowest + Self.rise.nats, mean > lowest * Self.rise.factor {
            return say(
                .diverges, line.step,
                "the training loss rises: \(Self.text(lowest)) at its lowest, now \(Self.text(mean)); "
                    + "give a lower --learning-rate (\(recipe.rateOption) is measured for models of "
                    + "this width)")
        }
        guard line.step == judgedStep, first > Self.known else { return nil }
        let share = mean / first
        guard share > (recipe.isWeak ? Self.weakShare : Self.anyShare) else { return nil }
        let found =
            "the run hardly learns: the training loss was \(Self.text(first)) in its first "
            + "\(Figures.count(Self.window, "step")) and is \(Self.text(mean)) after \(line.step)"
        return say(
            .learnsHardly, line.step,
            found
                + (recipe.isWeak
                    ? "; give \(recipe.remedy), as measured for models of this width "
                        + "(docs/RECIPES.md)"
                    : "; raise --learning-rate, or look whether the \(unit) say what they should "
                        + "(skein data)"))
    }

    /// Takes a validation's line, after that of its step.
    package mutating func note(_ line: ValidationMetrics) -> Finding? {
        // A run that goes by its accuracy may well keep an adapter of a higher loss.
        guard line.step > 0, let loss = line.loss, loss.isFinite, !line.namesAccuracy,
            !recent.isEmpty
        else { return nil }
        let training = recent.reduce(0, +) / Double(recent.count)
        guard let best, loss >= best.loss else {
            (best, worseCount) = ((line.step, loss, training), 0)
            return nil
        }
        let isWorse = loss > best.loss * (1 + Self.worse.share) + Self.worse.nats
        worseCount = isWorse ? worseCount + 1 : 0
        guard worseCount >= Self.worse.count, training < best.training else { return nil }
        return say(
            .overfits, line.step,
            "the run learns its rows by heart: since step \(best.step) the validation loss has risen "
                + "from \(Self.text(best.loss)) to \(Self.text(loss)) while the training loss fell from "
                + "\(Self.text(best.training)) to \(Self.text(training)); the adapter of step "
                + "\(best.step) is kept, so stop here, or give fewer --epochs, "
                + "--early-stop-patience \(Self.worse.count) or more varied rows next time")
    }

    private mutating func say(_ kind: Finding.Kind, _ step: Int, _ text: String) -> Finding? {
        guard said.insert(kind).inserted else { return nil }
        return Finding(kind: kind, step: step, text: text)
    }

    private static func text(_ loss: Double) -> String { Figures.fixed(loss, 3) }
}

extension EarlyWarning {
    /// For a run; nil for one with local steps, whose rounds stand for many steps each.
    init?(_ job: TrainingJob) {
        guard job.local == nil else { return nil }
        let configuration = job.configuration
        let rates = configuration.learningRates(stepCount: job.plan.scheduledSteps)
        self.init(
            recipe: Comparison(configuration, width: job.model.configuration.width),
            warmupSteps: rates.warmupSteps, comparesAnswers: job.comparesAnswers)
    }
}

extension EarlyWarning.Comparison {
    /// A rate counts as low below this share of the measured one: nearer to it, losses hardly differ.
    private static let lowShare = 0.5

    /// - Parameters:
    ///   - configuration: of a run.
    ///   - width: of its model.
    init(_ configuration: TrainingConfiguration, width: Int) {
        let measured = RecipeDefaults.learningRate(width: width, loss: configuration.loss)
        // What an adapter adds grows with its scale, too.
        let scale = configuration.alpha / configuration.scaleDivisor(rank: configuration.rank)
        let rate = RecipeDefaults.twoDigits(measured * RecipeDefaults.scale / scale)
        var targets = Set(configuration.targetModules)
        if targets.contains(.queryKeyValue) { targets.formUnion([.query, .key, .value]) }
        if targets.contains(.gateUp) { targets.formUnion([.gate, .up]) }
        self.init(
            rate: rate,
            // LoRA+ raises that of B.
            hasLowRate: configuration.loraPlusRatio == nil && rate.isFinite
                && configuration.learningRate < rate * Self.lowShare,
            leavesModulesOut: !TargetModule.allCases.allSatisfy(targets.contains))
    }
}
