import SkeinBasics

/// What a round is for, and its name in the log.
package enum RoundLabel: Sendable, Equatable, CustomStringConvertible {
    /// The optimizer step, from 1.
    case step(Int)
    case validation(afterStep: Int)

    package var description: String {
        switch self {
        case .step(let step): "step \(step)"
        case .validation(let step): "validation after step \(step)"
        }
    }

    /// The name of one piece of work of such a round.
    var pieceName: String {
        switch self {
        case .step: "micro-batch"
        case .validation: "group of rows"
        }
    }

    var kind: WorkKind {
        switch self {
        case .step: .gradient
        case .validation: .evaluation
        }
    }
}

/// A training step or a validation: independent pieces of work.
package struct Round: Sendable, Equatable {
    /// Counted from 1 within a coordinator's term; never used twice.
    package var number: UInt64
    package var label: RoundLabel
    /// The tokens of each piece of work; a piece's index is its position here.
    package var costs: [Int]

    package init(number: UInt64, label: RoundLabel, costs: [Int]) {
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
