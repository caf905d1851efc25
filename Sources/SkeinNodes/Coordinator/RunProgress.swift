import SkeinTraining

/// How far the run is, for `skein status`.
struct RunProgress: Sendable {
    var output = ""
    var step = 0
    var stepCount = 0
    var loss: Double?
    var tokensPerSecond: Double?

    mutating func record(_ metrics: StepMetrics) {
        step = metrics.step
        loss = metrics.loss
        tokensPerSecond = metrics.tokensPerSecond
    }
}
