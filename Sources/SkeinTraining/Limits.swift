/// Bounds on everything that this room reads or plans, with their arithmetic.
enum Limits {
    /// Bytes of a run's data and of rows that an adapter of it is measured on, up to which `evaluate`
    /// looks which of them were trained on: some seconds of tokenizing.
    static let comparedBytes = 64 << 20

    /// Files of log-probabilities under base models: one for each set of rows and model in use, at 16
    /// bytes a pair.
    static let referenceFiles = 32

    /// Groups of rows whose log-probabilities are computed before they are kept: at 512 tokens each some
    /// minutes of a worker.
    static let referenceGroups = 256

    /// Rows of a file of features: an index of 0.3 GiB. A row of the smallest models takes about
    /// 0.1 MiB of disk.
    static let featureRows = 1 << 22

    /// Bytes of the disk that features leave to checkpoints and all other files.
    static let featureReserve = 256 << 20

    /// run.json, state.json and manifest.json: a few kilobytes when Skein wrote them.
    static let recordFileBytes = 1 << 20

    /// Sample prompts of a run, and the bytes of one: a page of text each.
    static let samplePrompts = 16
    static let samplePromptBytes = 4 << 10

    /// A line of metrics.jsonl or ledger.jsonl; those that Skein writes are below 400 bytes, those
    /// of samples below 40 KiB: a prompt and 64 tokens, each byte escaped as six.
    static let recordLineBytes = 64 << 10

    /// Files that a checkpoint's manifest may name; Skein writes four, and one for each logical worker.
    static let checkpointFiles = 64 + LocalSettings.mostWorkers

    /// Findings of a ledger check that are kept; all are counted.
    static let ledgerFindings = 100

    /// Times that a step is computed when its results turn out wrong. Each time the worker that
    /// computed wrongly must pause; this many in one step are no accident.
    static let spoiledAttempts = 8

    /// Steps of a run. Random numbers are addressed by step, with 32 bits.
    static let steps = 1 << 31
}
