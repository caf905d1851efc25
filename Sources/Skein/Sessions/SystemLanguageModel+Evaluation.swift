import SkeinSessions

extension SystemLanguageModel {
    /// Loss and accuracy of this model, with its adapter if it has one, over the rows of a file: the
    /// figures of `skein evaluate`.
    ///
    /// - Parameters:
    ///   - path: A .jsonl file.
    ///   - recipe: How rows become text and tokens.
    ///   - machine: How this machine is used.
    /// - Returns: Figures that do not depend on the number of threads.
    /// - Throws: `SkeinError`; `CancellationError` if the task is cancelled.
    public func evaluation(
        on path: String, recipe: Recipe = Recipe(), machine: Machine = Machine()
    ) async throws -> Evaluation {
        let paths = try SkeinError.wrapping { try self.paths() }
        return try await Evaluation.measure(
            Model(at: paths.model), adapter: paths.adapter.map { try Skein.Adapter(at: $0) },
            data: path, recipe: recipe, machine: machine)
    }
}
