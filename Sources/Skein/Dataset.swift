/// The rows of a run: data files in any form that `skein train` takes.
///
/// Nothing is read before the run begins, which then reads on its own threads. Making tokens of the
/// rows takes a while for large files; `Machine.keepsTokens` keeps them for the next run on the
/// same data.
public struct Dataset: Sendable, Equatable {
    /// A data file (.jsonl, .json, .csv, .tsv, .parquet, .txt), several with weights
    /// (`A.jsonl:2,B.csv:0.5`), or a folder with `train.jsonl` (and `valid.jsonl`, `test.jsonl`).
    public var path: String
    /// A file of validation rows; nil: that of the folder, else a share of the training rows.
    public var validation: String?
    /// A file of rows to test the kept adapter on at the end; nil: that of the folder, if any.
    public var test: String?
    /// Whether invalid lines are counted and skipped, instead of ending the run.
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
