/// Bounds on what is shown of a run, with their arithmetic.
extension Limits {
    /// How often a page is told the state of the run.
    static let viewInterval = Duration.seconds(1)

    /// How old the state may be that another request gets, too: a flood of requests costs one
    /// snapshot in this time.
    static let viewAge = Duration.milliseconds(250)

    /// How long the last state may take to those who follow a run that ends.
    static let farewell = Duration.seconds(2)
}
