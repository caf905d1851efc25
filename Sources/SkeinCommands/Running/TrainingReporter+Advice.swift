import Skein
import SkeinBasics
import SkeinJSON
import SkeinTraining
import Synchronization

extension TrainingReporter {
    /// Says why the run is not over yet.
    func tellMeasuring() {
        state.withLock { $0.isMeasuring = true }
        info(
            "measuring the kept adapter on training and validation rows (--no-advice leaves it out)",
            [])
    }

    /// Says what the kept adapter's accuracies suggest to do next, as `TrainedAdapter.advice()` does.
    func showAdvice(_ ending: RunEnding) {
        guard let kept = ending.kept else { return }
        let training = Evaluation(kept.training)
        let validation = kept.validation.map { Evaluation($0) }
        let advice = AccuracyAdvice.on(
            training: training, validation: validation,
            gotWorse: ending.outcome.keptStep < ending.outcome.step)
        func number(_ value: Double?) -> JSONValue { value.map { .decimal($0) } ?? .null }
        let facts: [(String, JSONValue)] = [
            ("event", .text("advice")), ("training_accuracy", number(training.tokenAccuracy)),
            ("validation_accuracy", number(validation?.tokenAccuracy)),
            ("advice", .list(advice.map { .text($0.description) })),
        ]
        guard !advice.isEmpty else {
            return info("advice: none, the accuracies are as they should be", facts)
        }
        info("advice: " + advice.map(\.description).joined(separator: "; "), facts)
    }
}
