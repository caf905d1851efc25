import SkeinBasics
import SkeinJSON

/// One line of ledger.jsonl that is no micro-batch's: a group of rows of which a worker has said
/// something that the run uses. Their kind is the name of the number of the group.
///
/// - `reference_group`: the log-probabilities of answers under the reference model, before the first step.
/// - `validation_group`: the loss after a step; 0: before the first.
/// - `test_group`: the loss of the kept adapter. These lines are the last of all, and do not begin
///   with the step: a run that is resumed drops them, and writes them again.
package struct GroupEntry: Sendable, Equatable {
    package enum Subject: Sendable, Equatable {
        case reference(of: RowKind)
        case validation
        case test
    }

    /// Whose rows they are.
    package enum RowKind: String, Sendable, CaseIterable {
        case training, validation, test
    }

    package var subject: Subject
    package var step: Int
    /// Its place among the groups of these rows, from 0.
    package var group: Int
    /// The name of the worker that computed it.
    package var worker: String
    /// How often it had been leased, from 1.
    package var attempt: Int
    package var tokens: Int
    /// Or pairs, as in a micro-batch.
    package var lossTokens: Int
    /// Loss tokens that the model would have picked itself; nil, and not written, of references.
    package var correct: Int?
    /// The loss; of references, the sum of the log-probabilities with the other sign. nil, written as
    /// null: it is not finite.
    package var lossSum: Double?
    /// SHA-256 of the parameters that were judged; nil, and not written, of references.
    package var parametersDigest: String?
    /// SHA-256 of the log-probabilities of the rows; nil, and not written, of a loss.
    package var valuesDigest: String?
    /// SHA-256 of all that it was computed from (`WorkInputs`).
    package var inputsDigest: String?

    enum CodingKeys: String, CodingKey {
        case step, rows, worker, attempt, tokens, correct
        case reference = "reference_group"
        case validation = "validation_group"
        case test = "test_group"
        case lossTokens = "loss_tokens"
        case lossSum = "loss_sum"
        case parametersDigest = "parameters_sha256"
        case valuesDigest = "log_probabilities_sha256"
        case inputsDigest = "inputs_sha256"
    }

    package init(
        _ subject: Subject, step: Int, group: Int, worker: String, attempt: Int, tokens: Int,
        lossTokens: Int, correct: Int? = nil, lossSum: Double?, parametersDigest: String? = nil,
        valuesDigest: String? = nil, inputsDigest: String? = nil
    ) {
        self.subject = subject
        self.step = step
        self.group = group
        self.worker = worker
        self.attempt = attempt
        self.tokens = tokens
        self.lossTokens = lossTokens
        self.correct = correct
        self.lossSum = lossSum.flatMap { $0.isFinite ? $0 : nil }
        self.parametersDigest = parametersDigest
        self.valuesDigest = valuesDigest
        self.inputsDigest = inputsDigest
    }

    package var line: JSONValue {
        let place: [(String, JSONValue)] =
            switch subject {
            case .reference(let rows):
                [
                    (CodingKeys.step.rawValue, .integer(step)),
                    (CodingKeys.reference.rawValue, .integer(group)),
                    (CodingKeys.rows.rawValue, .text(rows.rawValue)),
                ]
            case .validation:
                [
                    (CodingKeys.step.rawValue, .integer(step)),
                    (CodingKeys.validation.rawValue, .integer(group)),
                ]
            case .test:
                [
                    (CodingKeys.test.rawValue, .integer(group)),
                    (CodingKeys.step.rawValue, .integer(step)),
                ]
            }
        let counts: [(String, JSONValue)] = [
            (CodingKeys.worker.rawValue, .text(worker)),
            (CodingKeys.attempt.rawValue, .integer(attempt)),
            (CodingKeys.tokens.rawValue, .integer(tokens)),
            (CodingKeys.lossTokens.rawValue, .integer(lossTokens)),
        ]
        let digests: [(String, JSONValue)] = [
            (CodingKeys.parametersDigest, parametersDigest),
            (.valuesDigest, valuesDigest), (.inputsDigest, inputsDigest),
        ].compactMap { key, digest in digest.map { (key.rawValue, .text($0)) } }
        return JSONValue.fields(
            place + counts
                + (correct.map { [(CodingKeys.correct.rawValue, .integer($0))] } ?? [])
                + [(CodingKeys.lossSum.rawValue, lossSum.map { .decimal($0) } ?? .null)] + digests)
    }
}

extension GroupEntry: Decodable {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let (subject, key): (Subject, CodingKeys)
        if values.contains(.reference) {
            guard let rows = RowKind(rawValue: try values.decode(String.self, forKey: .rows)) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .rows, in: values, debugDescription: "there are no such rows")
            }
            (subject, key) = (.reference(of: rows), .reference)
        } else {
            (subject, key) =
                values.contains(.validation) ? (.validation, .validation) : (.test, .test)
        }
        self.init(
            subject, step: try values.decode(Int.self, forKey: .step),
            group: try values.decode(Int.self, forKey: key),
            worker: try values.decode(String.self, forKey: .worker),
            attempt: try values.decode(Int.self, forKey: .attempt),
            tokens: try values.decode(Int.self, forKey: .tokens),
            lossTokens: try values.decode(Int.self, forKey: .lossTokens),
            correct: try values.decodeIfPresent(Int.self, forKey: .correct),
            lossSum: try values.decodeIfPresent(Double.self, forKey: .lossSum),
            parametersDigest: try values.decodeIfPresent(String.self, forKey: .parametersDigest),
            valuesDigest: try values.decodeIfPresent(String.self, forKey: .valuesDigest),
            inputsDigest: try values.decodeIfPresent(String.self, forKey: .inputsDigest))
    }
}

extension RecordedEvaluation {
    /// The lines of an evaluation, in the order of its groups.
    ///
    /// - Parameters:
    ///   - subject: whose rows they are.
    ///   - step: after which it is.
    /// - Returns: none where it is not recorded who computed.
    func entries(_ subject: GroupEntry.Subject, step: Int) -> [GroupEntry] {
        groups.map { group in
            GroupEntry(
                subject, step: step, group: group.index, worker: group.worker,
                attempt: group.attempt, tokens: group.sum.tokens,
                lossTokens: group.sum.lossTokens, correct: group.correct,
                lossSum: group.sum.lossSum,
                parametersDigest: group.inputs?.parameters?.description,
                inputsDigest: group.inputs?.digest.description)
        }
    }
}
