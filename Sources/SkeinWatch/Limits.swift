/// Bounds on what exports hold while their reader or their disk does not move, and on what is shown of
/// a run, with their arithmetic.
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

    /// Lines that one run of a command may print; the others are dropped.
    static let commandLines = 200

    /// Bytes of an MLflow server's URL.
    static let urlBytes = 2000

    /// mlflow.json, which has two names and three identifiers.
    static let stateBytes = 16 << 10

    /// Records of metrics.jsonl in one request: 13 numbers each, 120 bytes each, so that it fits into
    /// a line for `skein-fetch`.
    static let recordsAtOnce = 32

    /// Parameters of one request, of at most 500 bytes each, which escapes make 3500: likewise.
    static let parametersAtOnce = 10

    /// Bytes of a parameter's value: the bound of MLflow before 2.9, enough for a path.
    static let parameterBytes = 500

    /// Characters of what a server says about an error.
    static let messageCharacters = 300

    /// Steps whose time is remembered until they are sent; older ones get theirs by arithmetic.
    static let rememberedTimes = 4096

    /// An exchange with an MLflow server, which `skein-fetch` gives up after 30 s.
    static let exchange = Duration.seconds(40)

    /// Between two times that metrics are sent. Foundation's network code uses a whole core while it
    /// waits for an answer, 50 ms of a real server: 0.5 % of one.
    static let pace = Duration.seconds(10)

    /// After a failure at first, and at most.
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(30)

    // MARK: - The page

    /// How often a page is told the state of the run.
    static let viewInterval = Duration.seconds(1)

    /// How old the state may be that another request gets, too: a flood of requests costs one
    /// snapshot in this time.
    static let viewAge = Duration.milliseconds(250)

    /// How long the last state may take to those who follow a run that ends.
    static let farewell = Duration.seconds(2)
}
