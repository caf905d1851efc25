/// Bounds on what exports hold while their reader or their disk does not move, with their arithmetic.
enum Limits {
    /// What waits for a file system that hangs: an hour of steps of a second, 1 MiB.
    static let waiting = 4096

    /// How long the end of a run waits for exports.
    static let ending = Duration.seconds(10)

    /// How long the end of a run waits for a command of `--on-checkpoint`, before it gets SIGTERM.
    static let commandEnding = Duration.seconds(60)

    /// Bytes of a record of an event file that is looked at when a run resumes: a text of 1 MiB.
    static let recordBytes = 1 << 20

    /// Bytes of a line that a command may print; the rest of it is dropped.
    static let lineBytes = 1000
}
