/// Bounds on data files, their rows, and what is kept of both.
extension Limits {
    /// One line of a data file. 16 MiB of text is about 4 million tokens, thirty times the longest
    /// context of a model that a CPU can train; a longer line is a wrong file.
    static let lineBytes = 16 << 20

    /// A data file. 8 GiB of text is 2 billion tokens: 70 days on a machine that trains 350 tokens
    /// a second. Its rows are in memory, as text and as 4-byte ids.
    static let dataFileBytes = 8 << 30

    /// Lists and objects in each other in a row, read or not, as for JSON of schemas. The parts that a
    /// template sees have a lower limit, its own.
    static let rowDepth = 128

    /// Folders of a data set that are looked into: the Hub's largest have some hundred configurations, of
    /// which one is wanted.
    static let dataFolders = 1024

    /// Messages of one conversation; at 4 template tokens each they fill 16,000 tokens.
    static let turns = 4096

    /// Bad lines and skipped rows whose place is kept; all are counted.
    static let keptBadLines = 5

    /// Files of the token cache: one for each data file, tokenizer and length in use.
    static let tokenCacheFiles = 32

    /// All files of the token cache together: half the largest data file. At 4 bytes a token,
    /// 4 GiB is a billion tokens.
    static let tokenCacheBytes = 4 << 30
}
