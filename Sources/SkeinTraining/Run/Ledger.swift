import SkeinBasics
import SkeinJSON

/// One line of ledger.jsonl: a micro-batch whose gradient went into a committed step.
package struct LedgerEntry: Sendable, Equatable, Decodable {
    package var step: Int
    /// In a run with local steps, the logical worker.
    package var microBatch: Int
    /// The name of the worker that computed it.
    package var worker: String
    /// How often it had been leased, from 1.
    package var attempt: Int
    package var tokens: Int
    package var lossTokens: Int
    package var lossSum: Double
    /// SHA-256 of the gradient after the codec, 64 hexadecimal digits; of a run with local steps,
    /// of the change of parameters.
    package var gradientDigest: String
    /// SHA-256 of the logical worker's state after the round; nil, and not written, without local
    /// steps.
    package var stateDigest: String?
    /// SHA-256 of the parameters that it was computed with (`WorkInputs`); nil, and not written, in
    /// lines of versions before 2026-11-27.
    package var parametersDigest: String?
    /// SHA-256 of all that it was computed from; likewise.
    package var inputsDigest: String?

    enum CodingKeys: String, CodingKey {
        case step, worker, attempt, tokens
        case microBatch = "micro_batch"
        case lossTokens = "loss_tokens"
        case lossSum = "loss_sum"
        case gradientDigest = "gradient_sha256"
        case stateDigest = "state_sha256"
        case parametersDigest = "parameters_sha256"
        case inputsDigest = "inputs_sha256"
    }

    package init(
        step: Int, microBatch: Int, worker: String, attempt: Int, tokens: Int, lossTokens: Int,
        lossSum: Double, gradientDigest: String, stateDigest: String? = nil,
        parametersDigest: String? = nil, inputsDigest: String? = nil
    ) {
        self.step = step
        self.microBatch = microBatch
        self.worker = worker
        self.attempt = attempt
        self.tokens = tokens
        self.lossTokens = lossTokens
        self.lossSum = lossSum
        self.gradientDigest = gradientDigest
        self.stateDigest = stateDigest
        self.parametersDigest = parametersDigest
        self.inputsDigest = inputsDigest
    }

    package var line: JSONValue {
        var fields: [(String, JSONValue)] = [
            ("step", .integer(step)), ("micro_batch", .integer(microBatch)),
            ("worker", .text(worker)), ("attempt", .integer(attempt)),
            ("tokens", .integer(tokens)), ("loss_tokens", .integer(lossTokens)),
            ("loss_sum", .decimal(lossSum)), ("gradient_sha256", .text(gradientDigest)),
        ]
        if let stateDigest {
            fields.append((CodingKeys.stateDigest.rawValue, .text(stateDigest)))
        }
        if let parametersDigest {
            fields.append((CodingKeys.parametersDigest.rawValue, .text(parametersDigest)))
        }
        if let inputsDigest {
            fields.append((CodingKeys.inputsDigest.rawValue, .text(inputsDigest)))
        }
        return JSONValue.fields(fields)
    }
}

extension LedgerEntry {
    /// The line of a result.
    init(step: Int, _ result: MicroBatchResult) {
        self.init(
            step: step, microBatch: result.index, worker: result.worker, attempt: result.attempt,
            tokens: result.sum.tokens, lossTokens: result.sum.lossTokens,
            lossSum: result.sum.lossSum, gradientDigest: result.digest.description,
            stateDigest: result.state?.digest.description,
            parametersDigest: result.inputs?.parameters?.description,
            inputsDigest: result.inputs?.digest.description)
    }
}

/// The record of every micro-batch of every committed step, made durable before the step changes
/// the adapter; and of every group of rows whose loss, or log-probabilities under the reference model, the
/// run uses, made durable before it does.
package struct Ledger: ~Copyable {
    package enum Record: Sendable, Equatable {
        case microBatch(LedgerEntry)
        case group(GroupEntry)
    }

    private let file: LineFile

    /// Opens `ledger.jsonl` and keeps the steps up to the one that the run resumes from; below 0: no
    /// line. `references` are its first lines from then on, instead of others of references; empty:
    /// those that are there stay.
    ///
    /// - Throws: `FileError`.
    package init(
        path: String, keepingThroughStep step: Int, references: [GroupEntry] = [],
        in store: any Store = DiskStore()
    ) throws {
        file = try LineFile(
            path: path, keepingThroughStep: step, head: references.map(\.line),
            replacing: "{\"step\":0,\"reference_group\":", in: store)
    }

    /// Appends all entries of one step, in the order of their micro-batches, and flushes them.
    package func append(_ entries: [LedgerEntry]) throws {
        try file.append(entries.sorted { $0.microBatch < $1.microBatch }.map(\.line))
    }

    /// Opens `ledger.jsonl` and keeps all of it.
    ///
    /// - Throws: `FileError`.
    init(appendingTo path: String, in store: any Store) throws {
        file = try LineFile(appendingTo: path, in: store)
    }

    /// Appends the lines of groups of rows, in this order, and flushes them.
    package func append(_ entries: [GroupEntry]) throws {
        try file.append(entries.map(\.line))
    }

    /// Calls `body` with every whole line of a ledger.
    ///
    /// - Throws: `FileError`, `TrainingError.damagedRecord`, what `body` throws.
    package static func read(
        path: String, in store: any Store = DiskStore(), _ body: (Record) throws -> Void
    ) throws {
        try LineFile.forEachLine(of: path, in: store) { line in
            try body(record(line.bytes, path: path, line: line.number))
        }
    }

    /// - Throws: `TrainingError.damagedRecord`.
    static func record(
        _ line: UnsafeRawBufferPointer, path: String, line number: Int?
    ) throws -> Record {
        if let entry = LedgerEntry(line: line) { return .microBatch(entry) }
        if let entry = GroupEntry(line: line) { return .group(entry) }
        return line.firstRange(of: groupMark) == nil
            ? .microBatch(
                try RecordFile.decode(LedgerEntry.self, from: line, path: path, line: number))
            : .group(try RecordFile.decode(GroupEntry.self, from: line, path: path, line: number))
    }

    // No text in a line has these bytes: its own quotation marks follow a backslash.
    private static let groupMark = Array("_group\":".utf8)
}
