/// Rows that are trained on, to find them among those that are held out.
package struct TrainedRows {
    private let contents: Set<[Int32]>
    private let prompts: Set<ArraySlice<Int32>>

    /// Rows without those that repeat another one.
    var distinctCount: Int { contents.count }

    package init(_ rows: [ArraySlice<TokenizedRow>]) {
        contents = Set(rows.map(\.content))
        let asked = rows.reduce(into: [ArraySlice<Int32>: Int]()) { counts, row in
            if let prompt = row.prompt { counts[prompt, default: 0] += 1 }
        }
        // What most rows begin with is the template's, as before a greeting.
        prompts = Set(asked.filter { $0.value * 2 <= max(2, rows.count) }.keys)
    }

    /// Says how many of some rows are trained on, and how many others have a prompt that is.
    ///
    /// - Parameters:
    ///   - held: rows that are not meant to be trained on.
    ///   - isTest: whether they are test rows, not validation rows.
    /// - Returns: a warning for each number that is not 0.
    package func warnings(of held: [ArraySlice<TokenizedRow>], isTest: Bool) -> [DataWarning] {
        let others = held.filter { !contents.contains($0.content) }
        let (known, asked) = (
            held.count - others.count, others.count { $0.prompt.map(prompts.contains) ?? false }
        )
        var warnings: [DataWarning] = []
        if known > 0 {
            warnings.append(
                isTest
                    ? .leakedTest(count: known, testRows: held.count)
                    : .leaked(count: known, validationRows: held.count))
        }
        if asked > 0 {
            warnings.append(.samePrompt(count: asked, rows: held.count, isTest: isTest))
        }
        return warnings
    }
}
