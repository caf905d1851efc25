import SkeinSessions

extension SystemLanguageModel {
    /// Loss and accuracy of this model, with its adapter if it has one, over the rows of a file: the
    /// figures of `skein evaluate`.
    ///
    /// - Parameters:
    ///   - path: A .jsonl file.
    ///   - recipe: How rows become text and tokens.
    ///   - machine: How this machine is used; only `threads` and `weights` matter.
    /// - Returns: Figures that do not depend on the number of threads.
    /// - Throws: `SkeinError`; `CancellationError` if the task is cancelled.
    public func evaluation(
        on path: String, recipe: Recipe = Recipe(), machine: Machine = Machine()
    ) async throws -> Evaluation {
        let (model, adapter) = try await OwnThread.run("skein-load") {
            let paths = try self.paths()
            let adapter = try paths.adapter.map { try Skein.Adapter(at: $0) }
            return (try Model(at: paths.model), adapter)
        }
        return try await Evaluation.measure(
            model, adapter: adapter, data: path, recipe: recipe, machine: machine)
    }
}
