import SkeinBasics
import SkeinJSON
import SkeinText

/// The line of metrics.jsonl that ends an optimizer step.
package struct StepMetrics: Sendable, Equatable, Decodable {
    package var step: Int
    package var epoch: Int
    /// Sum of the token losses / number of loss tokens, in nats.
    package var loss: Double
    package var tokens: Int
    package var lossTokens: Int
    package var learningRate: Double
    /// The norm of the mean gradient, before clipping.
    package var gradientNorm: Double
    package var seconds: Double
    package var tokensPerSecond: Double
    package var workers: Int
    /// What the step cost a coordinator; all nil, and not written, in a run of one process.
    package var coordinatorCPUSeconds: Double?
    package var sentBytes: Int?
    package var receivedBytes: Int?
    /// Bytes of the step's packed gradients.
    package var payloadBytes: Int?

    enum CodingKeys: String, CodingKey {
        case step, epoch, loss, tokens, seconds, workers
        case coordinatorCPUSeconds = "coordinator_cpu_seconds"
        case sentBytes = "sent_bytes"
        case receivedBytes = "received_bytes"
        case payloadBytes = "payload_bytes"
        case lossTokens = "loss_tokens"
        case learningRate = "learning_rate"
        case gradientNorm = "gradient_norm"
        case tokensPerSecond = "tokens_per_second"
    }

    package init(
        step: Int, epoch: Int, loss: Double, tokens: Int, lossTokens: Int, learningRate: Double,
        gradientNorm: Double, seconds: Double, tokensPerSecond: Double, workers: Int,
        figures: StepFigures? = nil
    ) {
        self.step = step
        self.epoch = epoch
        self.loss = loss
        self.tokens = tokens
        self.lossTokens = lossTokens
        self.learningRate = learningRate
        self.gradientNorm = gradientNorm
        self.seconds = seconds
        self.tokensPerSecond = tokensPerSecond
        self.workers = workers
        coordinatorCPUSeconds = figures?.cpuSeconds
        sentBytes = figures?.sentBytes
        receivedBytes = figures?.receivedBytes
        payloadBytes = figures?.payloadBytes
    }

    package var line: JSONValue {
        var fields: [(String, JSONValue)] = [
            ("step", .integer(step)), ("epoch", .integer(epoch)), ("loss", .decimal(loss)),
            ("tokens", .integer(tokens)), ("loss_tokens", .integer(lossTokens)),
            ("learning_rate", .decimal(learningRate)), ("gradient_norm", .decimal(gradientNorm)),
            ("seconds", .decimal(seconds)), ("tokens_per_second", .decimal(tokensPerSecond)),
            ("workers", .integer(workers)),
        ]
        if let seconds = coordinatorCPUSeconds {
            fields.append((CodingKeys.coordinatorCPUSeconds.rawValue, .decimal(seconds)))
        }
        for (key, bytes) in [
            (CodingKeys.sentBytes, sentBytes), (.receivedBytes, receivedBytes),
            (.payloadBytes, payloadBytes),
        ] {
            if let bytes { fields.append((key.rawValue, .integer(bytes))) }
        }
        return JSONValue.fields(fields)
    }
}

/// The line of metrics.jsonl that a validation writes.
package struct ValidationMetrics: Sendable, Equatable, Decodable {
    package var step: Int
    package var epoch: Int
    /// nil, written as null, when there is no validation row.
    package var loss: Double?
    /// Loss tokens of the validation rows.
    package var tokens: Int
    /// Share of the loss tokens that the model considers the most likely; nil without any, and in a
    /// line that was read and does not name it.
    package var tokenAccuracy: Double?
    /// Whether the line names it, as in a run that finds its best adapter by it.
    package var namesAccuracy: Bool

    enum CodingKeys: String, CodingKey {
        case step, epoch
        case loss = "validation_loss"
        case tokens = "validation_tokens"
        case tokenAccuracy = "validation_accuracy"
    }

    package init(
        step: Int, epoch: Int, loss: Double?, tokens: Int, tokenAccuracy: Double? = nil,
        namesAccuracy: Bool = false
    ) {
        self.step = step
        self.epoch = epoch
        self.loss = loss
        self.tokens = tokens
        self.tokenAccuracy = tokenAccuracy
        self.namesAccuracy = namesAccuracy
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        step = try values.decode(Int.self, forKey: .step)
        epoch = try values.decode(Int.self, forKey: .epoch)
        loss = try values.decodeIfPresent(Double.self, forKey: .loss)
        tokens = try values.decode(Int.self, forKey: .tokens)
        tokenAccuracy = try values.decodeIfPresent(Double.self, forKey: .tokenAccuracy)
        namesAccuracy = values.contains(.tokenAccuracy)
    }

    package var line: JSONValue {
        var fields: [(String, JSONValue)] = [
            ("step", .integer(step)), ("epoch", .integer(epoch)),
            ("validation_loss", loss.map { .decimal($0) } ?? .null),
            ("validation_tokens", .integer(tokens)),
        ]
        if namesAccuracy {
            fields.append(
                (
                    CodingKeys.tokenAccuracy.rawValue,
                    tokenAccuracy.map { .decimal($0) } ?? .null
                ))
        }
        return JSONValue.fields(fields)
    }
}

