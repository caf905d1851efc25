import SkeinBasics
import SkeinModels
import SkeinRows

/// SHA-256 of what this program makes of the data: the encoded rows, and how they are grouped.
///
/// Model, data and options say what a run should compute; these digests say what it does compute.
/// They change if another version's tokenizer, template, encoder, split or grouping differs, so
/// that no resumed run continues silently with other rows. They are equal on every machine.
package struct DataDigests: Sendable, Equatable {
    package let rows: SHA256.Digest
    package let plan: SHA256.Digest

    /// - Parameters:
    ///   - training: in the order of the plan's lengths.
    ///   - validation: rows that decide which adapter is kept.
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
    /// - Returns: one digest of the file's and these two.
    package func identity(file: SHA256.Digest) -> SHA256.Digest {
        var fields = DigestFields("skein data 1")
        fields.append(file)
        fields.append(rows)
        fields.append(plan)
        return fields.finish()
    }
}

extension StepPlan {
    /// The digest covers this many first steps and the last one: a different grouping shows there,
    /// and a plan of a billion steps takes no longer to hash.
    static let digestedSteps = 1 << 14

    /// SHA-256 of the plan's sizes and of the rows of its micro-batches, in order.
    func digest() -> SHA256.Digest {
        var fields = DigestFields("skein plan 1")
        for number in [stepCount, stepsPerEpoch, batchSize, lengths.count] { fields.append(number) }
        if let local { for number in [local.steps, local.workers] { fields.append(number) } }
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

extension DigestFields {
    /// All that the parameters of an adapter mean: which matrices they are, and how strongly each counts.
    mutating func append(_ shape: AdapterShape) {
        let lora = shape.configuration
        append(lora.usesMagnitudes ? 1 : 0)
        append(Int(lora.scale.bitPattern))
        append(shape.layout.entries.count)
        for entry in shape.layout.entries {
            append(entry.name)
            for number in entry.shape + [entry.offset] { append(number) }
        }
        append(lora.exceptions.count)
        let places = lora.exceptions.sorted {
            ($0.key.layer, $0.key.module) < ($1.key.layer, $1.key.module)
        }
        for (place, strength) in places {
            append(place.layer)
            append(place.module.name)
            append(strength.map { Int($0.scale.bitPattern) } ?? -1)
        }
    }
}
