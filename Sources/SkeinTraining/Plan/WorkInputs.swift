import SkeinBasics
import SkeinRows

/// The base model and the recipe of a run, named by one SHA-256.
package struct WorkRecipe: Sendable, Equatable {
    private let digest: SHA256.Digest
    /// Whether references are computed with parameters: those that the run begins with.
    package let referencesReadParameters: Bool

    /// - Parameters:
    ///   - model: SHA-256 of the base model, 32 bytes.
    ///   - configuration: as the process that computes has read it.
    package init(model: [UInt8], _ configuration: TrainingConfiguration) {
        var fields = DigestFields("skein recipe 1")
        fields.append(model)
        fields.append(configuration.digest)
        digest = fields.finish()
        referencesReadParameters = configuration.reference == .initial
    }

    fileprivate func fields(
        _ kind: String, step: Int, index: Int, parameters: SHA256.Digest?
    ) -> DigestFields {
        var fields = DigestFields("skein inputs 1")
        fields.append(kind)
        fields.append(digest)
        fields.append(parameters?.bytes ?? [])
        fields.append(step)
        fields.append(index)
        return fields
    }
}

extension TrainingJob {
    /// Names this job's model and recipe.
    ///
    /// - Precondition: run.json's digest of the model is one, as this program has written it.
    package var workRecipe: WorkRecipe {
        WorkRecipe(model: SHA256.Digest(runFile.modelDigest)?.bytes ?? [], configuration)
    }
}

/// Names all that a result is computed from: base model, recipe, parameters, rows, step and place.
///
/// Each worker says what it has computed from, and the coordinator compares that with what the
/// plan asks for. The ledger records it. A number that is counted, such as a version or a term, can
/// mean one thing to one process and another thing to the next; bytes mean themselves.
package struct WorkInputs: Sendable, Equatable {
    /// SHA-256 of the parameters as fp32, little endian; of a run with local steps, of parameters and
    /// outer momentum. nil: nothing was computed with parameters.
    package let parameters: SHA256.Digest?
    /// SHA-256 of everything.
    package let digest: SHA256.Digest

    private init(_ parameters: SHA256.Digest?, _ fields: consuming DigestFields) {
        self.parameters = parameters
        digest = fields.finish()
    }

    /// Those of a micro-batch's loss and gradient.
    package init(
        _ recipe: WorkRecipe, parameters: SHA256.Digest, gradientOf microBatch: MicroBatch
    ) {
        var fields = recipe.fields(
            "gradient", step: microBatch.step, index: microBatch.index, parameters: parameters)
        fields.append(microBatch.tokenShare)
        fields.append(answers: microBatch.rows)
        self.init(parameters, fields)
    }

    /// Those of the loss of a group of rows, without dropout.
    ///
    /// - Parameters:
    ///   - recipe: of the run.
    ///   - parameters: that are judged.
    ///   - rows: of the group.
    ///   - index: the group's place among those of the evaluation.
    ///   - step: after which it is.
    ///   - tokenShare: as `MicroBatch` has it.
    package init(
        _ recipe: WorkRecipe, parameters: SHA256.Digest, lossOf rows: [TokenizedRow], index: Int,
        afterStep step: Int, tokenShare: Double
    ) {
        var fields = recipe.fields(
            "evaluation", step: step, index: index, parameters: parameters)
        fields.append(tokenShare)
        fields.append(answers: rows)
        self.init(parameters, fields)
    }

    /// Those of the references of rows, which depend on no place: what was not yet computed is leased in
    /// other rounds.
    ///
    /// - Parameters:
    ///   - recipe: of the run.
    ///   - parameters: that the run begins with; they count only if the recipe's references read them.
    ///   - rows: of the group.
    package init(
        _ recipe: WorkRecipe, parameters: SHA256.Digest?, referencesOf rows: [TokenizedRow]
    ) {
        let read = recipe.referencesReadParameters ? parameters : nil
        var fields = recipe.fields("log-probabilities", step: 0, index: 0, parameters: read)
        fields.append(answers: rows)
        self.init(read, fields)
    }

    /// Those of what a logical worker does in a round; `state` names the state from which it starts,
    /// nil before its first round.
    package init(
        _ recipe: WorkRecipe, parameters: SHA256.Digest, work: LocalWork, state: SHA256.Digest?
    ) {
        var fields = recipe.fields(
            "local steps", step: work.round, index: work.worker, parameters: parameters)
        fields.append(state?.bytes ?? [])
        fields.append(work.scheduledSteps)
        fields.append(work.steps.count)
        for step in work.steps {
            fields.append(step.count)
            for rows in step { fields.append(answers: rows) }
        }
        self.init(parameters, fields)
    }
}

extension DigestFields {
    fileprivate mutating func append(_ number: Double) {
        append(Int(truncatingIfNeeded: number.bitPattern))
    }

    /// Rows with what the loss reads of the base model. A row's number addresses random numbers by its
    /// low 32 bits.
    fileprivate mutating func append(answers rows: [TokenizedRow]) {
        append(rows.count)
        for row in rows {
            append(Int(UInt32(truncatingIfNeeded: row.number)))
            append(row.ids)
            append(row.targets.count)
            for range in row.targets {
                append(range.lowerBound)
                append(range.upperBound)
            }
            append(row.reference.map { [1] + Self.bytes(of: $0) } ?? [])
        }
    }

    private static func bytes(of number: Double) -> [UInt8] {
        withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) }
    }
}
