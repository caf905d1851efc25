import SkeinBasics
import SkeinCoordination
import SkeinRows
import SkeinTraining

extension WorkInputs {
    /// All that the result of a lease is computed from.
    ///
    /// - Parameters:
    ///   - recipe: as the process that computes has read it.
    ///   - lease: what is computed. Its names of parameters and state have 32 bytes.
    ///   - rows: of the lease, with their references.
    package init(_ recipe: WorkRecipe, _ lease: LeaseGrant, rows: [TokenizedRow]) {
        guard let parameters = SHA256.Digest(lease.parameterDigest) else {
            preconditionFailure("a lease names its parameters by 32 bytes")
        }
        let (step, index) = (Int(lease.step), Int(lease.key.index))
        switch lease.work {
        case .gradient(let pairs):
            self.init(
                recipe, parameters: parameters,
                gradientOf: MicroBatch(
                    step: step, index: index, rows: rows, tokenShare: pairs?.tokenShare ?? 0))
        case .evaluation(let pairs):
            self.init(
                recipe, parameters: parameters, lossOf: rows, index: index, afterStep: step,
                tokenShare: pairs?.tokenShare ?? 0)
        case .logProbabilities:
            self.init(recipe, parameters: parameters, referencesOf: rows)
        case .local(let local):
            let work = LocalWork(
                round: step, worker: index, stepsDone: 0,
                scheduledSteps: Int(clamping: local.scheduledSteps), rows: rows,
                sizes: local.steps)
            self.init(
                recipe, parameters: parameters, work: work,
                state: local.state == LocalLease.noState ? nil : SHA256.Digest(local.state))
        }
    }
}
