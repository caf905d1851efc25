import SkeinBasics
import SkeinRows

extension StepPlan {
    /// The plan for the training rows of a run.
    ///
    /// - Parameters:
    ///   - configuration: of the run.
    ///   - lengths: tokens of each training row, in file order.
    ///   - costs: what each row costs, in any unit; used with `--slots` alone.
    ///   - draw: which rows an epoch has; nil: all.
    package init(
        _ configuration: TrainingConfiguration, lengths: [Int], costs: @autoclosure () -> [Int],
        draw: EpochDraw? = nil
    ) {
        self.init(
            lengths: lengths, batchSize: configuration.batchSize,
            microBatchTokens: configuration.microBatchTokens,
            slots: configuration.slots.map { Slots(count: $0, costs: costs()) },
            local: configuration.localShape, draw: draw,
            seed: configuration.addressedSeed, shuffles: configuration.shuffle,
            epochs: configuration.epochs, iterations: configuration.iterations)
    }
}
