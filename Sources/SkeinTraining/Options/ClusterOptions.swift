import SkeinBasics

/// What a coordinator waits for, and how long. `train` accepts these options and ignores them, so
/// that one configuration file serves both. None of them changes the result.
package struct ClusterOptions: OptionTable {
    package let minWorkers = Option(
        "min-workers", .integer(1...65536), default: "1", in: .cluster,
        "workers needed before a coordinator starts a step; ignored by train")
    package let patience = Option<Duration>(
        "patience", .duration, default: "60s", in: .cluster,
        "how long a coordinator waits for missing workers, counted from the last that joined or made "
            + "progress with its model; 10 times as long before the first; ignored by train")

    package static let table = ClusterOptions()
    package static let options = list(table)
}

extension OptionHeading {
    package static let cluster = OptionHeading("cluster")
}