/// The line of metrics.jsonl that a sample writes, after the validation's.
package struct SampleMetrics: Sendable, Equatable, Decodable {
    package var step: Int
    package var epoch: Int
    package var prompt: String
    /// nil, written as null, for a model whose logits are not finite.
    package var text: String?
    /// Tokens of the text.
    package var tokens: Int

    enum CodingKeys: String, CodingKey {
        case step, epoch
        case prompt = "sample_prompt"
        case text = "sample"
        case tokens = "sample_tokens"
    }

    package init(step: Int, epoch: Int, prompt: String, text: String?, tokens: Int) {
        self.step = step
        self.epoch = epoch
        self.prompt = prompt
        self.text = text
        self.tokens = tokens
    }

    package var line: JSONValue {
        JSONValue.fields([
            ("step", .integer(step)), ("epoch", .integer(epoch)),
            ("sample_prompt", .text(prompt)), ("sample", text.map { .text($0) } ?? .null),
            ("sample_tokens", .integer(tokens)),
        ])
    }
}

/// metrics.jsonl: one line for each step, each validation and each sample.
///
/// A step's line is written after its update, the lines of a validation and its samples after the
/// step's, and the checkpoint of the step after all of them: a run that resumes from that checkpoint
/// keeps them.
package struct Metrics: ~Copyable {
    package enum Record: Sendable, Equatable {
        case step(StepMetrics)
        case validation(ValidationMetrics)
        case sample(SampleMetrics)
    }

    private let file: LineFile

    /// Opens `metrics.jsonl` and keeps the steps up to the one that the run resumes from; below 0: no
    /// line.
    ///
    /// - Throws: `FileError`.
    package init(
        path: String, keepingThroughStep step: Int, in store: any Store = DiskStore()
    ) throws {
        file = try LineFile(path: path, keepingThroughStep: step, in: store)
    }

    package func append(_ metrics: StepMetrics) throws {
        try file.append([metrics.line])
    }

    package func append(_ metrics: ValidationMetrics) throws {
        try file.append([metrics.line])
    }

    package func append(_ samples: [SampleMetrics]) throws {
        try file.append(samples.map(\.line))
    }

    /// Calls `body` with every whole line.
    ///
    /// - Throws: `FileError`, `TrainingError.damagedRecord`, what `body` throws.
    package static func read(
        path: String, in store: any Store = DiskStore(), _ body: (Record) throws -> Void
    ) throws {
        try LineFile.forEachLine(of: path, in: store) { line in
            try body(record(line.bytes, path: path, line: line.number))
        }
    }

    /// Calls `body` with every line that is whole; those that are damaged are left out.
    ///
    /// - Throws: `FileError`.
    package static func readWhatIsWhole(
        path: String, in store: any Store = DiskStore(), _ body: (Record) -> Void
    ) throws {
        try LineFile.forEachLine(of: path, in: store) { line in
            do {
                body(try record(line.bytes, path: path, line: line.number))
            } catch is TrainingError {
                return
            }
        }
    }

    /// - Throws: `TrainingError.damagedRecord`.
    static func record(
        _ line: UnsafeRawBufferPointer, path: String, line number: Int?
    ) throws -> Record {
        if let metrics = StepMetrics(line: line) { return .step(metrics) }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try RecordFile.decode(type, from: line, path: path, line: number)
        }
        if line.firstRange(of: sampleMark) != nil { return .sample(try decode(SampleMetrics.self)) }
        return line.firstRange(of: validationMark) != nil
            ? .validation(try decode(ValidationMetrics.self))
            : .step(try decode(StepMetrics.self))
    }

    // No text in a line has these bytes: its own quotation marks follow a backslash.
    private static let validationMark = Array("\"validation_tokens\":".utf8)
    private static let sampleMark = Array("\"sample_prompt\":".utf8)
}

/// What metrics.jsonl has of a step: numbers for the card of its adapter.
struct RecordedLosses: Sendable, Equatable {
    /// The loss of the last optimizer step up to it.
    var training: Double?
    /// The score of the validation after it.
    var validation: Improvement.Score?
    /// The score of the validation before the first step.
    var start: Improvement.Score?

    /// Reads a file. What cannot be read counts as missing.
    ///
    /// - Parameters:
    ///   - step: whose losses are wanted.
    ///   - path: of metrics.jsonl, which need not exist.
    ///   - store: where it is.
    /// - Throws: `FileError`.
    init(ofStep step: Int, path: String, in store: any Store) throws {
        guard store.exists(path) else { return }
        try LineFile.forEachLine(of: path, in: store) { line in
            guard let own = LineFile.step(of: line.bytes), own <= step else { return }
            // Foundation's reader gives other last digits than were written. The ledger's check
            // reports a line that cannot be read.
            guard case .object(let fields)? = try? JSONValue(parsing: Array(line.bytes)) else {
                return
            }
            if let loss = fields["loss"]?.double { training = loss }
            guard own == 0 || own == step, let tokens = fields["validation_tokens"]?.integer,
                tokens > 0
            else { return }
            let score = Improvement.Score(
                loss: fields["validation_loss"]?.double,
                accuracy: fields["validation_accuracy"]?.double)
            if own == 0 { start = score } else { validation = score }
        }
    }
}
