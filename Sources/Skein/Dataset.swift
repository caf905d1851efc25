/// The rows of a run: files of JSON lines, one row each, in any form that `skein train --data` takes.
///
/// Nothing is read before the run begins.
public struct Dataset: Sendable, Equatable {
    /// A .jsonl file, or a folder with `train.jsonl` (and `valid.jsonl`, `test.jsonl`).
    public var path: String
    /// Rows to validate with; nil: those of the folder, else a share of the training rows.
    public var validation: String?
    /// Rows to judge the kept adapter with at the end; nil: those of the folder, if it has any.
    public var test: String?
    /// Counts lines that are not valid rows and goes on, instead of ending the run.
    public var skipsBadLines: Bool

    public init(
        at path: String, validation: String? = nil, test: String? = nil, skipsBadLines: Bool = false
    ) {
        self.path = path
        self.validation = validation
        self.test = test
        self.skipsBadLines = skipsBadLines
    }
}
