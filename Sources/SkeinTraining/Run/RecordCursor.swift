import Foundation

/// Reads a line of ledger.jsonl or metrics.jsonl as Skein writes it: fields in order, without
/// spaces and escapes.
///
/// A resumed run reads all of its lines, and Foundation's decoder takes many times as long. So this
/// reader accepts only what Skein writes, with the values that the decoder would return. For all
/// else, such as damage, it returns nil, and the decoder decides and reports.
struct RecordCursor {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    /// - Parameter bytes: of a line without its end; they must outlive the cursor.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { place == bytes.count }

    /// Steps over `text`; false if something else is next.
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.count - place, let base = bytes.baseAddress,
            memcmp(base + place, text.utf8Start, count) == 0
        else { return false }
        place += count
        return true
    }

    /// A whole number of at most 18 digits, which every Int holds.
    mutating func integer() -> Int? {
        let start = place
        var value = 0
        while let digit = digit() {
            guard place - start <= 18 else { return nil }
            value = value * 10 + digit
        }
        return isNumber(from: start) ? value : nil
    }

    /// A finite number.
    mutating func number() -> Double? {
        let start = place
        if byte == UInt8(ascii: "-") { place += 1 }
        let whole = place
        while digit() != nil {}
        guard isNumber(from: whole) else { return nil }
        if byte == UInt8(ascii: ".") {
            place += 1
            guard digit() != nil else { return nil }
            while digit() != nil {}
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            place += 1
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") { place += 1 }
            guard digit() != nil else { return nil }
            while digit() != nil {}
        }
        // Another byte of the line follows, so strtod reads nothing beyond the line.
        guard byte != nil, let base = bytes.baseAddress else { return nil }
        var end: UnsafeMutablePointer<CChar>?
        let value = strtod((base + start).assumingMemoryBound(to: CChar.self), &end)
        guard let end, UnsafeRawPointer(end) == base + place, value.isFinite else { return nil }
        // Subnormal numbers are left to the decoder, like numbers that are too large.
        if value.isNormal { return value }
        return bytes[start..<place].contains { (0x31...0x39).contains($0) } ? nil : value
    }

    /// The text up to the next quote, which is stepped over, too.
    mutating func text() -> String? {
        let start = place
        while let next = byte, next != UInt8(ascii: "\"") {
            guard next >= 0x20, next != UInt8(ascii: "\\") else { return nil }
            place += 1
        }
        guard byte != nil else { return nil }
        defer { place += 1 }
        return String(
            validating: UnsafeRawBufferPointer(rebasing: bytes[start..<place]), as: UTF8.self)
    }

    private var byte: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func digit() -> Int? {
        guard let byte, (0x30...0x39).contains(byte) else { return nil }
        place += 1
        return Int(byte) - 0x30
    }

    /// Whether there are digits since `start`, without a leading zero.
    private func isNumber(from start: Int) -> Bool {
        place > start && (bytes[start] != 0x30 || place == start + 1)
    }
}

extension LedgerEntry {
    /// A line as Skein writes it; nil for any other.
    init?(line: UnsafeRawBufferPointer) {
        var cursor = RecordCursor(line)
        guard cursor.skip("{\"step\":"), let step = cursor.integer(),
            cursor.skip(",\"micro_batch\":"), let microBatch = cursor.integer(),
            cursor.skip(",\"worker\":\""), let worker = cursor.text(),
            cursor.skip(",\"attempt\":"), let attempt = cursor.integer(),
            cursor.skip(",\"tokens\":"), let tokens = cursor.integer(),
            cursor.skip(",\"loss_tokens\":"), let lossTokens = cursor.integer(),
            cursor.skip(",\"loss_sum\":"), let lossSum = cursor.number(),
            cursor.skip(",\"gradient_sha256\":\""), let digest = cursor.text()
        else { return nil }
        /// Whether the field is valid or absent.
        func read(_ name: StaticString, into field: inout String?) -> Bool {
            guard cursor.skip(name) else { return true }
            field = cursor.text()
            return field != nil
        }
        var (state, parameters, inputs): (String?, String?, String?)
        guard read(",\"state_sha256\":\"", into: &state),
            read(",\"parameters_sha256\":\"", into: &parameters),
            read(",\"inputs_sha256\":\"", into: &inputs),
            cursor.skip("}"), cursor.isAtEnd
        else { return nil }
        self.init(
            step: step, microBatch: microBatch, worker: worker, attempt: attempt, tokens: tokens,
            lossTokens: lossTokens, lossSum: lossSum, gradientDigest: digest, stateDigest: state,
            parametersDigest: parameters, inputsDigest: inputs)
    }
}

