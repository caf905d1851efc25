import SkeinTraining

/// The numbers of a run by the names under which other tools see them.
enum RunScalars {
    typealias Scalar = (tag: String, value: Double)

    static let trainingLoss = "train/loss"
    static let validationLoss = "validation/loss"

    /// The scalars of a step, as metrics.jsonl has them.
    static func of(_ metrics: StepMetrics) -> [Scalar] {
        var scalars: [Scalar] = [
            (trainingLoss, metrics.loss), ("train/learning_rate", metrics.learningRate),
            ("train/gradient_norm", metrics.gradientNorm),
            ("train/tokens_per_second", metrics.tokensPerSecond),
            ("train/seconds", metrics.seconds), ("train/tokens", Double(metrics.tokens)),
            ("train/loss_tokens", Double(metrics.lossTokens)),
            ("train/epoch", Double(metrics.epoch)), ("train/workers", Double(metrics.workers)),
        ]
        let more: [(String, Double?)] = [
            ("coordinator/cpu_seconds", metrics.coordinatorCPUSeconds),
            ("coordinator/sent_bytes", metrics.sentBytes.map(Double.init)),
            ("coordinator/received_bytes", metrics.receivedBytes.map(Double.init)),
            ("coordinator/payload_bytes", metrics.payloadBytes.map(Double.init)),
        ]
        for (tag, value) in more { if let value { scalars.append((tag, value)) } }
        return scalars
    }

    /// The scalars of a validation; none for one without rows.
    static func of(_ metrics: ValidationMetrics) -> [Scalar] {
        guard let loss = metrics.loss else { return [] }
        var scalars = [(validationLoss, loss), ("validation/tokens", Double(metrics.tokens))]
        if metrics.namesAccuracy, let accuracy = metrics.tokenAccuracy {
            scalars.append(("validation/accuracy", accuracy))
        }
        return scalars
    }
}
