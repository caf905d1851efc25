import SkeinBasics

/// What a round is for, and its name in the log.
package enum RoundLabel: Sendable, Equatable, CustomStringConvertible {
    /// The optimizer step, from 1.
    case step(Int)
    case validation(afterStep: Int)
    /// What a loss compares with, of all rows, before the first step.
    case references

    package var description: String {
        switch self {
        case .step(let step): "step \(step)"
        case .validation(0): "validation before the first step"
        case .validation(let step): "validation after step \(step)"
        case .references: "log-probabilities under the reference model"
        }
    }

    /// The name of one piece of work of such a round.
    var pieceName: String {
        switch self {
        case .step: "micro-batch"
        case .validation, .references: "group of rows"
        }
    }

    /// "1 micro-batch", "2 groups of rows".
    func pieces(_ count: Int) -> String {
        switch self {
        case .step: Figures.count(count, "micro-batch", plural: "micro-batches")
        case .validation, .references:
            Figures.count(count, "group of rows", plural: "groups of rows")
        }
    }

    var kind: WorkKind {
        switch self {
        case .step: .gradient
        case .validation, .references: .evaluation
        }
    }
}

// As JSON, {"kind": "step", "step": 7}.
extension RoundLabel: Codable {
    private enum CodingKeys: CodingKey { case kind, step }
    private enum Kind: String, Codable { case step, validation, references }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let step = try container.decode(Int.self, forKey: .step)
        switch try container.decode(Kind.self, forKey: .kind) {
        case .step: self = .step(step)
        case .validation: self = .validation(afterStep: step)
        case .references: self = .references
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .step(let step):
            try container.encode(Kind.step, forKey: .kind)
            try container.encode(step, forKey: .step)
        case .validation(let step):
            try container.encode(Kind.validation, forKey: .kind)
            try container.encode(step, forKey: .step)
        case .references:
            try container.encode(Kind.references, forKey: .kind)
            try container.encode(0, forKey: .step)
        }
    }
}

/// A training step, a validation or the like: independent pieces of work.
package struct RoundPlan: Sendable, Equatable {
    /// Counted from 1 within a coordinator's term; never used twice.
    package var number: UInt64
    package var label: RoundLabel
    /// The tokens of each piece of work; a piece's index is its position here.
    package var costs: [Int]
    /// How many rounds of local steps a worker computes first that does not have the state from
    /// which a piece starts. nil: any worker can begin with any piece.
    package var replay: Int?

    package init(number: UInt64, label: RoundLabel, costs: [Int], replay: Int? = nil) {
        self.replay = replay
        self.number = number
        self.label = label
        self.costs = costs
    }
}

/// What the run's own thread does while no round is open.
package enum RunPhase: Sendable, Equatable {
    case starting
    /// A verb phrase for the log: "applies AdamW", "writes a checkpoint".
    case betweenSteps(String)
    /// Nothing is waited for any more.
    case finished
}