extension GroupEntry {
    /// A line as Skein writes it; nil for any other.
    init?(line: UnsafeRawBufferPointer) {
        var cursor = RecordCursor(line)
        var (step, group, subject): (Int?, Int?, Subject)
        if cursor.skip("{\"test_group\":") {
            (group, subject) = (cursor.integer(), .test)
            guard cursor.skip(",\"step\":") else { return nil }
            step = cursor.integer()
        } else {
            guard cursor.skip("{\"step\":") else { return nil }
            step = cursor.integer()
            if cursor.skip(",\"validation_group\":") {
                (group, subject) = (cursor.integer(), .validation)
            } else {
                guard cursor.skip(",\"reference_group\":") else { return nil }
                group = cursor.integer()
                guard cursor.skip(",\"rows\":\""),
                    let rows = cursor.text().flatMap(RowKind.init(rawValue:))
                else { return nil }
                subject = .reference(of: rows)
            }
        }
        guard let step, let group,
            cursor.skip(",\"worker\":\""), let worker = cursor.text(),
            cursor.skip(",\"attempt\":"), let attempt = cursor.integer(),
            cursor.skip(",\"tokens\":"), let tokens = cursor.integer(),
            cursor.skip(",\"loss_tokens\":"), let lossTokens = cursor.integer()
        else { return nil }
        var correct: Int?
        if cursor.skip(",\"correct\":") {
            guard let found = cursor.integer() else { return nil }
            correct = found
        }
        guard cursor.skip(",\"loss_sum\":"), let lossSum = cursor.number() else { return nil }
        /// Whether the field is valid or absent.
        func read(_ name: StaticString, into field: inout String?) -> Bool {
            guard cursor.skip(name) else { return true }
            field = cursor.text()
            return field != nil
        }
        var (parameters, values, inputs): (String?, String?, String?)
        guard read(",\"parameters_sha256\":\"", into: &parameters),
            read(",\"log_probabilities_sha256\":\"", into: &values),
            read(",\"inputs_sha256\":\"", into: &inputs),
            cursor.skip("}"), cursor.isAtEnd
        else { return nil }
        self.init(
            subject, step: step, group: group, worker: worker, attempt: attempt, tokens: tokens,
            lossTokens: lossTokens, correct: correct, lossSum: lossSum,
            parametersDigest: parameters, valuesDigest: values, inputsDigest: inputs)
    }
}

extension StepMetrics {
    /// A line as Skein writes it; nil for any other.
    init?(line: UnsafeRawBufferPointer) {
        var cursor = RecordCursor(line)
        guard cursor.skip("{\"step\":"), let step = cursor.integer(),
            cursor.skip(",\"epoch\":"), let epoch = cursor.integer(),
            cursor.skip(",\"loss\":"), let loss = cursor.number(),
            cursor.skip(",\"tokens\":"), let tokens = cursor.integer(),
            cursor.skip(",\"loss_tokens\":"), let lossTokens = cursor.integer(),
            cursor.skip(",\"learning_rate\":"), let learningRate = cursor.number(),
            cursor.skip(",\"gradient_norm\":"), let gradientNorm = cursor.number(),
            cursor.skip(",\"seconds\":"), let seconds = cursor.number(),
            cursor.skip(",\"tokens_per_second\":"), let tokensPerSecond = cursor.number(),
            cursor.skip(",\"workers\":"), let workers = cursor.integer()
        else { return nil }
        self.init(
            step: step, epoch: epoch, loss: loss, tokens: tokens, lossTokens: lossTokens,
            learningRate: learningRate, gradientNorm: gradientNorm, seconds: seconds,
            tokensPerSecond: tokensPerSecond, workers: workers)
        if cursor.skip(",\"coordinator_cpu_seconds\":") {
            guard let seconds = cursor.number() else { return nil }
            coordinatorCPUSeconds = seconds
        }
        /// Whether the field is valid or absent.
        func read(_ name: StaticString, into field: inout Int?) -> Bool {
            guard cursor.skip(name) else { return true }
            field = cursor.integer()
            return field != nil
        }
        guard read(",\"sent_bytes\":", into: &sentBytes),
            read(",\"received_bytes\":", into: &receivedBytes),
            read(",\"payload_bytes\":", into: &payloadBytes),
            cursor.skip("}"), cursor.isAtEnd
        else { return nil }
    }
}
