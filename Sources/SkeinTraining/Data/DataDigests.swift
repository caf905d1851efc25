import SkeinBasics

/// What this program makes of the data: SHA-256 of the encoded rows, and of how they are grouped.
///
/// The bytes of model, data and options say what a run should compute; these say what it does compute.
/// They differ where tokenizer, template, encoder, split or grouping of another version do, which
/// a resumed run must not do in silence. Equal on every machine.
package struct DataDigests: Sendable, Equatable {
    package let rows: SHA256.Digest
    package let plan: SHA256.Digest

    /// - Parameters:
    ///   - training: in the order of the plan's lengths.
    ///   - validation: they choose the adapter that is kept.
    ///   - plan: of the training rows.
    init(training: [TokenizedRow], validation: [TokenizedRow], plan: StepPlan) {
        var fields = DigestFields("skein rows 1")
        for list in [training, validation] {
            fields.append(list.count)
            for row in list { fields.append(row) }
        }
        rows = fields.finish()
        self.plan = plan.digest()
    }

    /// What a worker knows a run's data by.
    ///
    /// - Parameter file: SHA-256 of the data file.
    /// - Returns: one digest of these two and of the file's.
    package func identity(file: SHA256.Digest) -> SHA256.Digest {
        var fields = DigestFields("skein data 1")
        fields.append(file)
        fields.append(rows)
        fields.append(plan)
        return fields.finish()
    }
}

extension StepPlan {
    /// Steps at the plan's beginning that its digest covers, and with them its last one: a grouping
    /// that differs shows there, and a plan of a billion steps must not take longer to hash.
    static let digestedSteps = 1 << 14

    /// SHA-256 of the sizes of the plan and of its micro-batches, each as its rows in order.
    func digest() -> SHA256.Digest {
        var fields = DigestFields("skein plan 1")
        for number in [stepCount, stepsPerEpoch, batchSize, lengths.count] { fields.append(number) }
        for step in steps().prefix(Self.digestedSteps) { fields.append(step) }
        if stepCount > Self.digestedSteps { fields.append(step(stepCount)) }
        return fields.finish()
    }
}

extension DigestFields {
    fileprivate mutating func append(_ row: TokenizedRow) {
        append(row.number)
        append(row.ids)
        append(row.targets.count)
        for range in row.targets {
            append(range.lowerBound)
            append(range.upperBound)
        }
    }

    fileprivate mutating func append(_ step: PlannedStep) {
        append(step.step)
        append(step.microBatches.count)
        for rows in step.microBatches {
            append(rows.count)
            for row in rows { append(row) }
        }
    }
}

/// Hashes fields so that no two lists of them are the same bytes: each tells its length first.
struct DigestFields {
    private var hash = SHA256()

    init(_ purpose: String) {
        append(purpose)
    }

    mutating func append(_ bytes: [UInt8]) {
        withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update($0) }
        hash.update(bytes)
    }

    mutating func append(_ text: String) { append(Array(text.utf8)) }

    mutating func append(_ digest: SHA256.Digest) { append(digest.bytes) }

    mutating func append(_ ids: [Int32]) {
        append(ids.count * 4)
        let words = ids.map(\.littleEndian)
        words.withUnsafeBytes { hash.update($0) }
    }

    mutating func append(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { append(Array($0)) }
    }

    consuming func finish() -> SHA256.Digest { hash.finish() }
}
