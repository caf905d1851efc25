/// Bounds of sessions, each with its arithmetic.
enum Limits {
    /// Schemas that stay compiled, if their bytes allow it.
    static let grammars = 32
    /// Rounds of tool calls of one request.
    static let toolRounds = 16
    /// Seconds after which a refused request may be tried again.
    static let retryAfterSeconds = 1.0
    /// Bytes of a file that names a model: a path has at most 4,096.
    static let modelNameBytes = 8192
}
