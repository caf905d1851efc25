import SkeinBasics
import SkeinTensors

/// What the loss of DPO compares with (`--reference`).
package enum PreferenceReference: String, Sendable, CaseIterable {
    /// The base model without an adapter.
    case base
    /// The base model with the adapter that the run starts from, as TRL's DPOTrainer has it for a model
    /// that comes with one.
    case initial = "init"
}

extension TrainingConfiguration {
    /// The loss of pairs of answers; nil for a run on single rows.
    ///
    /// Defaults are those of trl (dpo and orpo), and of the SimPO paper: beta 2, gamma / beta 0.5.
    package var preferenceLoss: PreferenceLoss? {
        guard let kind = self.loss else { return nil }
        let beta = self.beta ?? (kind == .simpo ? 2 : 0.1)
        return PreferenceLoss(
            kind: kind, beta: beta, gamma: kind == .simpo ? self.simpoGamma ?? beta / 2 : 0)
    }

    /// - Throws: `TrainingError.badCombination` for options that exclude or need each other.
    package func checkLoss() throws(TrainingError) {
        func name<Value>(_ path: KeyPath<RecipeOptions, Option<Value>>) -> String {
            RecipeOptions.table[keyPath: path].description.name
        }
        if self.reference != nil, self.loss != .dpo {
            guard let loss = self.loss else {
                throw .badCombination(flag: name(\.reference), problem: .needs("loss dpo"))
            }
            throw .noReference(loss: loss.rawValue)
        }
        guard let loss = preferenceLoss else {
            if self.beta != nil {
                throw .badCombination(
                    flag: name(\.beta), problem: .needs("loss dpo, orpo or simpo"))
            }
            if self.simpoGamma != nil {
                throw .badCombination(flag: name(\.simpoGamma), problem: .needs("loss simpo"))
            }
            return
        }
        if self.simpoGamma != nil, loss.kind != .simpo {
            throw .badCombination(flag: name(\.simpoGamma), problem: .needs("loss simpo"))
        }
        if self.labelSmoothing != nil {
            throw .badCombination(
                flag: name(\.labelSmoothing), problem: .excludes(name(\.loss)))
        }
        if self.localSteps != nil {
            throw .badCombination(
                flag: "\(name(\.loss)) \(loss.kind.rawValue)",
                problem: .excludes(name(\.localSteps)))
        }
    }
}

extension TrainingConfiguration {
    /// Refuses a reference with an adapter in a run that starts from none. Workers do not check it: they
    /// get the parameters.
    ///
    /// - Throws: `TrainingError.badCombination`.
    package func checkReference() throws(TrainingError) {
        guard self.reference == .initial, self.initAdapter == nil else { return }
        throw .badCombination(
            flag: "\(RecipeOptions.table.reference.description.name) "
                + PreferenceReference.initial.rawValue,
            problem: .needs(InputOptions.table.initAdapter.description.name))
    }
}
