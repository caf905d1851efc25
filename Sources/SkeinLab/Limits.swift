/// What this room accepts at most.
enum Limits {
    /// How long a worker of a load dials; a real worker dials as long.
    static let handshake = Duration.seconds(5)

    /// A plan of `ModelProbe`: some rows and prompts of ids.
    static let planBytes = 1 << 24
    /// Greedy tokens after each of its prompts.
    static let planTokens = 4096
    static let planThreads = 1024

    /// Cases of `GrammarCases`.
    static let caseBytes = 1 << 28
}
