/// The largest inputs that commands accept.
enum Limits {
    /// A configuration has about 40 short lines (2 KiB); 1 MiB leaves ample room.
    static let configurationBytes = 1 << 20
    /// An adapter's card has about 40 lines.
    static let cardBytes = 1 << 20
    /// What a run's page answers: 1,500 workers are below 1 MiB.
    static let pageAnswerBytes = 1 << 22
    /// Text to tokenize: the demo data is 1.5 MB, a large book 10 MB. 256 MiB of text become at
    /// most 1 GiB of ids.
    static let standardInputBytes = 1 << 28
    /// Logits of an exported adapter from the original's. Equal matrices give equal logits; a scale
    /// that went into B, or slices that became one module, give differences of rounding.
    static let exportedLogits: Float = 1e-3
}
