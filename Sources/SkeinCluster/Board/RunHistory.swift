import SkeinBasics
import SkeinCoordination
import SkeinJSON
import SkeinTraining

/// A run's curves and samples so far, for people who look.
///
/// Exact and complete up to `mostPoints` steps; a longer run keeps every second, fourth, ... step, so
/// that memory stays below 1 MiB whatever the length.
package struct RunHistory: Sendable, Equatable {
    package static let mostPoints = 4096
    package static let mostValidations = 1024
    package static let mostSamples = 64

    /// What is drawn of a step.
    package struct Point: Sendable, Equatable {
        package let step: Int
        package let loss: Double
        package let learningRate: Double
        package let gradientNorm: Double
        package let tokensPerSecond: Double
        package let seconds: Double
        package let workers: Int
    }

    package private(set) var points: [Point] = []
    package private(set) var validations: [ValidationMetrics] = []
    package private(set) var samples: [SampleMetrics] = []
    /// Steps whose number is a multiple of it are kept, besides the first.
    package private(set) var stride = 1
    /// How many items were added and are in no list any more, so that a reader can tell what is new.
    package private(set) var droppedValidations = 0
    package private(set) var droppedSamples = 0

    package init() {}

    /// Steps come in their order; a damaged file's that do not are left out.
    package mutating func add(_ metrics: StepMetrics) {
        guard metrics.step > points.last?.step ?? 0 else { return }
        guard metrics.step == 1 || metrics.step % stride == 0 else { return }
        points.append(
            Point(
                step: metrics.step, loss: metrics.loss, learningRate: metrics.learningRate,
                gradientNorm: metrics.gradientNorm, tokensPerSecond: metrics.tokensPerSecond,
                seconds: metrics.seconds, workers: metrics.workers))
        guard points.count > Self.mostPoints else { return }
        stride *= 2
        points.removeAll { $0.step != 1 && $0.step % stride != 0 }
    }

    package mutating func add(_ metrics: ValidationMetrics) {
        validations.append(metrics)
        guard validations.count > Self.mostValidations else { return }
        validations.removeFirst()
        droppedValidations += 1
    }

    package mutating func add(_ sample: SampleMetrics) {
        samples.append(sample)
        guard samples.count > Self.mostSamples else { return }
        samples.removeFirst()
        droppedSamples += 1
    }
}

/// How much of a history a reader has.
package struct HistoryMark: Sendable, Equatable {
    var stride = 1
    var lastStep = 0
    var validations = 0
    var samples = 0
    /// The number of the last round of the timeline.
    var round: UInt64 = 0
}

extension RunHistory {
    /// What came after `mark`, which moves to the end; all when `mark` is nil or older than what is
    /// kept. As JSON on one line: columns of numbers.
    func json(
        after mark: inout HistoryMark?, timeline: [RoundTimelineEntry]
    ) -> JSONValue? {
        var from = mark ?? HistoryMark()
        let isWhole = mark == nil || from.stride != stride
        if isWhole { from = HistoryMark(stride: stride) }
        let first = points.firstIndex { $0.step > from.lastStep } ?? points.count
        let newPoints = points[first...]
        let newValidations = validations.dropFirst(max(0, from.validations - droppedValidations))
        let newSamples = samples.dropFirst(max(0, from.samples - droppedSamples))
        let newRounds = timeline.filter { $0.number > from.round }
        from.lastStep = points.last?.step ?? 0
        from.validations = droppedValidations + validations.count
        from.samples = droppedSamples + samples.count
        from.round = timeline.last?.number ?? from.round
        mark = from
        let isEmpty =
            newPoints.isEmpty && newValidations.isEmpty && newSamples.isEmpty && newRounds.isEmpty
        guard isWhole || !isEmpty else { return nil }
        func column(_ value: (Point) -> JSONValue) -> JSONValue {
            .list(newPoints.map(value))
        }
        return JSONValue.fields([
            ("whole", .bool(isWhole)), ("stride", .integer(stride)),
            (
                "steps",
                .fields([
                    ("step", column { .integer($0.step) }), ("loss", column { .decimal($0.loss) }),
                    ("learning_rate", column { .decimal($0.learningRate) }),
                    ("gradient_norm", column { .decimal($0.gradientNorm) }),
                    ("tokens_per_second", column { .decimal($0.tokensPerSecond) }),
                    ("seconds", column { .decimal($0.seconds) }),
                    ("workers", column { .integer($0.workers) }),
                ])
            ),
            (
                "validations",
                .fields([
                    ("step", .list(newValidations.map { .integer($0.step) })),
                    (
                        "validation_loss",
                        .list(newValidations.map { $0.loss.map { .decimal($0) } ?? .null })
                    ),
                ])
            ),
            (
                "samples",
                .list(
                    newSamples.map { sample in
                        .fields([
                            ("step", .integer(sample.step)), ("prompt", .text(sample.prompt)),
                            ("text", sample.text.map { .text($0) } ?? .null),
                        ])
                    })
            ),
            ("rounds", .list(newRounds.map(\.json))),
        ])
    }
}
