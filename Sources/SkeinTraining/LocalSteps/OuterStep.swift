/// The step that follows a round: SGD with Nesterov momentum, whose gradient is the average change
/// (Douillard et al. 2023; PyTorch's `SGD(nesterov=True)` with the sign turned).
///
/// With d the average change, p a parameter and u its momentum, at first 0:
///
///     u  = momentum u + d
///     p += rate (d + momentum u)
///
/// Computed element by element in Float, so that each process with the same d, p and u gets the same
/// bits: parameters need not be sent. Checked against PyTorch in `LocalGoldenTests`.
package struct OuterStep: Sendable, Equatable {
    package let learningRate: Double
    package let momentum: Double

    package init(learningRate: Double, momentum: Double) {
        self.learningRate = learningRate
        self.momentum = momentum
    }

    /// Moves parameters and momentum by an average change.
    package func apply(_ change: [Float], to state: inout OuterState) {
        precondition(change.count == state.count, "a change of another adapter")
        let (rate, momentum) = (Float(learningRate), Float(momentum))
        let count = state.count
        state.values.withUnsafeMutableBufferPointer { values in
            change.withUnsafeBufferPointer { change in
                for i in 0..<count {
                    let u = momentum * values[count + i] + change[i]
                    values[count + i] = u
                    values[i] += rate * (change[i] + momentum * u)
                }
            }
        }
    }
}

/// What a round starts from: the parameters and the outer momentum, one after the other.
package struct OuterState: Sendable, Equatable {
    /// [parameters, momentum], `count` numbers each.
    package var values: [Float]

    /// Before the first round: no momentum.
    package init(parameters: [Float]) {
        values = parameters + [Float](repeating: 0, count: parameters.count)
    }

    package init(parameters: [Float], momentum: [Float]) {
        precondition(parameters.count == momentum.count, "a momentum of another adapter")
        values = parameters + momentum
    }

    /// - Parameter values: parameters and momentum, one after the other.
    package init(values: [Float]) {
        precondition(values.count % 2 == 0, "half of an outer state")
        self.values = values
    }

    var count: Int { values.count / 2 }
    package var parameters: [Float] { Array(values[..<count]) }
    package var momentum: [Float] { Array(values[count...]) }
}
