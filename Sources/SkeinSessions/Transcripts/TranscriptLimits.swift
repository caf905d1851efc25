/// What a stored transcript may take: it may come from a stranger.
enum TranscriptLimits {
    /// Entries of one transcript: at 50 tokens each, more than any window has room for.
    static let entries = 1 << 17
    /// Bytes of the coded text: four for each of 16 million tokens.
    static let codedBytes = 1 << 26
    /// The version of the coded form.
    static let version = 1
    /// What the coded form says that it is; the name is that of the form's first reader.
    static let type = "FoundationModels.Transcript"
}
