/// Bounds on what a node holds for its peers, each with its arithmetic.
enum Limits {
    /// How long a peer may take for its handshake.
    static let handshake = Duration.seconds(5)
}
